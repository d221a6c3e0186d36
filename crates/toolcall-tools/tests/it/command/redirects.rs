//! Redirects open what lies beneath the roots, and nothing else.
//! What is outside is compared before and after.

use std::fs;
use std::os::unix::fs::symlink;

use toolcall::Exit;

use crate::command::ground::{Ground, Screen};

async fn run(ground: &Ground, text: &str) -> (Exit, String) {
    let screen = Screen::new();
    let command = ground.understood(text);
    let ended = ground.commands().run(&command, &screen).await;
    (ended.unwrap(), screen.text())
}

#[tokio::test]
async fn redirects_beneath_a_root_work() {
    let ground = Ground::new();
    fs::create_dir(ground.root().join("sub")).unwrap();
    symlink("real", ground.root().join("link")).unwrap();
    for (text, printed) in [
        ("echo long line > real; echo a > real; cat real", "a\n"),
        ("echo b >> real; cat < real", "a\nb\n"),
        ("echo c > link; cat real", "c\n"),
        ("cd sub && echo d > new && cat < new", "d\n"),
    ] {
        assert_eq!(run(&ground, text).await, (Exit::Code(0), printed.into()));
    }
    assert!(ground.root().join("link").is_symlink());
    let absolute = format!("echo e > {}/full; cat full", ground.root().display());
    assert_eq!(run(&ground, &absolute).await.1, "e\n");
}

#[tokio::test]
async fn redirects_that_lead_outside_open_nothing() {
    let ground = Ground::new();
    let canary = ground.at("outside/canary");
    fs::write(&canary, "CANARY").unwrap();
    symlink(&canary, ground.root().join("file")).unwrap();
    symlink("../outside", ground.root().join("folder")).unwrap();
    symlink(ground.at("outside/made"), ground.root().join("dangling")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, ground.root().join("pipe"), 0o600.into()).unwrap();
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
        let (exit, printed) = run(&ground, &format!("cat {aim}")).await;
        assert_eq!(exit, Exit::Code(1), "{aim}");
        assert!(printed.contains("cannot be opened"), "{aim}: {printed}");
        assert!(!printed.contains("CANARY"), "{aim}: {printed}");
    }
    assert_eq!(fs::read_to_string(&canary).unwrap(), "CANARY");
    assert_eq!(fs::read_dir(ground.at("outside")).unwrap().count(), 1);
}
