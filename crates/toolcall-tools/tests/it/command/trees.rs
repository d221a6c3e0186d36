//! Hostile process trees, and every way in which a command can end.
//! Afterwards no process with the command's marker is left.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use toolcall::{Exit, HostError};
use toolcall_testkit::process::{MARK, Process, again, marked, role};

use crate::command::fixture::{CommandFixture, PATIENT, RecordingConsole};

/// Process trees. Each prints `ready` when it is complete; `@` is replaced by its last command.
const TREES: [(&str, &str); 9] = [
    (
        "a plain child that holds the output",
        "sleep 1000 & echo ready; @",
    ),
    (
        "a grandchild in a session of its own",
        "setsid sleep 1000 & echo ready; @",
    ),
    (
        "a double fork",
        "(setsid sh -c 'sleep 1000 & echo ready' &); @",
    ),
    (
        "one that hears nothing",
        "trap '' TERM INT HUP; sh -c 'echo ready; while :; do sleep 1; done' & @",
    ),
    (
        "one that hears nothing, in a session of its own",
        "setsid sh -c 'trap \"\" TERM INT HUP; echo ready; while :; do sleep 1; done' & @",
    ),
    (
        "one that is halted",
        "setsid sh -c 'echo ready; kill -STOP $$; sleep 1000' & @",
    ),
    (
        "one that forks and forks",
        "setsid sh -c 'trap \"\" TERM; echo ready; while :; do (setsid sleep 0.05 &); done' & @",
    ),
    (
        "one that is another one all the time",
        "echo 'setsid sh ./hop &' > hop; sh ./hop; echo ready; @",
    ),
    (
        "many of them",
        "i=0; while [ $i -lt 40 ]; do setsid sh -c 'trap \"\" TERM; sleep 1000 & sleep 1000' & \
         i=$((i+1)); done; echo ready; @",
    ),
];

/// How a process tree ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Natural,
    Stopped,
    Dropped,
    SupervisorKilled,
    ExecutorKilled,
}

async fn end(fixture: &CommandFixture, tree: &str, end: End) -> Option<Result<Exit, HostError>> {
    let last = match end {
        // Ends by itself once the test has seen `ready`.
        End::Natural => "until [ -e go ]; do sleep 0.01; done; exit 3",
        End::Stopped | End::Dropped | End::SupervisorKilled | End::ExecutorKilled => "sleep 1000",
    };
    let console = RecordingConsole::approved();
    let command = fixture.unclear(&tree.replace('@', last));
    let commands = fixture.commands();
    let run = commands.run(&command, &console);
    let meddle = async {
        console.shows("ready").await;
        match end {
            End::Natural => std::fs::write(fixture.root().join("go"), "").unwrap(),
            End::Stopped => console.stop(),
            End::Dropped => return,
            End::ExecutorKilled => kill_process(executor_of(fixture), Signal::KILL).unwrap(),
            End::SupervisorKilled => kill_process(supervisor_of(fixture), Signal::KILL).unwrap(),
        }
        std::future::pending().await
    };
    tokio::select! {
        ended = run => Some(ended),
        () = meddle => None,
    }
}

/// Returns the executor: the parent, without the marker, of a process with the marker.
pub(crate) fn executor_of(fixture: &CommandFixture) -> Pid {
    let name = |pid: &Pid| std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
    let is_executor = |pid: &Pid| name(pid).is_ok_and(|name| name.starts_with("toolcall-executor"));
    let marked = fixture.left();
    let ids = marked
        .iter()
        .filter_map(|id| Pid::from_raw(id.cast_signed()));
    // Some of them may have exited.
    let found = ids.filter_map(parent).find(is_executor);
    found.expect("it is there")
}

/// Returns the process that started the executor.
pub(crate) fn supervisor_of(fixture: &CommandFixture) -> Pid {
    parent(executor_of(fixture)).expect("it is there")
}

fn parent(pid: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    Pid::from_raw(rest.split(' ').nth(1)?.parse().ok()?)
}

#[tokio::test]
async fn nothing_outlives_a_command_that_ends() {
    for (name, tree) in TREES {
        let fixture = CommandFixture::new();
        let ended = end(&fixture, tree, End::Natural).await;
        assert_eq!(ended, Some(Ok(Exit::Code(3))), "{name}");
        // Not only soon after: they are gone when the end is reported.
        assert_eq!(fixture.left(), [0; 0], "{name}");
        fixture.assert_nothing_is_left();
    }
}

#[tokio::test]
async fn nothing_outlives_a_command_that_is_stopped() {
    for (name, tree) in TREES {
        let fixture = CommandFixture::new();
        let ended = end(&fixture, tree, End::Stopped).await;
        assert!(
            matches!(ended, Some(Ok(Exit::Signal(_)))),
            "{name}: {ended:?}"
        );
        assert_eq!(fixture.left(), [0; 0], "{name}");
    }
}

