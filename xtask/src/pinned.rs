//! Packages of others, put below `target` once for every list of pinned versions.
//! It does not know what the packages are for.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::step::Step;

const LIMIT: Duration = Duration::from_secs(10 * 60);

/// Whether packages of npm may run what they bring along while they are installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scripts {
    Ignored,
    Run,
}

/// Runs the steps unless these very versions are there already.
pub(crate) fn put(place: &Path, versions: &[&str], steps: Vec<Step>) -> Result<(), String> {
    let (stamp, versions) = (place.join("versions"), versions.join("\n"));
    if std::fs::read_to_string(&stamp).is_ok_and(|there| there == versions) {
        return Ok(());
    }
    let told = |error: std::io::Error| format!("`{}`: {error}", place.display());
    std::fs::create_dir_all(place).map_err(told)?;
    for step in steps {
        step.within(LIMIT).run()?;
    }
    std::fs::write(stamp, versions).map_err(told)
}

/// Installs packages of npm in that folder.
pub(crate) fn npm(place: &Path, packages: &[&str], scripts: Scripts) -> Step {
    let mut npm = Command::new("npm");
    npm.current_dir(place)
        .args(["install", "--prefix", ".", "--no-audit", "--no-fund"])
        .args((scripts == Scripts::Ignored).then_some("--ignore-scripts"))
        .args(packages);
    Step::new("npm install", npm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_in_these_versions_is_not_put_again() {
        let place = std::env::temp_dir().join(format!("xtask-pinned-{}", std::process::id()));
        let never = || vec![Step::new("never", Command::new("no-such-program"))];
        let first = put(&place, &["a@1"], never()).unwrap_err();
        assert!(first.starts_with("`never` could not be started"), "{first}");
        assert_eq!(put(&place, &["a@1"], Vec::new()), Ok(()));
        assert_eq!(put(&place, &["a@1"], never()), Ok(()));
        assert!(put(&place, &["a@2"], never()).is_err());
        std::fs::remove_dir_all(place).unwrap();
    }
}
