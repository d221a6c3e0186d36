//! What the tests are made of: layers from texts, intents from commands and paths.
//! It asserts nothing.

use std::path::{Path, PathBuf};

use toolcall::{Command, Intent, Kind, Policy, SessionId, Setting, Touch, Verdict};
use toolcall_policy::{Facts, Layer, PolicyError, Rules, Scope, Source, Stance, Trust};

pub(crate) const ROOT: &str = "/w/proj";
pub(crate) const HOME: &str = "/home/u";

pub(crate) fn parse(text: &str, scope: Scope, trust: Trust) -> Result<Layer, PolicyError> {
    Layer::parse(Source {
        file: "policy.toml",
        text,
        scope,
        trust,
        home: Some(Path::new(HOME)),
    })
}

pub(crate) fn user(text: &str) -> Layer {
    parse(text, Scope::User, Trust::Trusted).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub(crate) fn rules(text: &str) -> Rules {
    Rules::new([user(text)], Facts::default()).expect("a policy")
}

pub(crate) fn setting() -> Setting {
    Setting::new(SessionId::new("s"), ROOT)
}

pub(crate) fn command(text: &str) -> Intent {
    let reading = toolcall_shell::read(text, ROOT.as_ref());
    let files = toolcall_shell::touches(&reading);
    let intent = Intent::new(Kind::Execute, text).running(Command::new(text, ROOT, reading));
    files.into_iter().fold(intent, Intent::touching)
}

pub(crate) fn in_root(path: &str) -> PathBuf {
    Path::new(ROOT).join(path)
}

pub(crate) fn touching(touch: Touch) -> Intent {
    Intent::new(Kind::Other, "a call").touching(touch)
}

/// A switch to the mode of this name.
pub(crate) fn switching(mode: &str) -> Intent {
    touching(Touch::Reaches(format!("mode:{mode}").into()))
}

pub(crate) fn stance(verdict: &Verdict) -> Stance {
    match verdict {
        Verdict::Allow { .. } => Stance::Allow,
        Verdict::Ask { .. } => Stance::Ask,
        Verdict::Deny { .. } => Stance::Deny,
    }
}

pub(crate) fn judged(rules: &Rules, intent: &Intent) -> Stance {
    stance(&rules.judge(intent, &setting()))
}
