//! Runs real programs briefly.
//! No test sleeps: slow programs are stopped, and their end is awaited.

use std::future::{pending, ready};
use std::path::PathBuf;
use std::sync::Arc;

use expect_test::{Expect, expect};
use tempfile::TempDir;
use tokio::sync::Notify;
use toolcall::Reading;

use super::*;

/// A directory and what runs in it.
struct Place {
    dir: TempDir,
    env: BTreeMap<OsString, OsString>,
}

impl Place {
    fn new() -> Self {
        Self {
            dir: TempDir::new().expect("a directory"),
            env: BTreeMap::from([
                ("PATH".into(), "/usr/bin:/bin".into()),
                ("LC_ALL".into(), "C".into()),
            ]),
        }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().expect("it is there")
    }

    fn environment(&self, grace: Duration) -> RunEnvironment<'_> {
        RunEnvironment {
            env: &self.env,
            files: &DiskFiles,
            grace,
        }
    }

    fn parts(&self, text: &str) -> Vec<Part> {
        match crate::read(text, &self.path()) {
            Reading::Understood(parts) => parts,
            Reading::Unclear(why) => panic!("{text}: {why}"),
        }
    }

    async fn run(&self, text: &str) -> String {
        let mut output = Vec::new();
        let print = |bytes: &[u8]| output.extend_from_slice(bytes);
        let environment = self.environment(GRACE);
        let exit = run(&self.parts(text), &environment, print, pending()).await;
        let output = String::from_utf8_lossy(&output).into_owned();
        let output = output.replace(&*self.path().to_string_lossy(), "DIR");
        format!("{:?} {output:?}", exit.expect("it runs"))
    }
}

const GRACE: Duration = Duration::from_secs(5);

async fn check(texts: &[&str], expect: Expect) {
    let place = Place::new();
    std::fs::create_dir(place.path().join("sub")).expect("a directory");
    std::fs::write(place.path().join("plain"), "text").expect("a file");
    let mut all = String::new();
    for text in texts {
        all += &format!("{text}\n    {}\n", place.run(text).await);
    }
    expect.assert_eq(&all);
}

