//! Shared code of the tests: layers from texts, intents from commands and paths.
//! It asserts nothing.

use std::path::{Path, PathBuf};

use toolcall::{Command, Intent, Kind, Policy, SessionContext, SessionId, Touch, Verdict};
use toolcall_policy::{
    Layer, LayerSource, PolicyError, PolicyText, RuleContext, RuleEffect, Rules, Trust,
};

pub(crate) const ROOT: &str = "/w/proj";
pub(crate) const HOME: &str = "/home/u";

pub(crate) fn parse(text: &str, scope: LayerSource, trust: Trust) -> Result<Layer, PolicyError> {
    Layer::parse(PolicyText {
        file: "policy.toml",
        text,
        scope,
        trust,
        home: Some(Path::new(HOME)),
    })
}

pub(crate) fn user(text: &str) -> Layer {
    parse(text, LayerSource::User, Trust::Trusted).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub(crate) fn rules(text: &str) -> Rules {
    Rules::new([user(text)], RuleContext::default()).expect("a policy")
}

pub(crate) fn context() -> SessionContext {
    SessionContext::new(SessionId::new("s"), ROOT)
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

pub(crate) fn effect_of(verdict: &Verdict) -> RuleEffect {
    match verdict {
        Verdict::Allow { .. } => RuleEffect::Allow,
        Verdict::Ask { .. } => RuleEffect::Ask,
        Verdict::Deny { .. } => RuleEffect::Deny,
    }
}

pub(crate) fn judged(rules: &Rules, intent: &Intent) -> RuleEffect {
    effect_of(&rules.judge(intent, &context()))
}
