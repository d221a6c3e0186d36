//! The small project that the demo works on, in a temporary folder, with a policy of its own.
//! Nothing is taken from the person's own settings.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::TempDir;
use toolcall_policy::UserDirs;

use crate::places::Person;

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

/// What the person of the story has written into their policy.
const POLICY: &str = r#"# The scripts of the project run without a question.
[[allow]]
exactly = ["sh tests/run.sh", "sh watch.sh"]

[[deny]]
run = "rm"
because = "`rm` is never run in this project; delete single files with delete_file"
matches = ["cd src && rm -rf ."]
refuses = ["sh tests/run.sh"]
"#;

/// The project, and a folder for what is kept. Both are gone with it.
pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    /// Makes it.
    pub(crate) fn make() -> anyhow::Result<Self> {
        let made = tempfile::Builder::new().prefix("toolcall-demo-").tempdir();
        let folder = made.context("there is no place for the demo's project; set TMPDIR")?;
        let project = Self { folder };
        for (name, text) in FILES {
            write(&project.root().join(name), text)?;
        }
        write(&project.person().places.policy(), POLICY)?;
        Ok(project)
    }

    /// Where its files are.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("greetings")
    }

    /// Whose policy holds in the story, and where things are kept that it leaves.
    pub(crate) fn person(&self) -> Person {
        let place = |name: &str| self.folder.path().join(name);
        Person {
            places: UserDirs {
                config: place("config"),
                state: place("state"),
            },
            home: None,
        }
    }
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    fs::write(path, text)?;
    // Whatever the mask says: a policy that others may write is refused.
    fs::set_permissions(path, fs::Permissions::from_mode(0o644))
}
