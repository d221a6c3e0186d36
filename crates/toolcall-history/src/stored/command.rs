//! The stored form of commands: text, arguments, variables and redirects, redacted.
//! It parses no command line.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolcall::serde_forms::{JoinForm, path, redirects};
use toolcall::{Digest, Join, Redirect, Target};

use super::text::{BlobSource, StoredText, unhex};
use super::{DecodeError, Encoder};
use crate::redact::{MASK, is_secret_name, names_next_secret};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredCommand {
    text: StoredText,
    #[serde(with = "path")]
    cwd: PathBuf,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<Arc<str>, Arc<str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    scripts: Vec<StoredScript>,
    reading: StoredReading,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredScript(#[serde(with = "path")] PathBuf, String);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredReading {
    Understood(Vec<StoredPart>),
    Unclear(Arc<str>),
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredPart {
    #[serde(with = "JoinForm")]
    join: Join,
    argv: Vec<StoredText>,
    #[serde(with = "path")]
    cwd: PathBuf,
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "redirects")]
    redirects: Vec<Redirect>,
}

impl StoredCommand {
    pub(crate) fn encode(command: &toolcall::Command, encoder: &mut Encoder<'_>) -> Self {
        let toolcall::Command {
            text,
            cwd,
            env,
            scripts,
            reading,
        } = command;
        let keeps_content = encoder.keeps_content();
        Self {
            text: encoder.text(text),
            cwd: encoder.path(cwd),
            env: env
                .iter()
                .filter(|_| keeps_content)
                .map(|(name, value)| (name.clone(), variable(name, value, encoder)))
                .collect(),
            scripts: scripts
                .iter()
                .map(|(path, digest)| StoredScript(encoder.path(path), digest.to_string()))
                .collect(),
            reading: StoredReading::encode(reading, encoder),
        }
    }

    pub(crate) fn decode(self, blobs: &dyn BlobSource) -> Result<toolcall::Command, DecodeError> {
        Ok(toolcall::Command {
            text: self.text.decode(blobs)?,
            cwd: self.cwd,
            env: self.env,
            scripts: self
                .scripts
                .into_iter()
                .map(script)
                .collect::<Result<_, _>>()?,
            reading: self.reading.decode(blobs)?,
        })
    }
}

fn script(StoredScript(path, digest): StoredScript) -> Result<(PathBuf, Digest), DecodeError> {
    let hash = unhex(&digest).ok_or_else(|| DecodeError::Malformed("a digest".to_owned()))?;
    Ok((path, Digest(hash)))
}

fn variable(name: &str, value: &Arc<str>, encoder: &Encoder<'_>) -> Arc<str> {
    if is_secret_name(name) && !value.is_empty() {
        MASK.into()
    } else {
        encoder.redacted(value)
    }
}

impl StoredReading {
    fn encode(reading: &toolcall::Reading, encoder: &mut Encoder<'_>) -> Self {
        match reading {
            toolcall::Reading::Unclear(why) => StoredReading::Unclear(encoder.content_line(why)),
            toolcall::Reading::Understood(_) if !encoder.keeps_content() => {
                StoredReading::Understood(Vec::new())
            }
            toolcall::Reading::Understood(parts) => {
                let parts = parts.iter().map(|part| StoredPart::encode(part, encoder));
                StoredReading::Understood(parts.collect())
            }
        }
    }

    fn decode(self, blobs: &dyn BlobSource) -> Result<toolcall::Reading, DecodeError> {
        Ok(match self {
            StoredReading::Unclear(why) => toolcall::Reading::Unclear(why),
            StoredReading::Understood(parts) => {
                let parts = parts.into_iter().map(|part| part.decode(blobs));
                toolcall::Reading::Understood(parts.collect::<Result<_, _>>()?)
            }
        })
    }
}

impl StoredPart {
    fn encode(part: &toolcall::Part, encoder: &mut Encoder<'_>) -> Self {
        let toolcall::Part {
            join,
            argv,
            cwd,
            redirects,
        } = part;
        Self {
            join: *join,
            argv: words(argv, encoder),
            cwd: encoder.path(cwd),
            redirects: redirects
                .iter()
                .map(|redirect| clean(redirect, encoder))
                .collect(),
        }
    }

    fn decode(self, blobs: &dyn BlobSource) -> Result<toolcall::Part, DecodeError> {
        let word = |word: StoredText| word.decode(blobs).map(|word| word.to_string());
        Ok(toolcall::Part {
            join: self.join,
            argv: self.argv.into_iter().map(word).collect::<Result<_, _>>()?,
            cwd: self.cwd,
            redirects: self.redirects,
        })
    }
}

/// Encodes arguments. An argument may be the secret that the one before it announces: `--token abc`.
fn words(argv: &[String], encoder: &mut Encoder<'_>) -> Vec<StoredText> {
    let mut before = "";
    let mut encoded = Vec::with_capacity(argv.len());
    for word in argv {
        encoded.push(if names_next_secret(before) {
            StoredText::Inline(MASK.into())
        } else {
            encoder.text(&word.as_str().into())
        });
        before = word;
    }
    encoded
}

/// Returns the redirect with its path redacted.
fn clean(redirect: &Redirect, encoder: &Encoder<'_>) -> Redirect {
    let target = match &redirect.target {
        Target::File { path, access } => Target::File {
            path: encoder.path(path),
            access: *access,
        },
        other @ (Target::Null | Target::Stream(_)) => other.clone(),
    };
    Redirect {
        target,
        ..*redirect
    }
}
