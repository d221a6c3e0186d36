//! Commands in the stored form: texts, words, variables and redirects without secrets.
//! It reads no command line; what a command means was said before.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolcall::serde_forms::{JoinForm, path, redirects};
use toolcall::{self as heart, Digest, Join, Redirect, Target};

use super::text::{Blobs, Text, unhex};
use super::{DecodeError, Packer};
use crate::redact::{MASK, is_secret_name, names_next_secret};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Command {
    text: Text,
    #[serde(with = "path")]
    cwd: PathBuf,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<Arc<str>, Arc<str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    scripts: Vec<Script>,
    reading: Reading,
}

#[derive(Debug, Serialize, Deserialize)]
struct Script(#[serde(with = "path")] PathBuf, String);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reading {
    Understood(Vec<Part>),
    Unclear(Arc<str>),
}

#[derive(Debug, Serialize, Deserialize)]
struct Part {
    #[serde(with = "JoinForm")]
    join: Join,
    argv: Vec<Text>,
    #[serde(with = "path")]
    cwd: PathBuf,
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "redirects")]
    redirects: Vec<Redirect>,
}

impl Command {
    pub(crate) fn pack(command: &heart::Command, packer: &mut Packer<'_>) -> Self {
        let heart::Command {
            text,
            cwd,
            env,
            scripts,
            reading,
        } = command;
        let kept = packer.keeps_contents();
        Self {
            text: packer.text(text),
            cwd: packer.path(cwd),
            env: env
                .iter()
                .filter(|_| kept)
                .map(|(name, value)| (name.clone(), variable(name, value, packer)))
                .collect(),
            scripts: scripts
                .iter()
                .map(|(path, digest)| Script(packer.path(path), digest.to_string()))
                .collect(),
            reading: Reading::pack(reading, packer),
        }
    }

    pub(crate) fn unpack(self, blobs: &dyn Blobs) -> Result<heart::Command, DecodeError> {
        Ok(heart::Command {
            text: self.text.unpack(blobs)?,
            cwd: self.cwd,
            env: self.env,
            scripts: self
                .scripts
                .into_iter()
                .map(script)
                .collect::<Result<_, _>>()?,
            reading: self.reading.unpack(blobs)?,
        })
    }
}

fn script(Script(path, digest): Script) -> Result<(PathBuf, Digest), DecodeError> {
    let hash = unhex(&digest).ok_or_else(|| DecodeError::Malformed("a digest".to_owned()))?;
    Ok((path, Digest(hash)))
}

fn variable(name: &str, value: &Arc<str>, packer: &Packer<'_>) -> Arc<str> {
    if is_secret_name(name) && !value.is_empty() {
        MASK.into()
    } else {
        packer.shared(value)
    }
}

impl Reading {
    fn pack(reading: &heart::Reading, packer: &mut Packer<'_>) -> Self {
        match reading {
            heart::Reading::Unclear(why) => Reading::Unclear(packer.told(why)),
            heart::Reading::Understood(_) if !packer.keeps_contents() => {
                Reading::Understood(Vec::new())
            }
            heart::Reading::Understood(parts) => {
                let parts = parts.iter().map(|part| Part::pack(part, packer));
                Reading::Understood(parts.collect())
            }
        }
    }

    fn unpack(self, blobs: &dyn Blobs) -> Result<heart::Reading, DecodeError> {
        Ok(match self {
            Reading::Unclear(why) => heart::Reading::Unclear(why),
            Reading::Understood(parts) => {
                let parts = parts.into_iter().map(|part| part.unpack(blobs));
                heart::Reading::Understood(parts.collect::<Result<_, _>>()?)
            }
        })
    }
}

impl Part {
    fn pack(part: &heart::Part, packer: &mut Packer<'_>) -> Self {
        let heart::Part {
            join,
            argv,
            cwd,
            redirects,
        } = part;
        Self {
            join: *join,
            argv: words(argv, packer),
            cwd: packer.path(cwd),
            redirects: redirects
                .iter()
                .map(|redirect| clean(redirect, packer))
                .collect(),
        }
    }

    fn unpack(self, blobs: &dyn Blobs) -> Result<heart::Part, DecodeError> {
        let word = |word: Text| word.unpack(blobs).map(|word| word.to_string());
        Ok(heart::Part {
            join: self.join,
            argv: self.argv.into_iter().map(word).collect::<Result<_, _>>()?,
            cwd: self.cwd,
            redirects: self.redirects,
        })
    }
}

/// A word may be the secret that the word before it announces: `--token abc`.
fn words(argv: &[String], packer: &mut Packer<'_>) -> Vec<Text> {
    let mut before = "";
    let mut packed = Vec::with_capacity(argv.len());
    for word in argv {
        packed.push(if names_next_secret(before) {
            Text::Inline(MASK.into())
        } else {
            packer.text(&word.as_str().into())
        });
        before = word;
    }
    packed
}

/// A redirect whose path holds no secret.
fn clean(redirect: &Redirect, packer: &Packer<'_>) -> Redirect {
    let target = match &redirect.target {
        Target::File { path, access } => Target::File {
            path: packer.path(path),
            access: *access,
        },
        other @ (Target::Null | Target::Stream(_)) => other.clone(),
    };
    Redirect {
        target,
        ..*redirect
    }
}
