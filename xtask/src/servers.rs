//! The MCP servers of others that tests call, put below `target` in pinned versions.
//! Without npm or Python they are left out, which only CI takes for a failure.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::pinned::{Scripts, npm, put};
use crate::step::Step;

/// Where the tests find what was put there.
pub(crate) const PLACE: &str = "TOOLCALL_MCP_SERVERS";

const NODE: [&str; 3] = [
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
];

const PYTHON: [&str; 2] = ["mcp-server-git==2026.10.19", "mcp-server-time==2026.10.19"];

/// Installs the servers unless they are there, and says where; nothing where they cannot be had.
pub(crate) fn prepare(root: &Path) -> Result<Option<PathBuf>, String> {
    let place = root.join("target/mcp-servers");
    match put(&place, &[&NODE[..], &PYTHON].concat(), steps(&place)) {
        Ok(()) => Ok(Some(place)),
        Err(why) if std::env::var_os("CI").is_some() => Err(why),
        Err(why) => {
            eprintln!("no MCP servers of others are tested: {why}");
            Ok(None)
        }
    }
}

fn steps(place: &Path) -> Vec<Step> {
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(place.join("python"));
    let mut pip = Command::new(place.join("python/bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"])
        .args(PYTHON);
    vec![
        npm(place, &NODE, Scripts::Ignored),
        Step::new("python3 -m venv", venv),
        Step::new("pip install", pip),
    ]
}
