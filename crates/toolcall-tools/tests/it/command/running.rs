//! Running commands: what they print, how they end, and their environment.
//! Runs with and without a supervisor are checked against the same table.

use expect_test::{Expect, expect};
use toolcall::{BoxFuture, Effect, Exit, HostError, Judge, RuleName};
use toolcall_tools::command::{Commands, Supervisor};

use crate::command::fixture::{CommandFixture, PATIENT, RecordingConsole};

/// Runs texts one after the other in one root, with and without a supervisor.
async fn check(texts: &[&str], expect: Expect) {
    let mut shown = Vec::new();
    for is_supervised in [true, false] {
        let fixture = CommandFixture::new();
        let commands = if is_supervised {
            fixture.commands()
        } else {
            fixture.alone()
        };
        let mut all = String::new();
        for text in texts {
            let console = RecordingConsole::new();
            let command = fixture.understood(text);
            // As a host calls it.
            let run: BoxFuture<'_, _> = Box::pin(commands.run(&command, &console));
            let ended = run.await;
            let root = fixture.root().display().to_string();
            let printed = console.text().replace(&root, "ROOT");
            all += &format!("{text}\n    {:?} {printed:?}\n", ended.unwrap());
        }
        shown.push(all);
    }
    expect.assert_eq(&shown[0]);
    assert_eq!(shown[0], shown[1]);
}

