//! The stored form of inputs, intents, sketches and plans.
//! It evaluates nothing.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolcall::serde_forms::{KindForm, PlanStatusForm, PriorityForm, path};
use toolcall::{Kind, PlanStatus, Priority};

use super::command::StoredCommand;
use super::content::{self, StoredContent};
use super::text::{BlobSource, StoredJson, StoredText};
use super::{DecodeError, Encoder};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredInput {
    Json(StoredJson),
    Text(StoredText),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredPrepared {
    input: StoredJson,
    intent: StoredIntent,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredIntent {
    title: Arc<str>,
    #[serde(with = "KindForm")]
    kind: Kind,
    touches: Vec<StoredTouch>,
    preview: Vec<StoredContent>,
    locations: Vec<StoredLocation>,
    tool: StoredToolIdentity,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredToolIdentity {
    name: Arc<str>,
    origin: StoredOrigin,
    #[serde(default)]
    provider: Arc<str>,
    digest: Arc<str>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredOrigin {
    Local,
    Mcp(Arc<str>),
    Agent,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredTouch {
    Reads(#[serde(with = "path")] PathBuf),
    Writes(#[serde(with = "path")] PathBuf),
    Deletes(#[serde(with = "path")] PathBuf),
    Moves {
        #[serde(with = "path")]
        from: PathBuf,
        #[serde(with = "path")]
        to: PathBuf,
    },
    Runs(Box<StoredCommand>),
    Reaches(Arc<str>),
    Unknown,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredLocation {
    #[serde(with = "path")]
    path: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredSketch {
    title: Arc<str>,
    #[serde(with = "KindForm")]
    kind: Kind,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    locations: Vec<StoredLocation>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredPlan(Vec<StoredPlanEntry>);

#[derive(Debug, Serialize, Deserialize)]
struct StoredPlanEntry {
    content: Arc<str>,
    #[serde(with = "PlanStatusForm")]
    status: PlanStatus,
    #[serde(with = "PriorityForm")]
    priority: Priority,
}

impl StoredInput {
    pub(crate) fn encode(input: &toolcall::Input, encoder: &mut Encoder<'_>) -> Self {
        match input {
            toolcall::Input::Json(value) => StoredInput::Json(encoder.json(value)),
            toolcall::Input::Text(text) => StoredInput::Text(encoder.text(text)),
        }
    }

    pub(crate) fn decode(self, blobs: &dyn BlobSource) -> Result<toolcall::Input, DecodeError> {
        Ok(match self {
            StoredInput::Json(value) => toolcall::Input::Json(value.decode(blobs)?),
            StoredInput::Text(text) => toolcall::Input::Text(text.decode(blobs)?),
        })
    }
}

impl StoredPrepared {
    pub(crate) fn encode(prepared: &toolcall::Prepared, encoder: &mut Encoder<'_>) -> Self {
        Self {
            input: encoder.json(&prepared.input),
            intent: StoredIntent::encode(&prepared.intent, encoder),
        }
    }

    pub(crate) fn decode(
        self,
        blobs: &dyn BlobSource,
    ) -> Result<Arc<toolcall::Prepared>, DecodeError> {
        Ok(Arc::new(toolcall::Prepared {
            input: self.input.decode(blobs)?,
            intent: self.intent.decode(blobs)?,
        }))
    }
}

impl StoredIntent {
    fn encode(intent: &toolcall::Intent, encoder: &mut Encoder<'_>) -> Self {
        let toolcall::Intent {
            title,
            kind,
            touches,
            preview,
            locations,
            tool,
        } = intent;
        Self {
            title: encoder.content_line(title),
            kind: *kind,
            touches: touches
                .iter()
                .map(|touch| StoredTouch::encode(touch, encoder))
                .collect(),
            preview: content::encode_all(preview, encoder),
            locations: encode_locations(locations, encoder),
            tool: StoredToolIdentity::encode(tool, encoder),
        }
    }

    fn decode(self, blobs: &dyn BlobSource) -> Result<toolcall::Intent, DecodeError> {
        let touches = self.touches.into_iter().map(|touch| touch.decode(blobs));
        Ok(toolcall::Intent {
            title: self.title.to_string(),
            kind: self.kind,
            touches: touches.collect::<Result<_, _>>()?,
            preview: content::decode_all(self.preview, blobs)?,
            locations: decode_locations(self.locations),
            tool: self.tool.decode(),
        })
    }
}

impl StoredToolIdentity {
    fn encode(tool: &toolcall::ToolIdentity, encoder: &Encoder<'_>) -> Self {
        let toolcall::ToolIdentity {
            name,
            origin,
            provider,
            digest,
        } = tool;
        Self {
            name: encoder.redacted(name),
            origin: match origin {
                toolcall::Origin::Local => StoredOrigin::Local,
                toolcall::Origin::Mcp(server) => StoredOrigin::Mcp(encoder.redacted(server)),
                toolcall::Origin::Agent => StoredOrigin::Agent,
            },
            provider: encoder.redacted(provider),
            digest: digest.clone(),
        }
    }

    fn decode(self) -> toolcall::ToolIdentity {
        toolcall::ToolIdentity {
            name: self.name,
            origin: match self.origin {
                StoredOrigin::Local => toolcall::Origin::Local,
                StoredOrigin::Mcp(server) => toolcall::Origin::Mcp(server),
                StoredOrigin::Agent => toolcall::Origin::Agent,
            },
            provider: self.provider,
            digest: self.digest,
        }
    }
}

impl StoredTouch {
    fn encode(touch: &toolcall::Touch, encoder: &mut Encoder<'_>) -> Self {
        match touch {
            toolcall::Touch::Reads(path) => StoredTouch::Reads(encoder.path(path)),
            toolcall::Touch::Writes(path) => StoredTouch::Writes(encoder.path(path)),
            toolcall::Touch::Deletes(path) => StoredTouch::Deletes(encoder.path(path)),
            toolcall::Touch::Moves { from, to } => StoredTouch::Moves {
                from: encoder.path(from),
                to: encoder.path(to),
            },
            toolcall::Touch::Runs(command) => {
                StoredTouch::Runs(Box::new(StoredCommand::encode(command, encoder)))
            }
            toolcall::Touch::Reaches(target) => StoredTouch::Reaches(encoder.redacted(target)),
            toolcall::Touch::Unknown => StoredTouch::Unknown,
        }
    }

    fn decode(self, blobs: &dyn BlobSource) -> Result<toolcall::Touch, DecodeError> {
        Ok(match self {
            StoredTouch::Reads(path) => toolcall::Touch::Reads(path),
            StoredTouch::Writes(path) => toolcall::Touch::Writes(path),
            StoredTouch::Deletes(path) => toolcall::Touch::Deletes(path),
            StoredTouch::Moves { from, to } => toolcall::Touch::Moves { from, to },
            StoredTouch::Runs(command) => toolcall::Touch::Runs(command.decode(blobs)?),
            StoredTouch::Reaches(target) => toolcall::Touch::Reaches(target),
            StoredTouch::Unknown => toolcall::Touch::Unknown,
        })
    }
}

pub(crate) fn encode_locations(
    locations: &[toolcall::Location],
    encoder: &Encoder<'_>,
) -> Vec<StoredLocation> {
    let encode = |location: &toolcall::Location| StoredLocation {
        path: encoder.path(&location.path),
        line: location.line,
    };
    locations.iter().map(encode).collect()
}

pub(crate) fn decode_locations(locations: Vec<StoredLocation>) -> Vec<toolcall::Location> {
    let decode = |StoredLocation { path, line }| toolcall::Location { path, line };
    locations.into_iter().map(decode).collect()
}

impl StoredSketch {
    pub(crate) fn encode(sketch: &toolcall::Sketch, encoder: &Encoder<'_>) -> Self {
        Self {
            title: encoder.content_line(&sketch.title),
            kind: sketch.kind,
            locations: encode_locations(&sketch.locations, encoder),
        }
    }

    pub(crate) fn decode(self) -> toolcall::Sketch {
        toolcall::Sketch {
            title: self.title.to_string(),
            kind: self.kind,
            locations: decode_locations(self.locations),
        }
    }
}

impl StoredPlan {
    pub(crate) fn encode(plan: &toolcall::Plan, encoder: &Encoder<'_>) -> Self {
        let encode = |entry: &toolcall::PlanEntry| StoredPlanEntry {
            content: encoder.content_line(&entry.content),
            status: entry.status,
            priority: entry.priority,
        };
        Self(plan.entries.iter().map(encode).collect())
    }

    pub(crate) fn decode(self) -> toolcall::Plan {
        let decode = |entry: StoredPlanEntry| toolcall::PlanEntry {
            content: entry.content.to_string(),
            status: entry.status,
            priority: entry.priority,
        };
        toolcall::Plan {
            entries: self.0.into_iter().map(decode).collect(),
        }
    }
}
