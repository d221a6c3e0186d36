//! The assertions of each case about paths.
//! A case that is not named here fails.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use toolcall::text::is_hidden;
use toolcall::{
    AllowAll, AskAll, Content, Intent, Policy, SessionContext, Touch, Verdict as Judged,
};
use toolcall_testkit::dir::{TestDir, names};
use toolcall_testkit::process::Process;
use toolcall_tools::{Toolset, ToolsetConfig, ToolsetError};

use crate::hostile::Verdict;
use crate::hostile::case::Case;
use crate::hostile::fixture::{CANARY, CallRecord};

const PROTECTED: &str = "protected names belong to the policy";
const MIB: u64 = 1024 * 1024;

/// Checks a case, and that nothing outside was changed or disclosed.
pub(crate) async fn judge(name: &str, case: &Case) -> Verdict {
    let outside = case.fixture.outside();
    let verdict = shows(name, case).await;
    assert_eq!(case.fixture.outside(), outside);
    verdict
}

async fn shows(name: &str, case: &Case) -> Verdict {
    match &name[..3] {
        "001" | "003" | "005" | "007" | "037" | "091" | "114" => refused(case, "is outside").await,
        // The path is normalized before the policy sees it, and the same path is opened.
        "008" => refused(case, "proj/k` does not exist").await,
        "009" => refused(case, "too many links").await,
        // Root may enter the closed directory, and reaches the symlink that leads outside.
        "010" => refused(case, "locked").await,
        "036" => refused(case, "too long").await,
        "038" | "040" => refused(case, "does not exist").await,
        "041" | "043" | "045" => magic_link(case).await,
        "048" | "050" => device(case).await,
        "051" | "052" => refused(case, "is a pipe").await,
        "053" => refused(case, "is a folder").await,
        "111" => refused(case, "does not fit the schema").await,
        "014" => link_is_shown(case).await,
        "015" => root_replaced(case).await,
        "016" => denied_through_a_link(case, "secrets").await,
        "017" => denied_through_a_link(case, ".git").await,
        "019" => hard_link(case).await,
        "032" => new_line_in_a_name(case).await,
        "033" => hidden_in_a_name(case).await,
        "034" => escape_in_a_name(case).await,
        "035" => bytes_in_a_name(case).await,
        "054" => huge(case).await,
        "056" => growing(case).await,
        "098" => move_to_another_device(case).await,
        "101" => delete_link(case).await,
        "102" => delete_folder_with_link(case).await,
        "108" => many_alternatives(case).await,
        "115" => relative_roots(),
        "112" => Verdict::Skipped("a limit of the whole process; full_disk.rs has it"),
        "022" | "026" | "028" | "029" | "030" | "057" | "059" | "062" | "063" | "065" | "068"
        | "069" | "073" | "074" | "075" | "076" | "077" | "079" | "083" | "084" | "086" | "087"
        | "093" | "094" | "103" => Verdict::Skipped(PROTECTED),
        other => panic!("{other} is not in the table"),
    }
}

async fn allowed(case: &Case) -> CallRecord {
    let record = case.fixture.call(AllowAll, case.tool(), case.input());
    record.await
}

fn assert_no_canary(record: &CallRecord) {
    let everything = record.everything();
    assert!(!everything.contains(CANARY), "{everything}");
}

fn assert_refused(record: &CallRecord, because: &str) {
    assert!(!record.is_completed(), "{}", record.for_model());
    assert!(record.reason().contains(because), "{}", record.reason());
    assert_no_canary(record);
}

/// Although everything is allowed, the call fails, discloses nothing and changes nothing.
async fn refused(case: &Case, because: &str) -> Verdict {
    let inside = case.fixture.inside();
    assert_refused(&allowed(case).await, because);
    assert_eq!(case.fixture.inside(), inside);
    Verdict::Passed
}

/// By its own name, and through a symlink in the root.
async fn magic_link(case: &Case) -> Verdict {
    assert_refused(&allowed(case).await, "is outside");
    let through_link = case
        .fixture
        .call(AllowAll, "read_file", json!({"path": "pl"}));
    assert_refused(&through_link.await, "is outside");
    Verdict::Passed
}

/// Also if the user made `/dev` a root.
async fn device(case: &Case) -> Verdict {
    let toolset = case.fixture.toolset(&[case.fixture.root(), "/dev".into()]);
    let link = names(&case.fixture.root()).remove(0);
    for path in [case.input()["path"].as_str().unwrap(), &link] {
        let input = json!({"path": path});
        let record = case
            .fixture
            .call_with(&toolset, AllowAll, "read_file", input);
        let record = record.await;
        assert!(!record.is_completed());
        let is_absent = record.reason().contains("does not exist");
        let is_device = record.reason().contains("is a device");
        assert!(is_absent || is_device, "{}", record.reason());
    }
    Verdict::Passed
}

