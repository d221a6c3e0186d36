//! Hostile trees of processes, and every way in which a command can come to its end.
//! After each, no process carries the mark of the command.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use toolcall::{Exit, HostError};
use toolcall_testkit::process::{MARK, Process, again, marked, role};

use crate::command::ground::{Ground, PATIENT, Screen};

/// Every tree says `ready` when it stands. `@` is where the last of it goes on or ends.
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

/// How a tree comes to its end.
#[derive(Clone, Copy, Debug)]
enum End {
    Natural,
    Stopped,
    Dropped,
    SupervisorKilled,
    ExecutorKilled,
}

async fn end(ground: &Ground, tree: &str, end: End) -> Option<Result<Exit, HostError>> {
    let last = match end {
        // It ends as soon as it is told that everything stands.
        End::Natural => "until [ -e go ]; do sleep 0.01; done; exit 3",
        End::Stopped | End::Dropped | End::SupervisorKilled | End::ExecutorKilled => "sleep 1000",
    };
    let screen = Screen::approved();
    let command = ground.unclear(&tree.replace('@', last));
    let commands = ground.commands();
    let run = commands.run(&command, &screen);
    let meddle = async {
        screen.shows("ready").await;
        match end {
            End::Natural => std::fs::write(ground.root().join("go"), "").unwrap(),
            End::Stopped => screen.stop(),
            End::Dropped => return,
            End::ExecutorKilled => kill_process(executor_of(ground), Signal::KILL).unwrap(),
            End::SupervisorKilled => kill_process(supervisor_of(ground), Signal::KILL).unwrap(),
        }
        std::future::pending().await
    };
    tokio::select! {
        ended = run => Some(ended),
        () = meddle => None,
    }
}

/// The executor: it does not carry the mark, and its child does.
pub(crate) fn executor_of(ground: &Ground) -> Pid {
    let name = |pid: &Pid| std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
    let is_executor = |pid: &Pid| name(pid).is_ok_and(|name| name.starts_with("toolcall-executor"));
    let marked = ground.left();
    let ids = marked
        .iter()
        .filter_map(|id| Pid::from_raw(id.cast_signed()));
    // Some of them may be gone by now.
    let found = ids.filter_map(parent).find(is_executor);
    found.expect("it is there")
}

/// The process that started the executor.
pub(crate) fn supervisor_of(ground: &Ground) -> Pid {
    parent(executor_of(ground)).expect("it is there")
}

fn parent(pid: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    Pid::from_raw(rest.split(' ').nth(1)?.parse().ok()?)
}

#[tokio::test]
async fn nothing_outlives_a_command_that_ends() {
    for (name, tree) in TREES {
        let ground = Ground::new();
        let ended = end(&ground, tree, End::Natural).await;
        assert_eq!(ended, Some(Ok(Exit::Code(3))), "{name}");
        // Not only soon: when the end is told, they are gone.
        assert_eq!(ground.left(), [0; 0], "{name}");
        ground.assert_nothing_is_left();
    }
}

#[tokio::test]
async fn nothing_outlives_a_command_that_is_stopped() {
    for (name, tree) in TREES {
        let ground = Ground::new();
        let ended = end(&ground, tree, End::Stopped).await;
        assert!(
            matches!(ended, Some(Ok(Exit::Signal(_)))),
            "{name}: {ended:?}"
        );
        assert_eq!(ground.left(), [0; 0], "{name}");
    }
}

#[tokio::test]
async fn nothing_outlives_a_command_that_is_dropped() {
    for (name, tree) in TREES {
        let ground = Ground::new();
        let ended = end(&ground, tree, End::Dropped).await;
        assert_eq!(ended, None, "{name}");
        ground.assert_nothing_is_left();
    }
}

#[tokio::test]
async fn nothing_outlives_a_command_that_kills_its_supervisor() {
    for (name, tree) in TREES {
        let ground = Ground::new();
        let ended = end(&ground, tree, End::SupervisorKilled).await;
        let error = ended.unwrap().unwrap_err().to_string();
        assert!(
            error.contains("supervisor ended before it (signal: 9"),
            "{name}: {error}"
        );
        ground.assert_nothing_is_left();
    }
}

