//! The MCP servers of others that tests call, put below `target` in pinned versions.
//! Without npm or Python they are left out, which only CI takes for a failure.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::step::Step;

/// Where the tests find what was put there.
pub(crate) const PLACE: &str = "TOOLCALL_MCP_SERVERS";

const NODE: [&str; 3] = [
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
];

const PYTHON: [&str; 2] = ["mcp-server-git==2026.10.19", "mcp-server-time==2026.10.19"];

const LIMIT: Duration = Duration::from_secs(10 * 60);

/// Installs the servers unless they are there, and says where; nothing where they cannot be had.
pub(crate) fn prepare(root: &Path) -> Result<Option<PathBuf>, String> {
    let place = root.join("target/mcp-servers");
    match install(&place) {
        Ok(()) => Ok(Some(place)),
        Err(why) if std::env::var_os("CI").is_some() => Err(why),
        Err(why) => {
            eprintln!("no MCP servers of others are tested: {why}");
            Ok(None)
        }
    }
}

fn install(place: &Path) -> Result<(), String> {
    let stamp = place.join("versions");
    let versions = NODE
        .into_iter()
        .chain(PYTHON)
        .collect::<Vec<_>>()
        .join("\n");
    if std::fs::read_to_string(&stamp).is_ok_and(|there| there == versions) {
        return Ok(());
    }
    let told = |error: std::io::Error| format!("`{}`: {error}", place.display());
    std::fs::create_dir_all(place).map_err(told)?;
    for step in steps(place) {
        step.within(LIMIT).run()?;
    }
    std::fs::write(stamp, versions).map_err(told)
}

fn steps(place: &Path) -> [Step; 3] {
    let mut npm = Command::new("npm");
    npm.current_dir(place)
        .args([
            "install",
            "--prefix",
            ".",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
        ])
        .args(NODE);
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(place.join("python"));
    let mut pip = Command::new(place.join("python/bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"])
        .args(PYTHON);
    [
        Step::new("npm install", npm),
        Step::new("python3 -m venv", venv),
        Step::new("pip install", pip),
    ]
}
