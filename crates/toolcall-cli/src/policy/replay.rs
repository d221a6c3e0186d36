//! `toolcall policy try`: evaluates recorded calls with the present rules.
//! `toolcall-policy` evaluates them; nothing is run, asked or recorded.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};
use toolcall::Effect;
use toolcall_history::{ExportLine, MASK, SessionEvent};
use toolcall_policy::replay::{CallName, JudgedCall, PolicyReplay, ReplayResult};
use toolcall_policy::{PolicyStoreConfig, RuleEffect};

use super::effect_label;
use super::explain::because;
use crate::args::PolicyTryArgs;
use crate::environment::UserEnvironment;
use crate::policy_layers;
use crate::screen;
use crate::view::{BOLD, DIM, fit, one_line, paint, pluralize, width, wrap};

/// Evaluates every call of an export again.
pub(super) fn run(args: &PolicyTryArgs) -> anyhow::Result<ExitCode> {
    let user = UserEnvironment::from_env()?;
    let config = PolicyStoreConfig {
        layers: policy_layers::from_args(&args.policy_args, &user)?,
        places: user.dirs,
        roots: Vec::new(),
        home: user.home,
    };
    let mut replay = PolicyReplay::new(config, MASK);
    read(&args.export, &mut replay)?;
    let replayed = replay.finish();
    let lines = if args.json {
        vec![format!("{:#}", as_json(&replayed))]
    } else {
        lines(&replayed)
    };
    screen::print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

fn read(export: &Path, replay: &mut PolicyReplay) -> anyhow::Result<()> {
    let named = export.display();
    let source: Box<dyn BufRead> = if export == Path::new("-") {
        Box::new(BufReader::new(stdin()))
    } else {
        let file = File::open(export);
        let file = file.with_context(|| format!("`{named}` cannot be read"))?;
        Box::new(BufReader::new(file))
    };
    for (number, line) in source.lines().enumerate() {
        let line = line.with_context(|| format!("`{named}` cannot be read"))?;
        let exported = ExportLine::read(&line).with_context(|| {
            let number = number + 1;
            format!("line {number} of `{named}` was not written by `toolcall history export`")
        })?;
        add_line(exported, replay)?;
    }
    Ok(())
}

fn add_line(exported: ExportLine, replay: &mut PolicyReplay) -> anyhow::Result<()> {
    match exported {
        ExportLine::Call(record) => {
            let judged = replay.record(record);
            judged.map_err(|problem| anyhow!("{problem}; see `toolcall policy check`"))?;
        }
        ExportLine::Session { session, event, .. } => {
            if let SessionEvent::Opened(facts) = event {
                replay.session(session, facts.cwd);
            }
        }
    }
    Ok(())
}

fn lines(replayed: &ReplayResult) -> Vec<String> {
    let (judged, different) = (replayed.judged.len(), replayed.different().count());
    let same = judged - different;
    let mut lines = vec![format!(
        "{} evaluated again: {same} with the same result, {different} with another",
        pluralize(judged, "call")
    )];
    for ((was, would), count) in changes(replayed) {
        lines.push(format!("{count:>7}  {was} → {would}"));
    }
    for judged in replayed.different() {
        let change = format!(
            "{} → {}",
            effect_label(judged.was),
            effect_label(judged.would)
        );
        lines.push(String::new());
        lines.push(format!(
            "{change} {}",
            call_label(&judged.call, width().saturating_sub(14))
        ));
        let then = match (judged.was, judged.effect) {
            (RuleEffect::Ask, Effect::Allow) => ". You were asked then, and answered yes",
            (RuleEffect::Ask, Effect::Deny) => ". You were asked then, and answered no",
            (RuleEffect::Allow | RuleEffect::Deny, _) => "",
        };
        let why = because(&judged.reason, &judged.rule) + then;
        lines.extend(wrap(&why, width()).iter().map(|line| paint(DIM, line)));
    }
    if !replayed.skipped.is_empty() {
        lines.push(String::new());
        let calls = pluralize(replayed.skipped.len(), "call");
        lines.push(format!("{calls} cannot be evaluated"));
    }
    for skipped in &replayed.skipped {
        lines.push(format!(
            "  {}",
            call_label(&skipped.call, width().saturating_sub(2))
        ));
        lines.extend(wrap(
            &format!("cannot be evaluated: {}", skipped.why),
            width(),
        ));
    }
    lines
}

fn call_label(name: &CallName, room: usize) -> String {
    let id = one_line(&format!("{}/{}", name.session, name.id));
    let room = room.saturating_sub(id.chars().count() + 1);
    let text = format!("{}: {}", name.tool, name.title);
    let text = fit(text.trim_end_matches([' ', ':']), room);
    format!("{} {}", paint(BOLD, &id), text.trim_end())
}

fn changes(replayed: &ReplayResult) -> BTreeMap<(&'static str, &'static str), usize> {
    let mut changes = BTreeMap::new();
    for judged in replayed.different() {
        let change = (judged.was.as_str(), judged.would.as_str());
        *changes.entry(change).or_default() += 1;
    }
    changes
}

fn as_json(replayed: &ReplayResult) -> Value {
    let changes = changes(replayed).into_iter();
    let changes =
        changes.map(|((was, would), calls)| json!({"was": was, "would": would, "calls": calls}));
    let unjudged = replayed.skipped.iter().map(|skipped| {
        let mut object = name_json(&skipped.call);
        object["why"] = skipped.why.into();
        object
    });
    json!({
        "judged": replayed.judged.len(),
        "different": replayed.different().count(),
        "changes": changes.collect::<Value>(),
        "calls": replayed.judged.iter().map(judged_json).collect::<Value>(),
        "unjudged": unjudged.collect::<Value>(),
    })
}

fn judged_json(judged: &JudgedCall) -> Value {
    let mut object = name_json(&judged.call);
    object["was"] = judged.was.as_str().into();
    object["effect"] = RuleEffect::from(judged.effect).as_str().into();
    object["would"] = judged.would.as_str().into();
    object["rule"] = judged.rule.as_str().into();
    object["reason"] = judged.reason.as_str().into();
    object
}

fn name_json(name: &CallName) -> Value {
    json!({
        "session": name.session.as_str(),
        "call": name.id.as_str(),
        "tool": &*name.tool,
        "title": name.title,
    })
}
