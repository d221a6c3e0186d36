//! Redirects open files beneath the roots, and nothing else.
//! Files outside are compared before and after.

use std::fs;
use std::os::unix::fs::symlink;

use toolcall::Exit;

use crate::command::fixture::{CommandFixture, RecordingConsole};

async fn run(fixture: &CommandFixture, text: &str) -> (Exit, String) {
    let console = RecordingConsole::new();
    let command = fixture.understood(text);
    let ended = fixture.commands().run(&command, &console).await;
    (ended.unwrap(), console.text())
}

#[tokio::test]
async fn redirects_beneath_a_root_work() {
    let fixture = CommandFixture::new();
    fs::create_dir(fixture.root().join("sub")).unwrap();
    symlink("real", fixture.root().join("link")).unwrap();
    for (text, printed) in [
        ("echo long line > real; echo a > real; cat real", "a\n"),
        ("echo b >> real; cat < real", "a\nb\n"),
        ("echo c > link; cat real", "c\n"),
        ("cd sub && echo d > new && cat < new", "d\n"),
    ] {
        assert_eq!(run(&fixture, text).await, (Exit::Code(0), printed.into()));
    }
    assert!(fixture.root().join("link").is_symlink());
    let absolute = format!("echo e > {}/full; cat full", fixture.root().display());
    assert_eq!(run(&fixture, &absolute).await.1, "e\n");
}

#[tokio::test]
async fn redirects_that_lead_outside_open_nothing() {
    let fixture = CommandFixture::new();
    let canary = fixture.at("outside/canary");
    fs::write(&canary, "CANARY").unwrap();
    symlink(&canary, fixture.root().join("file")).unwrap();
    symlink("../outside", fixture.root().join("folder")).unwrap();
    symlink(fixture.at("outside/made"), fixture.root().join("dangling")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, fixture.root().join("pipe"), 0o600.into()).unwrap();
    let outside = canary.display();
    for aim in [
        &*format!("> {outside}"),
        &*format!(">> {outside}"),
        &*format!("< {outside}"),
        "> file",
        ">> file",
        "< file",
        "> folder/canary",
        "< folder/canary",
        "> folder/made",
        "> dangling",
        "> pipe",
        "< pipe",
        "> missing/made",
        "> folder",
    ] {
        let (exit, printed) = run(&fixture, &format!("cat {aim}")).await;
        assert_eq!(exit, Exit::Code(1), "{aim}");
        assert!(printed.contains("cannot be opened"), "{aim}: {printed}");
        assert!(!printed.contains("CANARY"), "{aim}: {printed}");
    }
    assert_eq!(fs::read_to_string(&canary).unwrap(), "CANARY");
    assert_eq!(fs::read_dir(fixture.at("outside")).unwrap().count(), 1);
}
