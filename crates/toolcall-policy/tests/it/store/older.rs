//! Policies, remembered rules and trust that an earlier version of the program wrote still hold.
//! The files in `tests/fixtures` never change; they belong to a project in `/project`, which does not exist.

use std::fs;
use std::path::{Path, PathBuf};

use toolcall::{Command, Intent, Kind, Policy as _, SessionContext, SessionId, Touch};
use toolcall_policy::{PolicyStore, PolicyStoreConfig, Trust, TrustStore};

use crate::store::fixture::{Fixture, name};

const PROJECT: &str = "/project";

/// Copies a file so that no other user may write it.
fn copy(fixture: &Fixture, name: &str) {
    let files = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let text = fs::read_to_string(files.join(name)).expect("a fixture");
    fixture.write(name, &text);
}

fn older() -> Fixture {
    let fixture = Fixture::new();
    let of_project = "project-ea0135bca5e3bd815f5b7b8f8c83d86f";
    copy(&fixture, "config/policy.toml");
    copy(&fixture, "state/kept/everywhere.toml");
    copy(&fixture, &format!("state/kept/{of_project}.toml"));
    copy(&fixture, &format!("state/trusted/{of_project}.json"));
    fixture
}

#[test]
fn older_policies_and_remembered_rules_hold() {
    let fixture = older();
    let store = PolicyStore::open(PolicyStoreConfig {
        roots: vec![PROJECT.into()],
        ..fixture.config()
    });
    assert_eq!(store.problem(), None);
    let says = |intent: Intent| {
        let context = SessionContext::new(SessionId::new("s"), PROJECT);
        name(&store.rules().judge(&intent, &context))
    };
    let runs = |text: &str| {
        let reading = toolcall_shell::read(text, Path::new(PROJECT));
        says(Intent::new(Kind::Execute, text).running(Command::new(text, PROJECT, reading)))
    };
    let remembered = "printf 'a\\nb\\n' | sort -r > sorted.txt 2>&1 && cat < sorted.txt >> all.txt || false; cat all.txt";
    for (command, expected) in [
        ("cargo test -q", "allow"),
        ("cargo build", "ask"),
        ("sudo ls", "deny"),
        ("printf x", "allow"),
        (remembered, "allow"),
        ("sort -r", "ask"),
    ] {
        assert_eq!(runs(command), expected, "{command}");
    }
    let writes =
        |path: &str| says(Intent::new(Kind::Edit, path).touching(Touch::Writes(path.into())));
    assert_eq!(writes("/project/src/other.rs"), "allow");
    assert_eq!(writes("/project/Cargo.toml"), "ask");
}

#[test]
fn older_trust_holds_for_the_same_text_only() {
    let fixture = older();
    let trusts = TrustStore::new(&fixture.places());
    let trust = |text| trusts.trust_in(Path::new(PROJECT), ".toolcall/policy.toml", text);
    let text = "mode = \"read-only\"\n\n[[allow]]\nrun = \"make check\"\n";
    assert_eq!(trust(text), Ok(Trust::Trusted));
    assert_eq!(trust("mode = \"ask\"\n"), Ok(Trust::Untrusted));
}
