//! How fast the tools walk and search a large tree, through registry and engine, against ripgrep.
//! Both sides must find the same before anything is timed.

mod ours;
mod peer;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use serde_json::json;
use toolcall_tools::tools::{ListDirectory, ResultLimit};

use self::ours::Ours;
use self::peer::Ripgrep;
use crate::lane::peak_memory;
use crate::{Case, Options, Row, Target};

/// Names the tree to search.
const TREE: &str = "TOOLCALL_BENCH_TREE";
const FEWEST_FILES: usize = 50_000;
/// How many times as long as ripgrep the tools may take.
const OF_RIPGREP: f64 = 1.2;
const MIB: u64 = 1024 * 1024;

/// A query and what it is there for.
struct Search {
    name: &'static str,
    query: &'static str,
    is_regex: bool,
}

const SEARCHES: [Search; 4] = [
    Search {
        name: "a rare word",
        query: "Sherlock",
        is_regex: false,
    },
    Search {
        name: "what is in no file",
        query: "no file has these words, has it",
        is_regex: false,
    },
    Search {
        name: "a regular expression",
        query: r"fn \w+_(twice|again)\(",
        is_regex: true,
    },
    Search {
        name: "a common word",
        query: "unsafe",
        is_regex: false,
    },
];

/// Runs all cases.
pub(crate) fn run(options: &Options) -> Vec<Row> {
    let tree = tree();
    let peer = Ripgrep::installed().unwrap_or_else(|why| fail(&why));
    require_files(&tree, &peer);
    let mut rows: Vec<Row> = SEARCHES
        .iter()
        .map(|search| searched(options, &tree, &peer, search))
        .collect();
    rows.push(found(options, &tree, &peer));
    rows.extend(listed(options, &tree, &peer));
    if cfg!(target_os = "linux") {
        let case = Case::new("memory of a process that searches, against 32 MiB", options);
        rows.push(case.within(memory, 32 * MIB));
    }
    rows
}

fn searched(options: &Options, tree: &Path, peer: &Ripgrep, search: &Search) -> Row {
    let input = json!({"query": search.query, "regex": search.is_regex});
    let whole = Ours::new(tree, ResultLimit::NONE);
    require_same(
        tree,
        search.name,
        whole.matches(&input),
        peer.matches(tree, search),
    );
    let ours = Ours::new(tree, ResultLimit::default());
    target(Case::new(format!("search_files, {}", search.name), options)).compare(
        || ours.call("search_files", &input),
        || peer.search(tree, search),
    )
}

fn found(options: &Options, tree: &Path, peer: &Ripgrep) -> Row {
    let input = json!({"pattern": "*.toml"});
    // With `-g` ripgrep finds hidden and ignored files, too.
    let mut theirs = peer.files(tree);
    theirs.retain(|path| path.ends_with(".toml"));
    let whole = Ours::new(tree, ResultLimit::NONE);
    require_same(tree, "find_path", whole.paths(&input), theirs);
    let ours = Ours::new(tree, ResultLimit::default());
    target(Case::new("find_path, *.toml", options)).compare(
        || ours.call("find_path", &input),
        || peer.find(tree, "*.toml"),
    )
}

/// As it is used, with the first thousand names shown, and with the cut lifted, which shows every name twice: as text and
/// as JSON.
fn listed(options: &Options, tree: &Path, peer: &Ripgrep) -> [Row; 2] {
    let input = json!({"path": ".", "depth": 200});
    let shown = Ours::new(tree, ListDirectory::CUT);
    let whole = Ours::new(tree, ResultLimit::NONE);
    let theirs = peer.files(tree);
    require_same(tree, "list_directory", whole.files(&input), theirs);
    let case = |name: &str| target(Case::new(name, options));
    let list = |ours: &Ours| ours.call("list_directory", &input);
    [
        case("list_directory, everything").compare(|| list(&shown), || peer.list(tree)),
        case("list_directory, everything, nothing cut, against a sorted list")
            .compare(|| list(&whole), || peer.list_sorted(tree)),
    ]
}

fn target(case: Case) -> Case {
    case.target(Target::AtMost(OF_RIPGREP))
}

/// The tree that was asked for, or the sources of the crates that cargo has fetched.
fn tree() -> PathBuf {
    if let Some(asked) = std::env::var_os(TREE) {
        return asked.into();
    }
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    home.unwrap_or_default().join("registry/src")
}

fn require_files(tree: &Path, peer: &Ripgrep) {
    let files = peer.files(tree).len();
    if files < FEWEST_FILES {
        let tree = tree.display();
        fail(&format!(
            "`{tree}` has {files} files to search and {FEWEST_FILES} are needed; name a larger tree in {TREE}"
        ));
    }
}

/// What ripgrep finds before a NUL far behind in a file depends on how much it happens to read at a time, so such files
/// are left out.
fn require_same(tree: &Path, what: &str, ours: Vec<String>, theirs: Vec<String>) {
    let (ours, theirs): (BTreeSet<_>, BTreeSet<_>) =
        (ours.into_iter().collect(), theirs.into_iter().collect());
    let different = ours.symmetric_difference(&theirs);
    let is_text = |place: &&String| !has_nul(tree, place);
    if let Some(place) = different.filter(is_text).min() {
        let (ours, theirs) = (ours.len(), theirs.len());
        fail(&format!(
            "{what}: ours finds {ours}, ripgrep {theirs}; only one of them finds `{place}`"
        ));
    }
}

fn has_nul(tree: &Path, place: &str) -> bool {
    let path = place.rsplit_once(':').map_or(place, |(path, _)| path);
    std::fs::read(tree.join(path)).is_ok_and(|bytes| bytes.contains(&0))
}

fn fail(why: &str) -> ! {
    eprintln!("{why}");
    std::process::exit(2)
}

/// The memory of another process that does one search.
fn memory() -> u64 {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program)
        .args(["--sender", "search"])
        .stderr(Stdio::piped())
        .output()
        .expect("this program can start itself");
    let said = String::from_utf8_lossy(&output.stderr);
    let memory = said.trim().parse();
    memory.expect("it says how much memory it took")
}

/// Does one search and says how much memory that took.
pub(crate) fn send() -> ExitCode {
    let ours = Ours::new(&tree(), ResultLimit::default());
    ours.call("search_files", &json!({"query": SEARCHES[3].query}));
    eprintln!("{}", peak_memory("self"));
    ExitCode::SUCCESS
}
