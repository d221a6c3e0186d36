//! `toolcall policy try`: what the rules of today say about recorded calls, shown.
//! Judging is the policy's; nothing is run, asked or kept.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};
use toolcall::Effect;
use toolcall_history::{ExportLine, MASK, SessionEvent};
use toolcall_policy::replay::{CallName, JudgedCall, PolicyReplay, Replayed};
use toolcall_policy::{PolicyStoreConfig, RuleEffect};

use super::stance;
use crate::args::Trying;
use crate::places::Person;
use crate::ruling;
use crate::screen;
use crate::view::{BOLD, DIM, counted, fitted, one_line, painted, width, wrapped};

/// Judges every call of an export again.
pub(super) fn run(trying: &Trying) -> anyhow::Result<ExitCode> {
    let person = Person::here()?;
    let settings = PolicyStoreConfig {
        layers: ruling::layers(&trying.ruling, &person)?,
        places: person.places,
        roots: Vec::new(),
        home: person.home,
    };
    let mut replay = PolicyReplay::new(settings, MASK);
    read(&trying.export, &mut replay)?;
    let replayed = replay.finish();
    let lines = match trying.json {
        true => vec![format!("{:#}", as_json(&replayed))],
        false => lines(&replayed),
    };
    screen::print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

fn read(export: &Path, replay: &mut PolicyReplay) -> anyhow::Result<()> {
    let named = export.display();
    let source: Box<dyn BufRead> = match export == Path::new("-") {
        true => Box::new(BufReader::new(stdin())),
        false => {
            let file = File::open(export);
            let file = file.with_context(|| format!("`{named}` cannot be read"))?;
            Box::new(BufReader::new(file))
        }
    };
    for (number, line) in source.lines().enumerate() {
        let line = line.with_context(|| format!("`{named}` cannot be read"))?;
        let exported = ExportLine::read(&line).with_context(|| {
            let number = number + 1;
            format!("line {number} of `{named}` is none that `toolcall history export` writes")
        })?;
        take(exported, replay)?;
    }
    Ok(())
}

fn take(exported: ExportLine, replay: &mut PolicyReplay) -> anyhow::Result<()> {
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

fn lines(replayed: &Replayed) -> Vec<String> {
    let (judged, different) = (replayed.judged.len(), replayed.different().count());
    let same = judged - different;
    let mut lines = vec![format!(
        "{} judged again: {same} as before, {different} differently",
        counted(judged, "call")
    )];
    for ((was, would), count) in changes(replayed) {
        lines.push(format!("{count:>7}  {was} → {would}"));
    }
    for judged in replayed.different() {
        let change = format!("{} → {}", stance(judged.was), stance(judged.would));
        lines.push(String::new());
        lines.push(format!(
            "{change} {}",
            named(&judged.call, width().saturating_sub(14))
        ));
        let then = match (judged.was, judged.effect) {
            (RuleEffect::Ask, Effect::Allow) => ". It was asked then, and the answer was yes",
            (RuleEffect::Ask, Effect::Deny) => ". It was asked then, and the answer was no",
            (RuleEffect::Allow | RuleEffect::Deny, _) => "",
        };
        let why = match judged.reason.contains(&judged.rule) {
            true => format!("{}{then}", judged.reason),
            false => format!("{}, says {}{then}", judged.reason, judged.rule),
        };
        lines.extend(wrapped(&why, width()).iter().map(|line| painted(DIM, line)));
    }
    if !replayed.skipped.is_empty() {
        lines.push(String::new());
        let calls = counted(replayed.skipped.len(), "call");
        lines.push(format!("{calls} cannot be judged"));
    }
    for skipped in &replayed.skipped {
        lines.push(format!(
            "  {}",
            named(&skipped.call, width().saturating_sub(2))
        ));
        lines.extend(wrapped(
            &format!("cannot be judged: {}", skipped.why),
            width(),
        ));
    }
    lines
}

fn named(name: &CallName, room: usize) -> String {
    let id = one_line(&format!("{}/{}", name.session, name.id));
    let room = room.saturating_sub(id.chars().count() + 1);
    let text = format!("{}: {}", name.tool, name.title);
    let text = fitted(text.trim_end_matches([' ', ':']), room);
    format!("{} {}", painted(BOLD, &id), text.trim_end())
}

fn changes(replayed: &Replayed) -> BTreeMap<(&'static str, &'static str), usize> {
    let mut changes = BTreeMap::new();
    for judged in replayed.different() {
        let change = (judged.was.as_str(), judged.would.as_str());
        *changes.entry(change).or_default() += 1;
    }
    changes
}

fn as_json(replayed: &Replayed) -> Value {
    let changes = changes(replayed).into_iter();
    let changes =
        changes.map(|((was, would), calls)| json!({"was": was, "would": would, "calls": calls}));
    let unjudged = replayed.skipped.iter().map(|skipped| {
        let mut told = name_json(&skipped.call);
        told["why"] = skipped.why.into();
        told
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
    let mut told = name_json(&judged.call);
    told["was"] = judged.was.as_str().into();
    told["effect"] = RuleEffect::from(judged.effect).as_str().into();
    told["would"] = judged.would.as_str().into();
    told["rule"] = judged.rule.as_str().into();
    told["reason"] = judged.reason.as_str().into();
    told
}

fn name_json(name: &CallName) -> Value {
    json!({
        "session": name.session.as_str(),
        "call": name.id.as_str(),
        "tool": &*name.tool,
        "title": name.title,
    })
}
