//! The OpenTelemetry collector of others that a test sends spans to, put below `target` in a pinned version.
//! Without Python it is left out, which only CI takes for a failure.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::step::Step;

/// Where the test finds the program.
pub(crate) const PLACE: &str = "TOOLCALL_COLLECTOR";

const PACKAGE: &str = "rotel==0.0.1a15";

const LIMIT: Duration = Duration::from_secs(5 * 60);

/// Installs the collector unless it is there, and says where; nothing where it cannot be had.
pub(crate) fn prepare(root: &Path) -> Result<Option<PathBuf>, String> {
    match install(&root.join("target/collector")) {
        Ok(program) => Ok(Some(program)),
        Err(why) if std::env::var_os("CI").is_some() => Err(why),
        Err(why) => {
            eprintln!("no collector of others is tested: {why}");
            Ok(None)
        }
    }
}

fn install(place: &Path) -> Result<PathBuf, String> {
    let program = place.join(PACKAGE).join("rotel/rotel-agent");
    if program.exists() {
        return Ok(program);
    }
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps"])
        .args(["--disable-pip-version-check", "--target"])
        .arg(place.join(PACKAGE))
        .arg(PACKAGE);
    Step::new("pip install rotel", pip).within(LIMIT).run()?;
    if program.exists() {
        Ok(program)
    } else {
        Err(format!("`{}` was not installed", program.display()))
    }
}