#[tokio::test]
async fn parts_run_when_their_turn_comes() {
    check(
        &[
            "echo a; echo b",
            "true && echo a || echo b",
            "false && echo a || echo b",
            "true || echo a && echo b",
            "false; echo a",
            "echo a; false",
            "sh -c 'exit 3' || sh -c 'exit 4'",
            "sh -c 'kill -9 $$'",
            "sh -c 'kill -9 $$' || echo a",
        ],
        expect![[r#"
            echo a; echo b
                Code(0) "a\nb\n"
            true && echo a || echo b
                Code(0) "a\n"
            false && echo a || echo b
                Code(0) "b\n"
            true || echo a && echo b
                Code(0) "b\n"
            false; echo a
                Code(0) "a\n"
            echo a; false
                Code(1) "a\n"
            sh -c 'exit 3' || sh -c 'exit 4'
                Code(4) ""
            sh -c 'kill -9 $$'
                Signal(9) ""
            sh -c 'kill -9 $$' || echo a
                Code(0) "a\n"
        "#]],
    )
    .await;
}

#[tokio::test]
async fn pipes_carry_what_is_printed() {
    check(
        &[
            "printf 'b\\na\\n' | sort",
            "printf 'b\\na\\n' | sort | head -n 1 | tr a x",
            "false | true",
            "true | false",
            "yes | head -n 2",
            "cat",
            "echo a | cat | cat; echo b | cat",
        ],
        expect![[r#"
            printf 'b\na\n' | sort
                Code(0) "a\nb\n"
            printf 'b\na\n' | sort | head -n 1 | tr a x
                Code(0) "x\n"
            false | true
                Code(0) ""
            true | false
                Code(1) ""
            yes | head -n 2
                Code(0) "y\ny\n"
            cat
                Code(0) ""
            echo a | cat | cat; echo b | cat
                Code(0) "a\nb\n"
        "#]],
    )
    .await;
}

#[tokio::test]
async fn redirects_lead_where_they_say() {
    check(
        &[
            "echo a > x; cat x",
            "echo b >> x; cat x",
            "echo c > x; cat < x",
            "cat missing 2>/dev/null || echo gone",
            "sh -c 'echo out; echo err >&2' 2>&1 | sort",
            "sh -c 'echo out; echo err >&2' >/dev/null 2>&1",
            "sh -c 'echo out; echo err >&2' 2>&1 >/dev/null",
            "sh -c 'echo out; echo err >&2' 2>e | cat; cat e",
            "cat < missing; echo after",
            "echo a > sub; echo after",
            "cd sub && echo a > here && cat here",
        ],
        expect![[r#"
            echo a > x; cat x
                Code(0) "a\n"
            echo b >> x; cat x
                Code(0) "a\nb\n"
            echo c > x; cat < x
                Code(0) "c\n"
            cat missing 2>/dev/null || echo gone
                Code(0) "gone\n"
            sh -c 'echo out; echo err >&2' 2>&1 | sort
                Code(0) "err\nout\n"
            sh -c 'echo out; echo err >&2' >/dev/null 2>&1
                Code(0) ""
            sh -c 'echo out; echo err >&2' 2>&1 >/dev/null
                Code(0) "err\n"
            sh -c 'echo out; echo err >&2' 2>e | cat; cat e
                Code(0) "out\nerr\n"
            cat < missing; echo after
                Code(0) "`DIR/missing` cannot be opened: No such file or directory (os error 2)\nafter\n"
            echo a > sub; echo after
                Code(0) "`DIR/sub` cannot be opened: Is a directory (os error 21)\nafter\n"
            cd sub && echo a > here && cat here
                Code(0) "a\n"
        "#]],
    )
    .await;
}

#[tokio::test]
async fn programs_that_cannot_start_are_named() {
    check(
        &[
            "no-such-program a",
            "no-such-program || echo b",
            "no-such-program 2>/dev/null",
            "no-such-program 2>&1 | cat",
            "echo a | no-such-program",
            "./plain",
            "./sub",
            "./missing",
            ".. a",
            "cd missing && echo a",
            "echo a; cd missing && echo b | cat",
        ],
        expect![[r#"
            no-such-program a
                Code(127) "`no-such-program` cannot be started: there is no such program\n"
            no-such-program || echo b
                Code(0) "`no-such-program` cannot be started: there is no such program\nb\n"
            no-such-program 2>/dev/null
                Code(127) ""
            no-such-program 2>&1 | cat
                Code(0) "`no-such-program` cannot be started: there is no such program\n"
            echo a | no-such-program
                Code(127) "`no-such-program` cannot be started: there is no such program\n"
            ./plain
                Code(126) "`./plain` cannot be started: it is not executable\n"
            ./sub
                Code(126) "`./sub` cannot be started: it is not executable\n"
            ./missing
                Code(127) "`./missing` cannot be started: there is no such program\n"
            .. a
                Code(127) "`..` cannot be started: there is no such program\n"
            cd missing && echo a
                Code(1) "`DIR/missing` cannot be entered\n"
            echo a; cd missing && echo b | cat
                Code(1) "a\n`DIR/missing` cannot be entered\n"
        "#]],
    )
    .await;
}

#[tokio::test]
async fn directories_and_environment_are_as_they_were_given() {
    check(
        &[
            "pwd; cd sub && pwd",
            "sh -c 'echo $PWD'",
            "cd sub && sh -c 'echo $PWD'",
            "env",
            "cd sub && ../plain",
        ],
        expect![[r#"
            pwd; cd sub && pwd
                Code(0) "DIR\nDIR/sub\n"
            sh -c 'echo $PWD'
                Code(0) "DIR\n"
            cd sub && sh -c 'echo $PWD'
                Code(0) "DIR/sub\n"
            env
                Code(0) "LC_ALL=C\nPATH=/usr/bin:/bin\nPWD=DIR\n"
            cd sub && ../plain
                Code(126) "`../plain` cannot be started: it is not executable\n"
        "#]],
    )
    .await;
}

#[tokio::test]
async fn nothing_to_run_is_an_error() {
    let place = Place::new();
    let result = run(&[], &place.environment(GRACE), |_| {}, pending()).await;
    assert_eq!(
        result.unwrap_err().to_string(),
        "there is no program to run"
    );
}

/// Whether a process exists and is not just waiting to be reaped.
fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().unwrap_or_default();
    !state.is_empty() && !state.starts_with('Z')
}

async fn wait_for_end(pid: &str) {
    let ends = async {
        while is_alive(pid) {
            tokio::task::yield_now().await;
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(60), ends).await;
    ended.expect("it is still there");
}

/// Runs a command until it prints a line, stops it, and returns its exit status and that line.
async fn stopped(place: &Place, text: &str, grace: Duration) -> (Exit, String) {
    let printed = Arc::new(Notify::new());
    let mut output = Vec::new();
    let print = |bytes: &[u8]| {
        output.extend_from_slice(bytes);
        printed.notify_one();
    };
    let environment = place.environment(grace);
    let exit = run(&place.parts(text), &environment, print, printed.notified()).await;
    let output = String::from_utf8(output).expect("it prints text");
    (exit.expect("it runs"), output)
}

#[tokio::test]
async fn what_is_stopped_before_it_began_does_not_begin() {
    let place = Place::new();
    let parts = place.parts("echo a > made");
    let result = run(&parts, &place.environment(GRACE), |_| {}, ready(())).await;
    assert!(matches!(result, Err(RunError::Stopped)), "{result:?}");
    assert!(!place.path().join("made").exists());
}

#[tokio::test]
async fn a_stopped_command_gets_a_signal_to_end() {
    let place = Place::new();
    let text = "sh -c 'trap \"exit 7\" TERM; echo ready; sleep 1000 & wait'";
    let (exit, _) = stopped(&place, text, GRACE).await;
    assert_eq!(exit, Exit::Code(7));
    let (exit, _) = stopped(&place, "yes", GRACE).await;
    assert_eq!(exit, Exit::Signal(15));
}

#[tokio::test]
async fn a_command_that_will_not_end_is_killed_with_its_children() {
    let place = Place::new();
    let text = "true; sh -c 'trap \"\" TERM; sleep 1000 & echo $!; wait' | cat";
    let (exit, output) = stopped(&place, text, Duration::from_millis(50)).await;
    assert_eq!(exit, Exit::Signal(15), "the reader ends on the signal");
    wait_for_end(output.trim()).await;
}

#[tokio::test]
async fn a_dropped_command_is_ended_with_its_children() {
    let place = Place::new();
    let text = "true; sh -c 'sleep 1000 & echo $!; wait'";
    let printed = Arc::new(Notify::new());
    let mut output = Vec::new();
    let parts = place.parts(text);
    {
        let environment = place.environment(GRACE);
        let print = |bytes: &[u8]| {
            output.extend_from_slice(bytes);
            printed.notify_one();
        };
        tokio::select! {
            _ = run(&parts, &environment, print, pending()) => panic!("it does not end by itself"),
            () = printed.notified() => {}
        }
    }
    let pid = String::from_utf8(output).expect("a number");
    wait_for_end(pid.trim()).await;
}

#[tokio::test]
async fn what_a_command_leaves_behind_goes_with_it() {
    let place = Place::new();
    let shown = place.run("sh -c 'sleep 1000 & echo $!'; echo done").await;
    let pid: String = shown
        .chars()
        .skip_while(|c| *c != '"')
        .filter(char::is_ascii_digit)
        .collect();
    wait_for_end(&pid).await;
    assert!(shown.ends_with("done\\n\""), "{shown}");
}

#[tokio::test]
async fn a_flood_is_handed_on_in_small_pieces() {
    let place = Place::new();
    let (mut total, mut largest) = (0, 0);
    let print = |bytes: &[u8]| {
        total += bytes.len();
        largest = largest.max(bytes.len());
    };
    let parts = place.parts("head -c 20000000 /dev/zero");
    let exit = run(&parts, &place.environment(GRACE), print, pending()).await;
    assert_eq!((exit.expect("it runs"), total), (Exit::Code(0), 20_000_000));
    assert!(largest <= 16 * 1024);
}

#[test]
fn only_regular_files_are_opened() {
    let place = Place::new();
    let fifo = place.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("mkfifo runs").success());
    for access in [Access::Read, Access::Replace, Access::Append] {
        assert!(DiskFiles.open(&fifo, access).is_err());
        assert!(DiskFiles.open("/dev/zero".as_ref(), access).is_err());
    }
}

#[tokio::test]
async fn output_can_go_straight_into_a_file() {
    let place = Place::new();
    let path = place.path().join("printed");
    let file = File::create(&path).expect("a file");
    let parts = place.parts("sh -c 'echo out; echo err >&2'; no-such-program");
    let environment = place.environment(GRACE);
    let exit = run_into(&parts, &environment, file.into(), pending()).await;
    assert_eq!(exit.expect("it runs"), Exit::Code(127));
    let printed = std::fs::read_to_string(path).expect("it is there");
    let said = "`no-such-program` cannot be started: there is no such program";
    assert_eq!(printed, format!("out\nerr\n{said}\n"));
}

/// Regression: a timeout never fired, because the reader was slower than `yes` writes.
#[tokio::test]
async fn a_command_that_prints_without_end_lets_others_run() {
    let place = Place::new();
    let (parts, environment) = (place.parts("yes"), place.environment(GRACE));
    let enough = Arc::new(Notify::new());
    let (wanted, mut pieces) = (enough.clone(), 0);
    let print = |bytes: &[u8]| {
        pieces += 1;
        // Slower than the command.
        for _ in 0..20 {
            assert!(std::hint::black_box(bytes).iter().all(u8::is_ascii));
        }
        if pieces == 100 {
            enough.notify_one();
        }
    };
    let stop = Arc::new(Notify::new());
    let stopped = stop.clone();
    // Another task has to run for the command to end.
    let stopping = tokio::spawn(async move {
        wanted.notified().await;
        stop.notify_one();
    });
    let exit = run(&parts, &environment, print, stopped.notified()).await;
    assert_eq!(exit.expect("it runs"), Exit::Signal(15));
    stopping.await.expect("it ran");
    assert!(pieces < 1_000, "it came late: after {pieces} pieces");
}
