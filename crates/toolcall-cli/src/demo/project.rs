//! The small project that the demo works on, in a temporary directory, with its own policy.
//! It does not use the user's settings.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::TempDir;
use toolcall_policy::UserDirs;

use crate::environment::UserEnvironment;

const FILES: [(&str, &str); 5] = [
    (
        "src/greet.sh",
        r#"# Greets somebody.
greet() {
    echo "Hi $1"
}

# Says goodbye.
part() {
    echo "Bye $1"
}
"#,
    ),
    (
        "tests/run.sh",
        r#"# Runs one test after the other.
. src/greet.sh
failed=0
check() {
    sleep 0.1
    if [ "$2" = "$3" ]; then
        echo "test $1 ... ok"
    else
        echo "test $1 ... FAILED: $2 is not $3"
        failed=1
    fi
}
check greets "$(greet Ada)" "Hello, Ada!"
check greets_nobody "$(greet nobody)" "Hello, nobody!"
check parts "$(part Ada)" "Goodbye, Ada!"
exit $failed
"#,
    ),
    (
        "watch.sh",
        r#"# Waits for changes, with a child of its own, until it is stopped.
echo "watching src"
sleep 600 &
echo "no change so far"
wait
"#,
    ),
    (
        "README.md",
        "# greetings\n\nSays hello.\n\nTODO: say goodbye properly\n",
    ),
    (".gitignore", "/target\n"),
];

/// The user policy of the demo.
const POLICY: &str = r#"# The scripts of the project run without asking.
[[allow]]
exactly = ["sh tests/run.sh", "sh watch.sh"]

[[deny]]
run = "rm"
because = "`rm` is never run in this project; delete single files with delete_file"
matches = ["cd src && rm -rf ."]
refuses = ["sh tests/run.sh"]
"#;

/// The project, with directories for its policy and history. Dropping it deletes them.
pub(crate) struct DemoProject {
    directory: TempDir,
}

impl DemoProject {
    /// Creates the project.
    pub(crate) fn create() -> anyhow::Result<Self> {
        let made = tempfile::Builder::new().prefix("toolcall-demo-").tempdir();
        let directory = made.context("no temporary directory for the demo's project can be created; set TMPDIR to a writable directory")?;
        let project = Self { directory };
        for (name, text) in FILES {
            write(&project.root().join(name), text)?;
        }
        write(&project.user().dirs.policy(), POLICY)?;
        Ok(project)
    }

    /// Returns the directory of its files.
    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().join("greetings")
    }

    /// Returns the directories of its policy and history.
    pub(crate) fn user(&self) -> UserEnvironment {
        let subdirectory = |name: &str| self.directory.path().join(name);
        UserEnvironment {
            dirs: UserDirs {
                config: subdirectory("config"),
                state: subdirectory("state"),
            },
            home: None,
        }
    }
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    fs::write(path, text)?;
    // Regardless of the umask: a policy that others can write is refused.
    fs::set_permissions(path, fs::Permissions::from_mode(0o644))
}
