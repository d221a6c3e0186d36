//! JSON forms of this crate's values, for stores and protocols.
//! Nothing in this crate uses them: its own types are not `Serialize`.
//!
//! A form mirrors a value, and the compiler keeps both alike:
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use toolcall::{Kind, serde_forms::KindForm};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Row {
//!     #[serde(with = "KindForm")]
//!     kind: Kind,
//! }
//!
//! let row = Row { kind: Kind::SwitchMode };
//! assert_eq!(serde_json::to_string(&row)?, r#"{"kind":"switch_mode"}"#);
//! # Ok::<(), serde_json::Error>(())
//! ```
#![allow(missing_docs, reason = "each form mirrors a documented value")]

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    Access, Canceller, Completeness, Effect, Exit, Heartbeat, Join, Kind, Lifetime, OutputBudget,
    PlanStatus, Printed, Priority, Redirect, Stream, Target,
};

#[derive(Serialize, Deserialize)]
#[serde(remote = "Kind", rename_all = "snake_case")]
pub enum KindForm {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    SwitchMode,
    Other,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Effect", rename_all = "snake_case")]
pub enum EffectForm {
    Allow,
    Deny,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Lifetime", rename_all = "snake_case")]
pub enum LifetimeForm {
    Session,
    Project,
    Everywhere,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Exit", rename_all = "snake_case")]
pub enum ExitForm {
    Code(i32),
    Signal(i32),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Printed")]
pub struct PrintedForm {
    from: u64,
    to: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Heartbeat")]
pub struct HeartbeatForm {
    elapsed: Duration,
    bytes: u64,
    quiet: Duration,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Canceller", rename_all = "snake_case")]
pub enum CancellerForm {
    Person,
    Turn,
    Engine,
    Parent,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "OutputBudget")]
pub struct BudgetForm {
    head: usize,
    tail: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Completeness", rename_all = "snake_case")]
pub enum CompletenessForm {
    Whole,
    Capped,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Join", rename_all = "snake_case")]
pub enum JoinForm {
    Then,
    And,
    Or,
    Pipe,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Stream", rename_all = "snake_case")]
pub enum StreamForm {
    Input,
    Output,
    Error,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Access", rename_all = "snake_case")]
pub enum AccessForm {
    Read,
    Replace,
    Append,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "PlanStatus", rename_all = "snake_case")]
pub enum PlanStatusForm {
    Pending,
    InProgress,
    Completed,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Priority", rename_all = "snake_case")]
pub enum PriorityForm {
    High,
    Medium,
    Low,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Redirect")]
pub struct RedirectForm {
    #[serde(with = "StreamForm")]
    stream: Stream,
    #[serde(with = "TargetForm")]
    target: Target,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Target", rename_all = "snake_case")]
pub enum TargetForm {
    Null,
    #[serde(with = "StreamForm")]
    Stream(Stream),
    File {
        #[serde(with = "path")]
        path: PathBuf,
        #[serde(with = "AccessForm")]
        access: Access,
    },
}

/// The redirects of a part, in their order.
pub mod redirects {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::RedirectForm;
    use crate::Redirect;

    #[derive(Serialize)]
    struct Written<'a>(#[serde(with = "RedirectForm")] &'a Redirect);

    #[derive(Deserialize)]
    struct Read(#[serde(with = "RedirectForm")] Redirect);

    pub fn serialize<S: Serializer>(all: &[Redirect], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(all.iter().map(Written))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Redirect>, D::Error> {
        let all = Vec::<Read>::deserialize(from)?;
        Ok(all.into_iter().map(|Read(redirect)| redirect).collect())
    }
}

/// A path: as text where it is text, otherwise its bytes.
pub mod path {
    use std::path::{Path, PathBuf};

    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum PathForm<'a> {
        Text(std::borrow::Cow<'a, str>),
        Bytes { bytes: String },
    }

    pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => PathForm::Text(text.into()),
            None => PathForm::Bytes {
                bytes: BASE64_STANDARD.encode(path.as_os_str().as_encoded_bytes()),
            },
        }
        .serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        match PathForm::deserialize(from)? {
            PathForm::Text(text) => Ok(text.into_owned().into()),
            PathForm::Bytes { bytes } => {
                let bytes = BASE64_STANDARD.decode(bytes).map_err(D::Error::custom)?;
                Ok(path_of(bytes))
            }
        }
    }

    #[cfg(unix)]
    fn path_of(bytes: Vec<u8>) -> PathBuf {
        use std::os::unix::ffi::OsStringExt as _;
        std::ffi::OsString::from_vec(bytes).into()
    }

    #[cfg(not(unix))]
    fn path_of(bytes: Vec<u8>) -> PathBuf {
        String::from_utf8_lossy(&bytes).into_owned().into()
    }
}
