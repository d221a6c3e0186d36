//! The ACP SDK of others on which a client in the tests is written, put below `target` in a pinned version.
//! Without npm it is left out, which only CI takes for a failure.

use std::path::{Path, PathBuf};

use crate::pinned::{Scripts, npm, put};

/// Where the test finds what was put there.
pub(crate) const PLACE: &str = "TOOLCALL_ACP_SDK";

const PACKAGES: [&str; 1] = ["@agentclientprotocol/sdk@2.4.0"];

/// Installs the SDK unless it is there, and says where; nothing where it cannot be had.
pub(crate) fn prepare(root: &Path) -> Result<Option<PathBuf>, String> {
    let place = root.join("target/acp-sdk");
    let steps = vec![npm(&place, &PACKAGES, Scripts::Ignored)];
    match put(&place, &PACKAGES, steps) {
        Ok(()) => Ok(Some(place)),
        Err(why) if std::env::var_os("CI").is_some() => Err(why),
        Err(why) => {
            eprintln!("no client of others is tested: {why}");
            Ok(None)
        }
    }
}
