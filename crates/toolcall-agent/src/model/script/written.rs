//! The YAML schema of a script: its keys and no others.
//! `file.rs` checks which keys go together.

use serde::Deserialize;
use serde_json::Value;
use serde_saphyr::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenStep {
    pub(super) when: Option<String>,
    pub(super) say: Option<String>,
    pub(super) think: Option<String>,
    pub(super) call: Option<Spanned<WrittenCall>>,
    pub(super) calls: Option<Vec<Spanned<WrittenCall>>>,
    pub(super) usage: Option<WrittenUsage>,
    pub(super) pause_ms: Option<u64>,
    pub(super) expect: Option<Spanned<WrittenExpect>>,
    pub(super) stream: Option<Spanned<WrittenStream>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenCall {
    pub(super) tool: String,
    pub(super) id: Option<String>,
    pub(super) input: Option<Value>,
    pub(super) text: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenUsage {
    pub(super) used: u64,
    pub(super) window: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenStream {
    pub(super) pieces: Option<usize>,
    pub(super) delay_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenExpect {
    pub(super) prompt: Option<String>,
    pub(super) result: Option<WrittenResult>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenResult {
    pub(super) call: Option<WrittenCallSelector>,
    pub(super) ok: Option<bool>,
    pub(super) contains: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum WrittenCallSelector {
    Number(usize),
    Id(String),
}

impl WrittenStep {
    /// Whether nothing is left of it.
    pub(super) fn is_empty(&self) -> bool {
        let WrittenStep {
            when,
            say,
            think,
            call,
            calls,
            usage,
            pause_ms,
            expect,
            stream,
        } = self;
        let speaks = when.is_some() || say.is_some() || think.is_some() || stream.is_some();
        let acts = call.is_some() || calls.is_some() || expect.is_some();
        !speaks && !acts && usage.is_none() && pause_ms.is_none()
    }
}