#[tokio::test]
async fn exits_and_output() {
    check(
        &[
            "echo a; sh -c 'echo b >&2'; echo c",
            "sh -c 'exit 137'",
            "sh -c 'kill -9 $$'",
            "false || echo a | tr a b",
            "no-such-program",
            "printf '\\342'; sleep 0.01; printf '\\202\\254'",
            "cat",
            "pwd",
            "sh -c 'echo $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $TERM ${SSH_ASKPASS-unset}'",
        ],
        expect![[r#"
            echo a; sh -c 'echo b >&2'; echo c
                Code(0) "a\nb\nc\n"
            sh -c 'exit 137'
                Code(137) ""
            sh -c 'kill -9 $$'
                Signal(9) ""
            false || echo a | tr a b
                Code(0) "b\n"
            no-such-program
                Code(127) "`no-such-program` cannot be started: there is no such program\n"
            printf '\342'; sleep 0.01; printf '\202\254'
                Code(0) "€"
            cat
                Code(0) ""
            pwd
                Code(0) "ROOT\n"
            sh -c 'echo $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $TERM ${SSH_ASKPASS-unset}'
                Code(0) "cat cat 0 dumb unset\n"
        "#]],
    )
    .await;
}

#[tokio::test]
async fn bytes_are_handed_on_untouched() {
    let fixture = CommandFixture::new();
    let console = RecordingConsole::approved();
    let command = fixture.unclear(r"printf '\377\000\033]52;c;x\007'; head -c 300000 /dev/zero");
    let ended = fixture.commands().run(&command, &console).await;
    assert_eq!(ended, Ok(Exit::Code(0)));
    let bytes = console.bytes();
    assert_eq!(&bytes[..12], b"\xff\0\x1b]52;c;x\x07\0");
    assert_eq!(bytes.len(), 300_011);
}

#[tokio::test]
async fn variables_of_a_call_reach_its_command() {
    let fixture = CommandFixture::new();
    let console = RecordingConsole::new();
    let mut command = fixture.understood("sh -c 'echo $PAGER $A'");
    command.env.insert("PAGER".into(), "less".into());
    command.env.insert("A".into(), "ä b".into());
    let ended = fixture.commands().run(&command, &console).await;
    assert_eq!(
        (ended, console.text()),
        (Ok(Exit::Code(0)), "less ä b\n".into())
    );
}

/// The user is shown such a command as its text; without a decision it does not run.
#[tokio::test]
async fn what_is_unclear_runs_only_if_it_was_allowed() {
    let fixture = CommandFixture::new();
    let text = "echo $((1 + 1)) > made; cat made";
    let command = fixture.unclear(text);
    let person = Judge::Person(toolcall::Remembered::Once);
    for console in [
        RecordingConsole::new(),
        RecordingConsole::decided(Effect::Allow, Judge::Unseen),
        RecordingConsole::decided(Effect::Deny, person.clone()),
    ] {
        let ended = fixture.commands().run(&command, &console).await;
        let Err(HostError::NotRunnable { reason, .. }) = ended else {
            panic!("{ended:?}");
        };
        let why = "it is not fully understood (nobody has read it), and nobody allowed it";
        assert_eq!(&*reason, why);
        assert!(!fixture.root().join("made").exists());
    }
    for judge in [person, Judge::Rule(RuleName::new("exactly this"))] {
        let console = RecordingConsole::decided(Effect::Allow, judge);
        let ended = fixture.commands().run(&command, &console).await;
        assert_eq!((ended, console.text()), (Ok(Exit::Code(0)), "2\n".into()));
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn programs_see_their_three_streams_and_no_terminal() {
    let fixture = CommandFixture::new();
    let listed = "ls /proc/self/fd | tr '\\n' ' '";
    // The fourth is the directory that `ls` lists.
    let (ended, printed) = fixture.run(listed).await;
    assert_eq!((ended, &*printed), (Ok(Exit::Code(0)), "0 1 2 3 "));
    let (_, printed) = fixture.run("echo a > /dev/tty").await;
    assert!(printed.contains("No such device"), "{printed}");
    let (_, printed) = fixture.run("cut -d' ' -f7 /proc/self/stat").await;
    assert_eq!(printed, "0\n", "the number of its terminal");
    let (_, printed) = fixture.run("ulimit -c").await;
    assert_eq!(printed, "0\n", "no memory image is left behind");
}

#[tokio::test]
async fn what_is_stopped_before_it_began_does_not_begin() {
    let fixture = CommandFixture::new();
    for commands in [fixture.commands(), fixture.alone()] {
        let console = RecordingConsole::new();
        console.stop();
        let command = fixture.understood("touch made");
        commands.run(&command, &console).await.unwrap_err();
        assert!(!fixture.root().join("made").exists());
    }
}

async fn stopped(fixture: &CommandFixture, commands: &Commands, text: &str) -> Exit {
    let console = RecordingConsole::approved();
    let command = fixture.unclear(text);
    let run = commands.run(&command, &console);
    let stop = async {
        console.shows("ready").await;
        console.stop();
    };
    tokio::join!(run, stop).0.unwrap()
}

#[tokio::test]
async fn a_stopped_command_tells_how_it_ended() {
    let fixture = CommandFixture::new();
    for commands in [fixture.commands(), fixture.alone()] {
        let deaf = "trap '' TERM; echo ready; while :; do sleep 1; done";
        let exit = stopped(&fixture, &commands, deaf).await;
        assert_eq!(exit, Exit::Signal(9));
        let commands = commands.with_grace(PATIENT);
        let tidy = "trap 'exit 7' TERM; echo ready; sleep 1000 & wait";
        let exit = stopped(&fixture, &commands, tidy).await;
        assert_eq!(exit, Exit::Code(7));
        let exit = stopped(&fixture, &commands, "echo ready; exec sleep 1000").await;
        assert_eq!(exit, Exit::Signal(15));
    }
}

#[tokio::test]
async fn a_supervisor_that_is_none_is_an_error() {
    let fixture = CommandFixture::new();
    let command = fixture.understood("touch made");
    for (program, why) in [
        ("/no/such/program", "cannot be started"),
        ("/bin/true", "ended before it"),
    ] {
        let commands: Commands = fixture.alone().with_supervisor(Supervisor::at(program));
        let ended = commands.run(&command, &RecordingConsole::new()).await;
        let error = ended.unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    assert!(!fixture.root().join("made").exists());
}

#[tokio::test]
async fn a_root_that_was_replaced_is_an_error() {
    let fixture = CommandFixture::new();
    let commands = fixture.commands();
    std::fs::rename(fixture.root(), fixture.at("old")).unwrap();
    std::fs::create_dir(fixture.root()).unwrap();
    let (ended, _) = fixture.run_with(&commands, "touch made").await;
    let error = ended.unwrap_err().to_string();
    let why = "is not the folder it was when the session began";
    assert!(error.ends_with(why), "{error}");
    assert!(!fixture.root().join("made").exists());
}