/// In the table a symlink starts at the root; a real one starts at its directory.
async fn link_is_shown(case: &Case) -> Verdict {
    let fixture = &case.fixture;
    fs::remove_file(fixture.path("src/link.txt")).unwrap();
    symlink("../docs/real.txt", fixture.path("src/link.txt")).unwrap();
    let record = fixture.call(AskAll, case.tool(), case.input()).await;
    assert!(record.is_completed(), "{}", record.reason());
    let intent = &record.questions[0].subject.intent;
    let real = fixture.path("docs/real.txt");
    let is_real = |path: &PathBuf| *path == real;
    assert!(intent.locations.iter().any(|place| is_real(&place.path)));
    let mut edits = intent.preview.iter().filter_map(edited);
    assert!(edits.any(|path| path == real));
    let shown = record.lines_for_people().join("\n");
    assert!(shown.contains("docs/real.txt"), "{shown}");
    assert_eq!(fs::read_to_string(real).unwrap(), "y");
    assert!(fixture.path("src/link.txt").is_symlink());
    Verdict::Passed
}

fn edited(content: &Content) -> Option<&Path> {
    match content {
        Content::Edit(edit) => Some(&edit.path),
        Content::Text(_)
        | Content::Image(_)
        | Content::Audio(_)
        | Content::Resource(_)
        | Content::Link(_)
        | Content::Terminal(_) => None,
    }
}

/// During a session its root is replaced by a symlink to `/`.
async fn root_replaced(case: &Case) -> Verdict {
    let fixture = &case.fixture;
    let toolset = fixture.toolset(&[fixture.root()]);
    fs::rename(fixture.root(), fixture.at("/w/p2")).unwrap();
    symlink(fixture.at("/"), fixture.root()).unwrap();
    assert_eq!(
        fs::read_to_string(fixture.path("etc/hostname")).unwrap(),
        CANARY
    );
    let record = fixture.call_with(&toolset, AllowAll, case.tool(), case.input());
    assert_refused(&record.await, "does not exist");
    fs::remove_file(fixture.root()).unwrap();
    fs::rename(fixture.at("/w/p2"), fixture.root()).unwrap();
    Verdict::Passed
}

/// A policy that denies one directory of the root, by resolved paths.
fn denying(dir: PathBuf) -> impl Policy {
    move |intent: &Intent, _: &SessionContext| {
        let is_denied = intent.touches.iter().any(|touch| match touch {
            Touch::Reads(path) | Touch::Writes(path) | Touch::Deletes(path) => {
                path.starts_with(&dir)
            }
            Touch::Moves { from, to } => from.starts_with(&dir) || to.starts_with(&dir),
            Touch::Runs(_) | Touch::Reaches(_) | Touch::Unknown => false,
        });
        if is_denied {
            Judged::deny("folder", "this folder is denied")
        } else {
            Judged::allow("rest")
        }
    }
}

/// Which paths are protected is tested with the policy; here, that the policy sees the resolved
/// path.
async fn denied_through_a_link(case: &Case, dir: &str) -> Verdict {
    let fixture = &case.fixture;
    fs::create_dir_all(fixture.path(dir)).unwrap();
    let inside = fixture.inside();
    let policy = denying(fixture.path(dir));
    let record = fixture.call(policy, case.tool(), case.input()).await;
    assert_refused(&record, "this folder is denied");
    assert_eq!(fixture.inside(), inside);
    Verdict::Passed
}

async fn hard_link(case: &Case) -> Verdict {
    let record = allowed(case).await;
    assert!(record.is_completed(), "{}", record.reason());
    let read = |path: PathBuf| fs::read_to_string(path).unwrap();
    assert_eq!(read(case.fixture.path("h")), "x");
    assert_eq!(read(case.fixture.at("/w/outside/t")), "orig");
    Verdict::Passed
}

fn assert_nothing_hidden(record: &CallRecord) {
    for line in record.lines_for_people() {
        assert!(!line.contains(is_hidden), "{line:?}");
    }
    let hidden = |c: char| is_hidden(c) && c != '\n' && c != '\t';
    assert!(
        !record.for_model().contains(hidden),
        "{:?}",
        record.for_model()
    );
}

async fn new_line_in_a_name(case: &Case) -> Verdict {
    let record = case.fixture.call(AskAll, case.tool(), case.input()).await;
    assert!(record.is_completed(), "{}", record.reason());
    assert!(
        record.for_model().starts_with('x'),
        "{}",
        record.for_model()
    );
    assert_nothing_hidden(&record);
    // Nor does it add a line to the result.
    let forged = |line: &str| line.starts_with("Approved");
    assert!(
        !record.for_model().lines().any(forged),
        "{}",
        record.for_model()
    );
    Verdict::Passed
}

async fn hidden_in_a_name(case: &Case) -> Verdict {
    let record = case.fixture.call(AskAll, case.tool(), case.input()).await;
    assert!(record.is_completed(), "{}", record.reason());
    assert_nothing_hidden(&record);
    let path = case
        .fixture
        .root()
        .join(case.input()["path"].as_str().unwrap());
    assert_eq!(fs::read_to_string(path).unwrap(), "x");
    Verdict::Passed
}

