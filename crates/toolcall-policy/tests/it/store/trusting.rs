//! Trust in the content of a project's files.
//! Before it, and after any change, a project only tightens.

use std::fs;

use expect_test::expect;
use toolcall_policy::{Change, Project, Trust, TrustStore};

use crate::store::desk::{Desk, moment};

const POLICY: &str = "proj/.toolcall/policy.toml";
const ALLOWS: &str = "[[allow]]\nrun = 'cargo test'\n\n[[deny]]\nrun = 'curl'\n";

#[test]
fn an_untrusted_project_only_tightens() {
    let desk = Desk::new();
    desk.write(POLICY, ALLOWS);
    assert_eq!(desk.says("cargo test"), "ask");
    assert_eq!(desk.says("curl x"), "deny");
    desk.trust();
    assert_eq!(desk.says("cargo test"), "allow");
    assert_eq!(desk.says("curl x"), "deny");
}

#[test]
fn trust_ends_with_the_content_it_was_for() {
    let desk = Desk::new();
    desk.write(POLICY, ALLOWS);
    desk.trust();
    desk.write(POLICY, &format!("{ALLOWS}\n[[allow]]\nrun = 'make'\n"));
    assert_eq!(desk.says("cargo test"), "ask");
    assert_eq!(desk.says("make"), "ask");
    desk.write(POLICY, ALLOWS);
    assert_eq!(desk.says("cargo test"), "allow");
}

#[test]
fn trust_is_taken_back() {
    let desk = Desk::new();
    desk.write(POLICY, ALLOWS);
    desk.trust();
    let trusts = TrustStore::new(&desk.places());
    assert_eq!(trusts.revoke(&desk.project()), Ok(true));
    assert_eq!(trusts.revoke(&desk.project()), Ok(false));
    assert_eq!(desk.says("cargo test"), "ask");
}

#[test]
fn trust_in_one_project_is_none_in_another() {
    let desk = Desk::new();
    desk.write(POLICY, ALLOWS);
    desk.trust();
    let trusts = TrustStore::new(&desk.places());
    let there = desk.path().join("other");
    let name = ".toolcall/policy.toml";
    assert_eq!(trusts.trust_in(&there, name, ALLOWS), Ok(Trust::Untrusted));
    assert_eq!(
        trusts.trust_in(&desk.project(), ".mcp.json", ALLOWS),
        Ok(Trust::Untrusted)
    );
    assert_eq!(
        trusts.trust_in(&desk.project(), name, ALLOWS),
        Ok(Trust::Trusted)
    );
}

#[test]
fn what_changed_is_told_with_what_was_trusted() {
    let desk = Desk::new();
    desk.write(POLICY, "mode = 'ask'\n");
    desk.write("proj/.mcp.json", "{}");
    let told = |desk: &Desk| {
        let project = Project::read(&desk.project()).unwrap();
        let changes = TrustStore::new(&desk.places()).changes(&project).unwrap();
        changes
            .iter()
            .map(|change| match change {
                Change::Same(file) => format!("same {}", file.name),
                Change::New(file) => format!("new {}: {:?}", file.name, file.text),
                Change::Changed { was, is } => {
                    format!("changed {}: {:?} -> {:?}", is.name, was.text, is.text)
                }
                Change::Gone(file) => format!("gone {}: {:?}", file.name, file.text),
            })
            .collect::<Vec<_>>()
    };
    expect![[r#"
        [
            "new .toolcall/policy.toml: \"mode = 'ask'\\n\"",
            "new .mcp.json: \"{}\"",
        ]
    "#]]
    .assert_debug_eq(&told(&desk));
    desk.trust();
    desk.write(POLICY, "mode = 'read-only'\n");
    fs::remove_file(desk.project().join(".mcp.json")).unwrap();
    expect![[r#"
        [
            "changed .toolcall/policy.toml: \"mode = 'ask'\\n\" -> \"mode = 'read-only'\\n\"",
            "gone .mcp.json: \"{}\"",
        ]
    "#]]
    .assert_debug_eq(&told(&desk));
}

#[test]
fn a_broken_record_is_no_trust() {
    let desk = Desk::new();
    desk.write(POLICY, ALLOWS);
    desk.trust();
    let record = fs::read_dir(desk.path().join("state/trusted")).unwrap();
    let path = record.last().unwrap().unwrap().path();
    fs::write(&path, "{").unwrap();
    assert_eq!(desk.says("cargo test"), "deny");
    let project = Project::read(&desk.project()).unwrap();
    let trusts = TrustStore::new(&desk.places());
    assert!(trusts.changes(&project).is_err());
    assert_eq!(trusts.trust(&project, moment()), Ok(()));
    assert_eq!(desk.says("cargo test"), "allow");
}
