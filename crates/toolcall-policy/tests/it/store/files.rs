//! The policy files of the user and of a project.
//! A file with an error, or one that other users may write, denies everything.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use toolcall::{Intent, Kind, Policy as _, Touch};
use toolcall_policy::{FileState, Layer, LayerSource, Mode, PolicySources};

use crate::store::fixture::{Fixture, name, reason};

const ALLOWS: &str = "[[allow]]\nrun = 'cargo test'\n";

#[test]
fn without_files_everything_is_asked() {
    let fixture = Fixture::new();
    assert_eq!(fixture.says("cargo test"), "ask");
    assert_eq!(fixture.store().problem(), None);
}

#[test]
fn the_users_own_file_allows() {
    let fixture = Fixture::new();
    fixture.write("config/policy.toml", ALLOWS);
    assert_eq!(fixture.says("cargo test"), "allow");
    assert_eq!(fixture.says("cargo build"), "ask");
}

#[test]
fn a_broken_file_denies_everything_and_says_where() {
    for (file, shown) in [
        ("config/policy.toml", "~/config/policy.toml"),
        ("proj/.toolcall/policy.toml", " .toolcall/policy.toml"),
    ] {
        let fixture = Fixture::new();
        fixture.write(file, "[[allow]]\nrum = 'ls'\n");
        let denied = reason(&fixture.judge(&fixture.store(), "ls"));
        let place = format!("{shown}:2:1: there is no key `rum`; write `run`");
        assert!(denied.contains(&place), "{denied}");
    }
}

#[test]
fn a_file_that_others_may_write_is_refused() {
    let fixture = Fixture::new();
    let path = fixture.write("config/policy.toml", ALLOWS);
    for mode in [0o666, 0o620, 0o602] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let denied = reason(&fixture.judge(&fixture.store(), "cargo test"));
        assert!(
            denied.contains("others may write this file; run `chmod go-w"),
            "{denied}"
        );
    }
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    assert_eq!(fixture.says("cargo test"), "allow");
}

#[test]
fn what_is_no_plain_file_is_refused_at_once() {
    let (pipe, directory, link) = (Fixture::new(), Fixture::new(), Fixture::new());
    for fixture in [&pipe, &directory, &link] {
        fs::create_dir_all(fixture.project().join(".toolcall")).unwrap();
    }
    let place = |fixture: &Fixture| fixture.project().join(".toolcall/policy.toml");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        place(&pipe),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    fs::create_dir(place(&directory)).unwrap();
    let elsewhere = link.write("elsewhere.toml", ALLOWS);
    std::os::unix::fs::symlink(elsewhere, place(&link)).unwrap();
    for fixture in [pipe, directory, link] {
        assert_eq!(fixture.says("ls"), "deny");
    }
}

#[test]
fn the_users_own_file_may_be_a_symlink() {
    let fixture = Fixture::new();
    let elsewhere = fixture.write("dotfiles/policy.toml", ALLOWS);
    fs::create_dir(fixture.path().join("config")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, fixture.path().join("config/policy.toml")).unwrap();
    assert_eq!(fixture.says("cargo test"), "allow");
    // And what it leads to is protected like the file itself.
    let change = Intent::new(Kind::Edit, "Edit").touching(Touch::Writes(elsewhere));
    let verdict = fixture.store().rules().judge(&change, &fixture.context());
    assert_eq!(name(&verdict), "deny");
}

#[test]
fn every_file_is_reported_with_its_state() {
    let fixture = Fixture::new();
    fixture.write("config/policy.toml", "mode = 'never'\n");
    fixture.write("proj/.toolcall/policy.toml", ALLOWS);
    let sources = PolicySources::read(&fixture.config());
    let states = sources.files().iter().map(|file| match &file.state {
        FileState::Absent => (file.scope, "absent"),
        FileState::Active(_) => (file.scope, "holds"),
        FileState::Untrusted(_) => (file.scope, "only tightens"),
        FileState::Broken(_) => (file.scope, "broken"),
    });
    let expected = [
        (LayerSource::User, "broken"),
        (LayerSource::Remembered, "absent"),
        (LayerSource::Remembered, "absent"),
        (LayerSource::Project, "only tightens"),
    ];
    assert_eq!(states.collect::<Vec<_>>(), expected);
}

#[test]
fn a_mode_is_chosen_by_flag_and_during_the_session() {
    let fixture = Fixture::new();
    let mut config = fixture.config();
    config.layers = vec![Layer::of_mode(LayerSource::Flags, Mode::AllowAll)];
    let store = toolcall_policy::PolicyStore::open(config);
    assert_eq!(name(&fixture.judge(&store, "make")), "allow");
    store.set_mode(Mode::DenyAll);
    assert_eq!(name(&fixture.judge(&store, "make")), "deny");
}

#[test]
fn no_mode_of_the_session_is_laxer_than_the_project_wants() {
    let fixture = Fixture::new();
    fixture.write("proj/.toolcall/policy.toml", "mode = 'read-only'\n");
    let store = fixture.store();
    store.set_mode(Mode::AllowAll);
    assert_eq!(store.rules().mode(), Mode::ReadOnly);
}
