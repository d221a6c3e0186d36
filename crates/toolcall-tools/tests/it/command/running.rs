//! What runs, what is printed, how it ended, and what programs find around them.
//! Both ways of running are held to the same table.

use expect_test::{Expect, expect};
use toolcall::{BoxFuture, Effect, Exit, HostError, Judge, RuleName};
use toolcall_tools::command::{Commands, Supervisor};

use crate::command::ground::{Ground, PATIENT, Screen};

/// Runs texts one after the other in one root, with and without a supervisor.
async fn check(texts: &[&str], expect: Expect) {
    let mut shown = Vec::new();
    for is_supervised in [true, false] {
        let ground = Ground::new();
        let commands = match is_supervised {
            true => ground.commands(),
            false => ground.alone(),
        };
        let mut all = String::new();
        for text in texts {
            let screen = Screen::new();
            let command = ground.understood(text);
            // A host hands it on like this.
            let run: BoxFuture<'_, _> = Box::pin(commands.run(&command, &screen));
            let ended = run.await;
            let root = ground.root().display().to_string();
            let printed = screen.text().replace(&root, "ROOT");
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
    let ground = Ground::new();
    let screen = Screen::approved();
    let command = ground.unclear(r"printf '\377\000\033]52;c;x\007'; head -c 300000 /dev/zero");
    let ended = ground.commands().run(&command, &screen).await;
    assert_eq!(ended, Ok(Exit::Code(0)));
    let bytes = screen.bytes();
    assert_eq!(&bytes[..12], b"\xff\0\x1b]52;c;x\x07\0");
    assert_eq!(bytes.len(), 300_011);
}

#[tokio::test]
async fn variables_of_a_call_reach_its_command() {
    let ground = Ground::new();
    let screen = Screen::new();
    let mut command = ground.understood("sh -c 'echo $PAGER $A'");
    command.env.insert("PAGER".into(), "less".into());
    command.env.insert("A".into(), "ä b".into());
    let ended = ground.commands().run(&command, &screen).await;
    assert_eq!(
        (ended, screen.text()),
        (Ok(Exit::Code(0)), "less ä b\n".into())
    );
}

/// What a person is shown for such a text is the text; silence is no yes to it.
#[tokio::test]
async fn what_is_unclear_runs_only_if_it_was_allowed() {
    let ground = Ground::new();
    let text = "echo $((1 + 1)) > made; cat made";
    let command = ground.unclear(text);
    let person = Judge::Person(toolcall::Remembered::Once);
    for screen in [
        Screen::new(),
        Screen::decided(Effect::Allow, Judge::Unseen),
        Screen::decided(Effect::Deny, person.clone()),
    ] {
        let ended = ground.commands().run(&command, &screen).await;
        let Err(HostError::NotRunnable { reason, .. }) = ended else {
            panic!("{ended:?}");
        };
        let why = "it is not fully understood (nobody has read it), and nobody allowed it";
        assert_eq!(&*reason, why);
        assert!(!ground.root().join("made").exists());
    }
    for judge in [person, Judge::Rule(RuleName::new("exactly this"))] {
        let screen = Screen::decided(Effect::Allow, judge);
        let ended = ground.commands().run(&command, &screen).await;
        assert_eq!((ended, screen.text()), (Ok(Exit::Code(0)), "2\n".into()));
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn programs_see_their_three_streams_and_no_terminal() {
    let ground = Ground::new();
    let listed = "ls /proc/self/fd | tr '\\n' ' '";
    // The fourth is the folder that is listed.
    let (ended, printed) = ground.run(listed).await;
    assert_eq!((ended, &*printed), (Ok(Exit::Code(0)), "0 1 2 3 "));
    let (_, printed) = ground.run("echo a > /dev/tty").await;
    assert!(printed.contains("No such device"), "{printed}");
    let (_, printed) = ground.run("cut -d' ' -f7 /proc/self/stat").await;
    assert_eq!(printed, "0\n", "the number of its terminal");
    let (_, printed) = ground.run("ulimit -c").await;
    assert_eq!(printed, "0\n", "no memory image is left behind");
}

#[tokio::test]
async fn what_is_stopped_before_it_began_does_not_begin() {
    let ground = Ground::new();
    for commands in [ground.commands(), ground.alone()] {
        let screen = Screen::new();
        screen.stop();
        let command = ground.understood("touch made");
        commands.run(&command, &screen).await.unwrap_err();
        assert!(!ground.root().join("made").exists());
    }
}

async fn stopped(ground: &Ground, commands: &Commands, text: &str) -> Exit {
    let screen = Screen::approved();
    let command = ground.unclear(text);
    let run = commands.run(&command, &screen);
    let stop = async {
        screen.shows("ready").await;
        screen.stop();
    };
    tokio::join!(run, stop).0.unwrap()
}

#[tokio::test]
async fn a_stopped_command_tells_how_it_ended() {
    let ground = Ground::new();
    for commands in [ground.commands(), ground.alone()] {
        let deaf = "trap '' TERM; echo ready; while :; do sleep 1; done";
        let exit = stopped(&ground, &commands, deaf).await;
        assert_eq!(exit, Exit::Signal(9));
        let commands = commands.with_grace(PATIENT);
        let tidy = "trap 'exit 7' TERM; echo ready; sleep 1000 & wait";
        let exit = stopped(&ground, &commands, tidy).await;
        assert_eq!(exit, Exit::Code(7));
        let exit = stopped(&ground, &commands, "echo ready; exec sleep 1000").await;
        assert_eq!(exit, Exit::Signal(15));
    }
}

#[tokio::test]
async fn a_supervisor_that_is_none_is_an_error() {
    let ground = Ground::new();
    let command = ground.understood("touch made");
    for (program, why) in [
        ("/no/such/program", "cannot be started"),
        ("/bin/true", "ended before it"),
    ] {
        let commands: Commands = ground.alone().with_supervisor(Supervisor::at(program));
        let ended = commands.run(&command, &Screen::new()).await;
        let error = ended.unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    assert!(!ground.root().join("made").exists());
}

#[tokio::test]
async fn a_root_that_was_replaced_is_an_error() {
    let ground = Ground::new();
    let commands = ground.commands();
    std::fs::rename(ground.root(), ground.at("old")).unwrap();
    std::fs::create_dir(ground.root()).unwrap();
    let (ended, _) = ground.run_with(&commands, "touch made").await;
    let error = ended.unwrap_err().to_string();
    let why = "is not the folder it was when the session began";
    assert!(error.ends_with(why), "{error}");
    assert!(!ground.root().join("made").exists());
}
