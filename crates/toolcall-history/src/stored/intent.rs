//! Inputs, intents, sketches and plans in the stored form.
//! It keeps what was said; it judges nothing.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolcall::serde_forms::{KindForm, PlanStatusForm, PriorityForm, path};
use toolcall::{self as heart, Kind, PlanStatus, Priority};

use super::command::Command;
use super::content::{self, Content};
use super::text::{Blobs, Json, Text};
use super::{DecodeError, Packer};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Input {
    Json(Json),
    Text(Text),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Prepared {
    input: Json,
    intent: Intent,
}

#[derive(Debug, Serialize, Deserialize)]
struct Intent {
    title: Arc<str>,
    #[serde(with = "KindForm")]
    kind: Kind,
    touches: Vec<Touch>,
    preview: Vec<Content>,
    locations: Vec<Location>,
    tool: ToolIdentity,
}

#[derive(Debug, Serialize, Deserialize)]
struct ToolIdentity {
    name: Arc<str>,
    origin: Origin,
    #[serde(default)]
    provider: Arc<str>,
    digest: Arc<str>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Origin {
    Local,
    Mcp(Arc<str>),
    Agent,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Touch {
    Reads(#[serde(with = "path")] PathBuf),
    Writes(#[serde(with = "path")] PathBuf),
    Deletes(#[serde(with = "path")] PathBuf),
    Moves {
        #[serde(with = "path")]
        from: PathBuf,
        #[serde(with = "path")]
        to: PathBuf,
    },
    Runs(Box<Command>),
    Reaches(Arc<str>),
    Unknown,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Location {
    #[serde(with = "path")]
    path: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Sketch {
    title: Arc<str>,
    #[serde(with = "KindForm")]
    kind: Kind,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Location>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plan(Vec<PlanEntry>);

#[derive(Debug, Serialize, Deserialize)]
struct PlanEntry {
    content: Arc<str>,
    #[serde(with = "PlanStatusForm")]
    status: PlanStatus,
    #[serde(with = "PriorityForm")]
    priority: Priority,
}

impl Input {
    pub(crate) fn pack(input: &heart::Input, packer: &mut Packer<'_>) -> Self {
        match input {
            heart::Input::Json(value) => Input::Json(packer.json(value)),
            heart::Input::Text(text) => Input::Text(packer.text(text)),
        }
    }

    pub(crate) fn unpack(self, blobs: &dyn Blobs) -> Result<heart::Input, DecodeError> {
        Ok(match self {
            Input::Json(value) => heart::Input::Json(value.unpack(blobs)?),
            Input::Text(text) => heart::Input::Text(text.unpack(blobs)?),
        })
    }
}

impl Prepared {
    pub(crate) fn pack(prepared: &heart::Prepared, packer: &mut Packer<'_>) -> Self {
        Self {
            input: packer.json(&prepared.input),
            intent: Intent::pack(&prepared.intent, packer),
        }
    }

    pub(crate) fn unpack(self, blobs: &dyn Blobs) -> Result<Arc<heart::Prepared>, DecodeError> {
        Ok(Arc::new(heart::Prepared {
            input: self.input.unpack(blobs)?,
            intent: self.intent.unpack(blobs)?,
        }))
    }
}

impl Intent {
    fn pack(intent: &heart::Intent, packer: &mut Packer<'_>) -> Self {
        let heart::Intent {
            title,
            kind,
            touches,
            preview,
            locations,
            tool,
        } = intent;
        Self {
            title: packer.told(title),
            kind: *kind,
            touches: touches
                .iter()
                .map(|touch| Touch::pack(touch, packer))
                .collect(),
            preview: content::pack_all(preview, packer),
            locations: pack_locations(locations, packer),
            tool: ToolIdentity::pack(tool, packer),
        }
    }

    fn unpack(self, blobs: &dyn Blobs) -> Result<heart::Intent, DecodeError> {
        let touches = self.touches.into_iter().map(|touch| touch.unpack(blobs));
        Ok(heart::Intent {
            title: self.title.to_string(),
            kind: self.kind,
            touches: touches.collect::<Result<_, _>>()?,
            preview: content::unpack_all(self.preview, blobs)?,
            locations: unpack_locations(self.locations),
            tool: self.tool.unpack(),
        })
    }
}

impl ToolIdentity {
    fn pack(tool: &heart::ToolIdentity, packer: &Packer<'_>) -> Self {
        let heart::ToolIdentity {
            name,
            origin,
            provider,
            digest,
        } = tool;
        Self {
            name: packer.shared(name),
            origin: match origin {
                heart::Origin::Local => Origin::Local,
                heart::Origin::Mcp(server) => Origin::Mcp(packer.shared(server)),
                heart::Origin::Agent => Origin::Agent,
            },
            provider: packer.shared(provider),
            digest: digest.clone(),
        }
    }

    fn unpack(self) -> heart::ToolIdentity {
        heart::ToolIdentity {
            name: self.name,
            origin: match self.origin {
                Origin::Local => heart::Origin::Local,
                Origin::Mcp(server) => heart::Origin::Mcp(server),
                Origin::Agent => heart::Origin::Agent,
            },
            provider: self.provider,
            digest: self.digest,
        }
    }
}

impl Touch {
    fn pack(touch: &heart::Touch, packer: &mut Packer<'_>) -> Self {
        match touch {
            heart::Touch::Reads(path) => Touch::Reads(packer.path(path)),
            heart::Touch::Writes(path) => Touch::Writes(packer.path(path)),
            heart::Touch::Deletes(path) => Touch::Deletes(packer.path(path)),
            heart::Touch::Moves { from, to } => Touch::Moves {
                from: packer.path(from),
                to: packer.path(to),
            },
            heart::Touch::Runs(command) => Touch::Runs(Box::new(Command::pack(command, packer))),
            heart::Touch::Reaches(target) => Touch::Reaches(packer.shared(target)),
            heart::Touch::Unknown => Touch::Unknown,
        }
    }

    fn unpack(self, blobs: &dyn Blobs) -> Result<heart::Touch, DecodeError> {
        Ok(match self {
            Touch::Reads(path) => heart::Touch::Reads(path),
            Touch::Writes(path) => heart::Touch::Writes(path),
            Touch::Deletes(path) => heart::Touch::Deletes(path),
            Touch::Moves { from, to } => heart::Touch::Moves { from, to },
            Touch::Runs(command) => heart::Touch::Runs(command.unpack(blobs)?),
            Touch::Reaches(target) => heart::Touch::Reaches(target),
            Touch::Unknown => heart::Touch::Unknown,
        })
    }
}

pub(crate) fn pack_locations(locations: &[heart::Location], packer: &Packer<'_>) -> Vec<Location> {
    let pack = |location: &heart::Location| Location {
        path: packer.path(&location.path),
        line: location.line,
    };
    locations.iter().map(pack).collect()
}

pub(crate) fn unpack_locations(locations: Vec<Location>) -> Vec<heart::Location> {
    let unpack = |Location { path, line }| heart::Location { path, line };
    locations.into_iter().map(unpack).collect()
}

impl Sketch {
    pub(crate) fn pack(sketch: &heart::Sketch, packer: &Packer<'_>) -> Self {
        Self {
            title: packer.told(&sketch.title),
            kind: sketch.kind,
            locations: pack_locations(&sketch.locations, packer),
        }
    }

    pub(crate) fn unpack(self) -> heart::Sketch {
        heart::Sketch {
            title: self.title.to_string(),
            kind: self.kind,
            locations: unpack_locations(self.locations),
        }
    }
}

impl Plan {
    pub(crate) fn pack(plan: &heart::Plan, packer: &Packer<'_>) -> Self {
        let pack = |entry: &heart::PlanEntry| PlanEntry {
            content: packer.told(&entry.content),
            status: entry.status,
            priority: entry.priority,
        };
        Self(plan.entries.iter().map(pack).collect())
    }

    pub(crate) fn unpack(self) -> heart::Plan {
        let unpack = |entry: PlanEntry| heart::PlanEntry {
            content: entry.content.to_string(),
            status: entry.status,
            priority: entry.priority,
        };
        heart::Plan {
            entries: self.0.into_iter().map(unpack).collect(),
        }
    }
}
