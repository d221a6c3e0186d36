//! Trust in the content of a project's files.
//! Before it is trusted, and after any change, a project can only tighten.

use std::fs;

use expect_test::expect;
use toolcall_policy::{Project, Trust, TrustChange, TrustStore};

use crate::store::fixture::{Fixture, moment};

const POLICY: &str = "proj/.toolcall/policy.toml";
const ALLOWS: &str = "[[allow]]\nrun = 'cargo test'\n\n[[deny]]\nrun = 'curl'\n";

#[test]
fn an_untrusted_project_only_tightens() {
    let fixture = Fixture::new();
    fixture.write(POLICY, ALLOWS);
    assert_eq!(fixture.says("cargo test"), "ask");
    assert_eq!(fixture.says("curl x"), "deny");
    fixture.trust();
    assert_eq!(fixture.says("cargo test"), "allow");
    assert_eq!(fixture.says("curl x"), "deny");
}

#[test]
fn trust_ends_with_the_content_it_was_for() {
    let fixture = Fixture::new();
    fixture.write(POLICY, ALLOWS);
    fixture.trust();
    fixture.write(POLICY, &format!("{ALLOWS}\n[[allow]]\nrun = 'make'\n"));
    assert_eq!(fixture.says("cargo test"), "ask");
    assert_eq!(fixture.says("make"), "ask");
    fixture.write(POLICY, ALLOWS);
    assert_eq!(fixture.says("cargo test"), "allow");
}

#[test]
fn trust_is_taken_back() {
    let fixture = Fixture::new();
    fixture.write(POLICY, ALLOWS);
    fixture.trust();
    let trusts = TrustStore::new(&fixture.places());
    assert_eq!(trusts.revoke(&fixture.project()), Ok(true));
    assert_eq!(trusts.revoke(&fixture.project()), Ok(false));
    assert_eq!(fixture.says("cargo test"), "ask");
}

#[test]
fn trust_in_one_project_is_none_in_another() {
    let fixture = Fixture::new();
    fixture.write(POLICY, ALLOWS);
    fixture.trust();
    let trusts = TrustStore::new(&fixture.places());
    let there = fixture.path().join("other");
    let name = ".toolcall/policy.toml";
    assert_eq!(trusts.trust_in(&there, name, ALLOWS), Ok(Trust::Untrusted));
    assert_eq!(
        trusts.trust_in(&fixture.project(), ".mcp.json", ALLOWS),
        Ok(Trust::Untrusted)
    );
    assert_eq!(
        trusts.trust_in(&fixture.project(), name, ALLOWS),
        Ok(Trust::Trusted)
    );
}

#[test]
fn a_change_is_reported_with_what_was_trusted() {
    let fixture = Fixture::new();
    fixture.write(POLICY, "mode = 'ask'\n");
    fixture.write("proj/.mcp.json", "{}");
    let changes = |fixture: &Fixture| {
        let project = Project::read(&fixture.project()).unwrap();
        let changes = TrustStore::new(&fixture.places())
            .changes(&project)
            .unwrap();
        changes
            .iter()
            .map(|change| match change {
                TrustChange::Same(file) => format!("same {}", file.name),
                TrustChange::New(file) => format!("new {}: {:?}", file.name, file.text),
                TrustChange::Changed { was, is } => {
                    format!("changed {}: {:?} -> {:?}", is.name, was.text, is.text)
                }
                TrustChange::Gone(file) => format!("gone {}: {:?}", file.name, file.text),
            })
            .collect::<Vec<_>>()
    };
    expect![[r#"
        [
            "new .toolcall/policy.toml: \"mode = 'ask'\\n\"",
            "new .mcp.json: \"{}\"",
        ]
    "#]]
    .assert_debug_eq(&changes(&fixture));
    fixture.trust();
    fixture.write(POLICY, "mode = 'read-only'\n");
    fs::remove_file(fixture.project().join(".mcp.json")).unwrap();
    expect![[r#"
        [
            "changed .toolcall/policy.toml: \"mode = 'ask'\\n\" -> \"mode = 'read-only'\\n\"",
            "gone .mcp.json: \"{}\"",
        ]
    "#]]
    .assert_debug_eq(&changes(&fixture));
}

#[test]
fn a_broken_record_is_no_trust() {
    let fixture = Fixture::new();
    fixture.write(POLICY, ALLOWS);
    fixture.trust();
    let record = fs::read_dir(fixture.path().join("state/trusted")).unwrap();
    let path = record.last().unwrap().unwrap().path();
    fs::write(&path, "{").unwrap();
    assert_eq!(fixture.says("cargo test"), "deny");
    let project = Project::read(&fixture.project()).unwrap();
    let trusts = TrustStore::new(&fixture.places());
    assert!(trusts.changes(&project).is_err());
    assert_eq!(trusts.trust(&project, moment()), Ok(()));
    assert_eq!(fixture.says("cargo test"), "allow");
}