async fn escape_in_a_name(case: &Case) -> Verdict {
    let record = case.fixture.call(AskAll, case.tool(), case.input()).await;
    assert_refused(&record, "does not exist");
    assert_nothing_hidden(&record);
    Verdict::Passed
}

async fn bytes_in_a_name(case: &Case) -> Verdict {
    fs::write(case.fixture.path("other.txt"), "").unwrap();
    let record = allowed(case).await;
    assert!(record.is_completed(), "{}", record.reason());
    let list = record.for_model();
    for name in ["\u{fffd}\u{fffd}.txt", "other.txt"] {
        assert!(list.contains(name), "{list}");
    }
    assert_nothing_hidden(&record);
    Verdict::Passed
}

async fn huge(case: &Case) -> Verdict {
    let before = Process::own().peak_memory();
    let record = allowed(case).await;
    assert!(
        record.for_model().contains("10737418240 bytes"),
        "{}",
        record.for_model()
    );
    let part = json!({"path": "big", "line": 1, "limit": 10});
    let record = case.fixture.call(AllowAll, "read_file", part).await;
    assert!(record.for_model().len() < 100_000);
    assert!(Process::own().peak_memory() - before < 64 * MIB);
    fs::remove_file(case.fixture.path("big")).unwrap();
    Verdict::Passed
}

/// However much is written meanwhile, a bounded beginning is read, or the size is reported.
async fn growing(case: &Case) -> Verdict {
    const MOST: u64 = 128 * MIB;
    let path = case.fixture.path("log");
    let mut log = fs::File::create(&path).unwrap();
    let is_done = Arc::new(AtomicBool::new(false));
    let seen = is_done.clone();
    let writer = std::thread::spawn(move || {
        let mut written = 0;
        while !seen.load(Ordering::Relaxed) && written < MOST {
            log.write_all(&[b'x'; 4096]).unwrap();
            written += 4096;
        }
    });
    for input in [json!({"path": "log"}), json!({"path": "log", "line": 1})] {
        let record = case.fixture.call(AllowAll, "read_file", input).await;
        assert!(record.for_model().len() < 100_000);
    }
    is_done.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    fs::remove_file(path).unwrap();
    Verdict::Passed
}

async fn move_to_another_device(case: &Case) -> Verdict {
    let fixture = &case.fixture;
    let device = |path: &Path| fs::metadata(path).unwrap().dev();
    let mut candidates = ["/dev/shm", "/tmp", "/var/tmp"].into_iter();
    let other = candidates.find_map(|dir| {
        let dir = tempfile::tempdir_in(dir).ok()?;
        (device(dir.path()) != device(&fixture.root())).then_some(dir)
    });
    let Some(other) = other else {
        return Verdict::Skipped("there is one file system only");
    };
    let other = other.path().canonicalize().unwrap();
    let target = fixture.at("/w/outside/canary");
    symlink(&target, fixture.path("l")).unwrap();
    let toolset = fixture.toolset(&[fixture.root(), other.clone()]);
    let input = json!({"from": "l", "to": other.join("l")});
    let record = fixture
        .call_with(&toolset, AllowAll, case.tool(), input)
        .await;
    assert!(record.is_completed(), "{}", record.reason());
    assert_no_canary(&record);
    assert_eq!(fs::read_link(other.join("l")).unwrap(), target);
    assert_eq!(
        (names(&other), names(&fixture.root())),
        (vec!["l".to_owned()], vec![])
    );
    Verdict::Passed
}

async fn delete_link(case: &Case) -> Verdict {
    let record = allowed(case).await;
    assert!(record.is_completed(), "{}", record.reason());
    assert_no_canary(&record);
    assert_eq!(names(&case.fixture.root()), [""; 0]);
    Verdict::Passed
}

async fn delete_folder_with_link(case: &Case) -> Verdict {
    delete_link(case).await
}

/// The alternatives are not expanded: 24 pairs would be sixteen million patterns.
async fn many_alternatives(case: &Case) -> Verdict {
    let before = Process::own().peak_memory();
    fs::write(case.fixture.path(&"ab".repeat(12)), "x").unwrap();
    let record = allowed(case).await;
    assert!(record.is_completed(), "{}", record.reason());
    assert!(
        record.for_model().contains("1: x"),
        "{}",
        record.for_model()
    );
    assert!(Process::own().peak_memory() - before < 64 * MIB);
    Verdict::Passed
}

fn relative_roots() -> Verdict {
    let state = TestDir::create();
    for relative in ["proj", "../x"] {
        let settings = ToolsetConfig::new(vec![relative.into()], state.path());
        let error = Toolset::open(settings).unwrap_err();
        assert!(matches!(error, ToolsetError::Roots(_)), "{error}");
    }
    Verdict::Passed
}