#[tokio::test]
async fn nothing_outlives_a_command_that_is_dropped() {
    for (name, tree) in TREES {
        let fixture = CommandFixture::new();
        let ended = end(&fixture, tree, End::Dropped).await;
        assert_eq!(ended, None, "{name}");
        fixture.assert_nothing_is_left();
    }
}

#[tokio::test]
async fn nothing_outlives_a_command_that_kills_its_supervisor() {
    for (name, tree) in TREES {
        let fixture = CommandFixture::new();
        let ended = end(&fixture, tree, End::SupervisorKilled).await;
        let error = ended.unwrap().unwrap_err().to_string();
        assert!(
            error.contains("supervisor ended before it (signal: 9"),
            "{name}: {error}"
        );
        fixture.assert_nothing_is_left();
    }
}

#[tokio::test]
async fn nothing_outlives_a_command_that_kills_its_executor() {
    for (name, tree) in TREES {
        let fixture = CommandFixture::new();
        let ended = end(&fixture, tree, End::ExecutorKilled).await;
        let error = ended.unwrap().unwrap_err().to_string();
        assert!(
            error.ends_with("ended from outside by signal 9"),
            "{name}: {error}"
        );
        assert_eq!(fixture.left(), [0; 0], "{name}");
    }
}

/// Processes that left the command's group are signalled like those in it, and get the same grace.
#[tokio::test]
async fn a_stray_gets_its_grace() {
    let fixture = CommandFixture::new();
    let console = RecordingConsole::approved();
    let stray = "trap 'sleep 0.05; echo tidied; exit' TERM; echo ready; sleep 1000 & wait";
    let command = fixture.unclear(&format!("setsid sh -c \"{stray}\" & sleep 1000"));
    let commands = fixture.commands().with_grace(PATIENT);
    let run = commands.run(&command, &console);
    let stop = async {
        console.shows("ready").await;
        console.stop();
        // The stray's own child ignores the signal, and would be waited for.
        console.shows("tidied").await;
        fixture.left().iter().for_each(|id| {
            let pid = Pid::from_raw(id.cast_signed()).unwrap();
            kill_process(pid, Signal::KILL).ok();
        });
    };
    let (ended, ()) = tokio::join!(run, stop);
    assert_eq!(ended, Ok(Exit::Signal(15)));
    assert_eq!(fixture.left(), [0; 0]);
}

/// A killed caller cannot clean up, so this test starts itself as the caller.
#[tokio::test]
async fn nothing_outlives_a_caller_that_is_killed() {
    if let Some(tree) = role() {
        let fixture = CommandFixture::new();
        let console = RecordingConsole::approved();
        let command = fixture.unclear(&tree);
        let run = fixture.commands();
        // Its output shows the parent test that the tree is complete.
        let run = run.run(&command, &console);
        let tell = async {
            console.shows("ready").await;
            println!("ready");
            std::future::pending::<()>().await;
        };
        tokio::join!(run, tell).0.unwrap();
    }
    for (_, tree) in TREES {
        let fixture = CommandFixture::new();
        let test = "command::trees::nothing_outlives_a_caller_that_is_killed";
        let caller = again(test, tree.replace('@', "sleep 1000"))
            .env(MARK, &*fixture.mark)
            .stdout(Stdio::piped())
            .spawn();
        let mut caller = caller.unwrap();
        wait_for_ready(caller.stdout.take().unwrap());
        assert!(marked(&fixture.mark).len() > 1);
        caller.kill().unwrap();
        caller.wait().unwrap();
        fixture.assert_nothing_is_left();
    }
}

fn wait_for_ready(output: std::process::ChildStdout) {
    use std::io::BufRead as _;
    let mut lines = std::io::BufReader::new(output).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("ready")));
}

/// Without a supervisor, only processes that stay in the command's group are ended.
#[tokio::test]
async fn a_group_ends_without_a_supervisor_too() {
    let fixture = CommandFixture::new();
    let commands = fixture.alone().with_grace(Duration::from_millis(50));
    let text = "trap '' TERM; sleep 1000 & echo ready; exit 3";
    let (ended, _) = fixture.run_with(&commands, text).await;
    assert_eq!(ended, Ok(Exit::Code(3)));
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn zombies_are_reaped_while_a_command_runs() {
    let fixture = CommandFixture::new();
    let console = RecordingConsole::approved();
    let command = fixture.unclear(
        "i=0; while [ $i -lt 50 ]; do (true &); i=$((i+1)); done; echo ready; exec sleep 1000",
    );
    let commands = fixture.commands();
    let run = commands.run(&command, &console);
    let look = async {
        console.shows("ready").await;
        let supervisor = supervisor_of(&fixture);
        while zombies_of(supervisor) > 0 {
            tokio::task::yield_now().await;
        }
        console.stop();
    };
    let (ended, ()) = tokio::join!(run, look);
    assert_eq!(ended, Ok(Exit::Signal(15)));
}

fn zombies_of(pid: Pid) -> usize {
    let of_it = format!(") Z {pid} ");
    let zombies = Process::all().filter(|process| process.stat().contains(&of_it));
    zombies.count()
}