#[tokio::test]
async fn nothing_outlives_a_command_that_kills_its_executor() {
    for (name, tree) in TREES {
        let ground = Ground::new();
        let ended = end(&ground, tree, End::ExecutorKilled).await;
        let error = ended.unwrap().unwrap_err().to_string();
        assert!(
            error.ends_with("ended from outside by signal 9"),
            "{name}: {error}"
        );
        assert_eq!(ground.left(), [0; 0], "{name}");
    }
}

/// Those who left the command's group are told to end like those in it, and get the same time.
#[tokio::test]
async fn a_stray_gets_its_grace() {
    let ground = Ground::new();
    let screen = Screen::approved();
    let stray = "trap 'sleep 0.05; echo tidied; exit' TERM; echo ready; sleep 1000 & wait";
    let command = ground.unclear(&format!("setsid sh -c \"{stray}\" & sleep 1000"));
    let commands = ground.commands().with_grace(PATIENT);
    let run = commands.run(&command, &screen);
    let stop = async {
        screen.shows("ready").await;
        screen.stop();
        // The stray's own child hears nothing of it, and would be waited for.
        screen.shows("tidied").await;
        ground.left().iter().for_each(|id| {
            let pid = Pid::from_raw(id.cast_signed()).unwrap();
            kill_process(pid, Signal::KILL).ok();
        });
    };
    let (ended, ()) = tokio::join!(run, stop);
    assert_eq!(ended, Ok(Exit::Signal(15)));
    assert_eq!(ground.left(), [0; 0]);
}

/// A caller that is killed has no chance to clean up, so this test is the caller of itself.
#[tokio::test]
async fn nothing_outlives_a_caller_that_is_killed() {
    if let Some(tree) = role() {
        let ground = Ground::new();
        let screen = Screen::approved();
        let command = ground.unclear(&tree);
        let run = ground.commands();
        // What it prints shows the one who kills it that the tree stands.
        let run = run.run(&command, &screen);
        let tell = async {
            screen.shows("ready").await;
            println!("ready");
            std::future::pending::<()>().await;
        };
        tokio::join!(run, tell).0.unwrap();
    }
    for (_, tree) in TREES {
        let ground = Ground::new();
        let test = "command::trees::nothing_outlives_a_caller_that_is_killed";
        let caller = again(test, tree.replace('@', "sleep 1000"))
            .env(MARK, &*ground.mark)
            .stdout(Stdio::piped())
            .spawn();
        let mut caller = caller.unwrap();
        wait_for_ready(caller.stdout.take().unwrap());
        assert!(marked(&ground.mark).len() > 1);
        caller.kill().unwrap();
        caller.wait().unwrap();
        ground.assert_nothing_is_left();
    }
}

fn wait_for_ready(output: std::process::ChildStdout) {
    use std::io::BufRead as _;
    let mut lines = std::io::BufReader::new(output).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("ready")));
}

/// Without a supervisor less is promised: what stays in the command's group goes.
#[tokio::test]
async fn a_group_ends_without_a_supervisor_too() {
    let ground = Ground::new();
    let commands = ground.alone().with_grace(Duration::from_millis(50));
    let text = "trap '' TERM; sleep 1000 & echo ready; exit 3";
    let (ended, _) = ground.run_with(&commands, text).await;
    assert_eq!(ended, Ok(Exit::Code(3)));
    ground.assert_nothing_is_left();
}

#[tokio::test]
async fn zombies_are_reaped_while_a_command_runs() {
    let ground = Ground::new();
    let screen = Screen::approved();
    let command = ground.unclear(
        "i=0; while [ $i -lt 50 ]; do (true &); i=$((i+1)); done; echo ready; exec sleep 1000",
    );
    let commands = ground.commands();
    let run = commands.run(&command, &screen);
    let look = async {
        screen.shows("ready").await;
        let supervisor = supervisor_of(&ground);
        while zombies_of(supervisor) > 0 {
            tokio::task::yield_now().await;
        }
        screen.stop();
    };
    let (ended, ()) = tokio::join!(run, look);
    assert_eq!(ended, Ok(Exit::Signal(15)));
}

fn zombies_of(pid: Pid) -> usize {
    let of_it = format!(") Z {pid} ");
    let zombies = Process::all().filter(|process| process.stat().contains(&of_it));
    zombies.count()
}
