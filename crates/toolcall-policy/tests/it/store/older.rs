//! Policies, kept answers and trust that an earlier version of the program wrote: they hold as they did then.
//! The files in `tests/fixtures` never change; they are of a project in `/project`, which is not there.

use std::fs;
use std::path::{Path, PathBuf};

use toolcall::{Command, Intent, Kind, Policy as _, SessionContext, SessionId, Touch};
use toolcall_policy::{PolicyStore, PolicyStoreConfig, Trust, TrustStore};

use crate::store::desk::{Desk, name};

const PROJECT: &str = "/project";

/// Copies a fixture, for nobody else to write.
fn copy(desk: &Desk, name: &str) {
    let fixture = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let text = fs::read_to_string(fixture.join(name)).expect("a fixture");
    desk.write(name, &text);
}

fn older() -> Desk {
    let desk = Desk::new();
    let of_project = "project-ea0135bca5e3bd815f5b7b8f8c83d86f";
    copy(&desk, "config/policy.toml");
    copy(&desk, "state/kept/everywhere.toml");
    copy(&desk, &format!("state/kept/{of_project}.toml"));
    copy(&desk, &format!("state/trusted/{of_project}.json"));
    desk
}

#[test]
fn older_policies_and_kept_answers_hold() {
    let desk = older();
    let book = PolicyStore::open(PolicyStoreConfig {
        roots: vec![PROJECT.into()],
        ..desk.settings()
    });
    assert_eq!(book.problem(), None);
    let says = |intent: Intent| {
        let setting = SessionContext::new(SessionId::new("s"), PROJECT);
        name(&book.rules().judge(&intent, &setting))
    };
    let runs = |text: &str| {
        let reading = toolcall_shell::read(text, Path::new(PROJECT));
        says(Intent::new(Kind::Execute, text).running(Command::new(text, PROJECT, reading)))
    };
    let kept = "printf 'a\\nb\\n' | sort -r > sorted.txt 2>&1 && cat < sorted.txt >> all.txt || false; cat all.txt";
    for (command, expected) in [
        ("cargo test -q", "allow"),
        ("cargo build", "ask"),
        ("sudo ls", "deny"),
        ("printf x", "allow"),
        (kept, "allow"),
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
    let desk = older();
    let trusts = TrustStore::new(&desk.places());
    let trust = |text| trusts.trust_in(Path::new(PROJECT), ".toolcall/policy.toml", text);
    let text = "mode = \"read-only\"\n\n[[allow]]\nrun = \"make check\"\n";
    assert_eq!(trust(text), Ok(Trust::Trusted));
    assert_eq!(trust("mode = \"ask\"\n"), Ok(Trust::Untrusted));
}
