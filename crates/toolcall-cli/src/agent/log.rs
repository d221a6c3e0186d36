//! What happens in the agent, appended to a file.
//! Its faults are never the agent's: a log that cannot be written is an error at the start only.

use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Mutex;

use anyhow::Context as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Appends to this file from now on. Only its owner may read it.
pub(super) fn write_to(file: &Path) -> anyhow::Result<()> {
    let opened = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(file)
        .with_context(|| format!("`{}` cannot be written as a log", file.display()))?;
    // One that was there before is its owner's alone from now on, too.
    opened
        .set_permissions(Permissions::from_mode(0o600))
        .with_context(|| format!("`{}` cannot be kept private", file.display()))?;
    // Libraries of others say what is wrong, ours what they do.
    let told = Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("toolcall", LevelFilter::DEBUG);
    let lines = fmt::layer()
        .with_ansi(false)
        .with_writer(Mutex::new(opened));
    tracing_subscriber::registry()
        .with(lines)
        .with(told)
        .try_init()
        .context("the log cannot begin")
}
