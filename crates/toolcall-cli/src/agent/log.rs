//! The agent's log file.
//! A log that cannot be opened is an error at the start; later write errors do not stop the agent.

use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Mutex;

use anyhow::Context as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Appends log lines to this file from now on. Only its owner may read it.
pub(super) fn write_to(file: &Path) -> anyhow::Result<()> {
    let opened = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(file)
        .with_context(|| format!("the log file `{}` cannot be opened", file.display()))?;
    // An existing file becomes private, too.
    opened
        .set_permissions(Permissions::from_mode(0o600))
        .with_context(|| format!("the log file `{}` cannot be made private", file.display()))?;
    // Warnings of other libraries, and everything of ours.
    let levels = Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("toolcall", LevelFilter::DEBUG);
    let lines = fmt::layer()
        .with_ansi(false)
        .with_writer(Mutex::new(opened));
    tracing_subscriber::registry()
        .with(lines)
        .with(levels)
        .try_init()
        .context("the log cannot be started")
}
