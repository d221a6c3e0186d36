//! The small project that the demo works on, in a temporary folder, and what may be done to it.
//! The rules are made up for the story.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use tempfile::TempDir;
use toolcall::{Intent, Part, Reading, Setting, Touch, Verdict};

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
            let path = project.root().join(name);
            let parent = path.parent().unwrap_or(&path);
            fs::create_dir_all(parent).and_then(|()| fs::write(&path, text))?;
        }
        Ok(project)
    }

    /// Where its files are.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("greetings")
    }

    /// Where things are kept that the story leaves.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }
}

/// Reads and tests pass, `rm` never does, and a person decides about the rest.
pub(crate) fn policy(intent: &Intent, setting: &Setting) -> Verdict {
    if intent.touches.iter().any(removes) {
        let reason = "`rm` is never run in this project; delete single files with delete_file";
        return Verdict::deny("no-rm", reason);
    }
    let is_harmless = |touch: &Touch| is_read(touch, setting) || is_script(touch);
    match intent.touches.iter().all(is_harmless) {
        true => Verdict::allow("reads-and-scripts"),
        false => Verdict::ask("changes", intent),
    }
}

fn removes(touch: &Touch) -> bool {
    parts(touch).any(|part| part.argv.first().is_some_and(|program| program == "rm"))
}

fn is_read(touch: &Touch, setting: &Setting) -> bool {
    matches!(touch, Touch::Reads(path) if setting.contains(path))
}

/// The scripts of the project, and nothing beside them.
fn is_script(touch: &Touch) -> bool {
    let known = [&["sh", "tests/run.sh"], &["sh", "watch.sh"]];
    let has_variables = matches!(touch, Touch::Runs(command) if !command.env.is_empty());
    let mut parts = parts(touch).peekable();
    !has_variables
        && parts.peek().is_some()
        && parts.all(|part| known.iter().any(|known| part.argv == *known))
}

/// The programs of an understood command.
fn parts(touch: &Touch) -> impl Iterator<Item = &Part> {
    let parts = match touch {
        Touch::Runs(command) => match &command.reading {
            Reading::Understood(parts) => parts.as_slice(),
            Reading::Unclear(_) => &[],
        },
        Touch::Reads(_)
        | Touch::Writes(_)
        | Touch::Deletes(_)
        | Touch::Moves { .. }
        | Touch::Reaches(_)
        | Touch::Unknown => &[],
    };
    parts.iter()
}
