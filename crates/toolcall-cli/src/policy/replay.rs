//! `toolcall policy try`: recorded calls, judged again by the rules of today.
//! Judging is the policy's; nothing is run, asked or kept.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use toolcall::{
    CallId, Decision, Effect, Event, Intent, Judge, Lifetime, Prepared, Record, Remembered,
    SessionId, Setting, Touch,
};
use toolcall_history::{Exported, MASK, SessionEvent};
use toolcall_policy::{Book, BookSettings, Layer, Stance};

use super::stance;
use crate::arguments::Trying;
use crate::places::Person;
use crate::ruling;
use crate::screen;
use crate::view::{BOLD, DIM, counted, fitted, one_line, painted, width, wrapped};

/// Judges every call of an export again.
pub(super) fn run(trying: &Trying) -> anyhow::Result<ExitCode> {
    let person = Person::here()?;
    let layers = ruling::layers(&trying.ruling, &person)?;
    let mut court = Court::new(person, layers);
    read(&trying.export, &mut court)?;
    court.adjourn();
    let lines = match trying.json {
        true => vec![format!("{:#}", as_json(&court))],
        false => lines(&court),
    };
    screen::print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

fn read(export: &Path, court: &mut Court) -> anyhow::Result<()> {
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
        let exported = Exported::read(&line).with_context(|| {
            let number = number + 1;
            format!("line {number} of `{named}` is none that `toolcall history export` writes")
        })?;
        court.hear(exported)?;
    }
    Ok(())
}

/// Judges calls as their records come in.
struct Court {
    person: Person,
    layers: Vec<Layer>,
    books: HashMap<PathBuf, Book>,
    folders: HashMap<SessionId, PathBuf>,
    /// Rules that an answer kept for one session: without that answer, it would have been asked.
    answers: HashMap<SessionId, Vec<Arc<str>>>,
    open: HashMap<(SessionId, CallId), Open>,
    judged: Vec<Judged>,
    unjudged: Vec<Unjudged>,
}

/// A call whose decision has not been read yet.
#[derive(Default)]
struct Open {
    tool: Arc<str>,
    prepared: Option<Arc<Prepared>>,
    asked: Asked,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Asked {
    #[default]
    No,
    Yes,
}

/// A call that was judged again.
struct Judged {
    name: Name,
    was: Stance,
    /// What came of it then.
    effect: Effect,
    would: Stance,
    rule: String,
    reason: String,
}

/// A call that cannot be.
struct Unjudged {
    name: Name,
    why: &'static str,
}

struct Name {
    session: SessionId,
    call: CallId,
    tool: Arc<str>,
    title: String,
}

impl Court {
    fn new(person: Person, layers: Vec<Layer>) -> Self {
        Self {
            person,
            layers,
            books: HashMap::new(),
            folders: HashMap::new(),
            answers: HashMap::new(),
            open: HashMap::new(),
            judged: Vec::new(),
            unjudged: Vec::new(),
        }
    }

    fn hear(&mut self, exported: Exported) -> anyhow::Result<()> {
        match exported {
            Exported::Call(record) => return self.hear_call(record),
            Exported::Session { session, event, .. } => match event {
                SessionEvent::Opened(facts) => {
                    self.folders.insert(session, facts.cwd);
                }
                SessionEvent::TurnBegan
                | SessionEvent::TurnEnded { .. }
                | SessionEvent::Said { .. }
                | SessionEvent::Planned(_) => {}
            },
        }
        Ok(())
    }

    fn hear_call(&mut self, record: Record) -> anyhow::Result<()> {
        let key = (record.session, record.call);
        match record.event {
            Event::Announced(announced) => {
                self.open.entry(key).or_default().tool = announced.tool.clone();
            }
            Event::Prepared(prepared) => {
                self.open.entry(key).or_default().prepared = Some(prepared);
            }
            Event::Asked(_) => self.open.entry(key).or_default().asked = Asked::Yes,
            Event::Decided(decision) => {
                if let Some(open) = self.open.remove(&key) {
                    self.decide(key, open, &decision)?;
                }
            }
            Event::Finished(_) => {
                if let Some(open) = self.open.remove(&key) {
                    self.pass(key, &open, "it ended before it was decided on");
                }
            }
            Event::InputGrew(_)
            | Event::InputArrived(_)
            | Event::FormAsked(_)
            | Event::FormAnswered(_)
            | Event::Started
            | Event::Progressed(_)
            | Event::Showed(_)
            | Event::Printed(_)
            | Event::Beat(_)
            | Event::Held(_)
            | Event::Resumed
            | Event::Planned(_)
            | Event::Noted { .. }
            | Event::Located(_)
            | Event::Exited(_)
            | Event::Restated(_)
            | Event::StatusUnknown(_) => {}
        }
        Ok(())
    }

    /// What is left was still open when it was exported.
    fn adjourn(&mut self) {
        let mut left: Vec<_> = std::mem::take(&mut self.open).into_iter().collect();
        left.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (key, open) in left {
            self.pass(key, &open, "nothing was decided yet");
        }
    }

    fn decide(
        &mut self,
        key: (SessionId, CallId),
        open: Open,
        decision: &Decision,
    ) -> anyhow::Result<()> {
        let was = self.was(&key.0, open.asked, decision);
        let Some(prepared) = open.prepared.clone() else {
            self.pass(key, &open, "it did not say what it would do");
            return Ok(());
        };
        if let Some(why) = unkept(&prepared.intent) {
            self.pass(key, &open, why);
            return Ok(());
        }
        let Some(cwd) = self.folders.get(&key.0).filter(|cwd| cwd.is_absolute()) else {
            self.pass(key, &open, "the folder of its session was not kept");
            return Ok(());
        };
        let setting = Setting::new(key.0.clone(), cwd.clone());
        let explained = self
            .book(cwd.clone())?
            .rules()
            .explain(&prepared.intent, &setting);
        self.judged.push(Judged {
            name: name(key, &open),
            was,
            effect: decision.effect,
            would: explained.stance,
            rule: explained.rule,
            reason: explained.reason,
        });
        Ok(())
    }

    /// What the rules of then said.
    fn was(&mut self, session: &SessionId, asked: Asked, decision: &Decision) -> Stance {
        match (asked, &decision.by) {
            (_, Judge::Person(remembered)) => {
                if let Remembered::Kept(rule) = remembered
                    && rule.lifetime == Lifetime::Session
                {
                    let kept = self.answers.entry(session.clone()).or_default();
                    kept.push(rule.text.clone());
                }
                Stance::Ask
            }
            (Asked::Yes, Judge::Rule(_) | Judge::Unseen) => Stance::Ask,
            (Asked::No, Judge::Rule(rule)) => {
                let kept = self.answers.get(session).map(Vec::as_slice);
                // The name of a rule holds its text.
                let is_answer = |text: &Arc<str>| rule.as_str().contains(&**text);
                match kept.unwrap_or_default().iter().any(is_answer) {
                    true => Stance::Ask,
                    false => as_stance(decision.effect),
                }
            }
            (Asked::No, Judge::Unseen) => as_stance(decision.effect),
        }
    }

    /// The rules that hold in a folder. Broken ones would deny everything, which is no answer.
    fn book(&mut self, cwd: PathBuf) -> anyhow::Result<&Book> {
        let open = || {
            Book::open(BookSettings {
                places: self.person.places.clone(),
                roots: vec![cwd.clone()],
                home: self.person.home.clone(),
                layers: self.layers.clone(),
            })
        };
        let book = self.books.entry(cwd.clone()).or_insert_with(open);
        match book.problem() {
            Some(problem) => bail!("{problem}; see `toolcall policy check`"),
            None => Ok(book),
        }
    }

    fn pass(&mut self, key: (SessionId, CallId), open: &Open, why: &'static str) {
        let name = name(key, open);
        self.unjudged.push(Unjudged { name, why });
    }

    fn different(&self) -> impl Iterator<Item = &Judged> {
        self.judged
            .iter()
            .filter(|judged| judged.was != judged.would)
    }
}

fn name((session, call): (SessionId, CallId), open: &Open) -> Name {
    let title = open
        .prepared
        .as_ref()
        .map(|prepared| prepared.intent.title.clone());
    Name {
        session,
        call,
        tool: open.tool.clone(),
        title: title.unwrap_or_default(),
    }
}

fn as_stance(effect: Effect) -> Stance {
    match effect {
        Effect::Allow => Stance::Allow,
        Effect::Deny => Stance::Deny,
    }
}

/// Why an intent is not what was judged then.
fn unkept(intent: &Intent) -> Option<&'static str> {
    const SECRET: &str = "a secret was left out of what it touched";
    let hides = |text: &str| text.contains(MASK).then_some(SECRET);
    let path = |path: &Path| hides(&path.to_string_lossy());
    intent.touches.iter().find_map(|touch| match touch {
        Touch::Reads(read) => path(read),
        Touch::Writes(written) => path(written),
        Touch::Deletes(deleted) => path(deleted),
        Touch::Moves { from, to } => path(from).or_else(|| path(to)),
        Touch::Runs(command) if command.text.is_empty() => Some("its input was not kept"),
        Touch::Runs(command) => hides(&command.text),
        Touch::Reaches(target) => hides(target),
        Touch::Unknown => None,
    })
}

fn lines(court: &Court) -> Vec<String> {
    let (judged, different) = (court.judged.len(), court.different().count());
    let same = judged - different;
    let mut lines = vec![format!(
        "{} judged again: {same} as before, {different} differently",
        counted(judged, "call")
    )];
    for ((was, would), count) in changes(court) {
        lines.push(format!("{count:>7}  {was} → {would}"));
    }
    for judged in court.different() {
        let change = format!("{} → {}", stance(judged.was), stance(judged.would));
        lines.push(String::new());
        lines.push(format!(
            "{change} {}",
            named(&judged.name, width().saturating_sub(14))
        ));
        let then = match (judged.was, judged.effect) {
            (Stance::Ask, Effect::Allow) => ". It was asked then, and the answer was yes",
            (Stance::Ask, Effect::Deny) => ". It was asked then, and the answer was no",
            (Stance::Allow | Stance::Deny, _) => "",
        };
        let why = match judged.reason.contains(&judged.rule) {
            true => format!("{}{then}", judged.reason),
            false => format!("{}, says {}{then}", judged.reason, judged.rule),
        };
        lines.extend(wrapped(&why, width()).iter().map(|line| painted(DIM, line)));
    }
    if !court.unjudged.is_empty() {
        lines.push(String::new());
        let calls = counted(court.unjudged.len(), "call");
        lines.push(format!("{calls} cannot be judged"));
    }
    for unjudged in &court.unjudged {
        lines.push(format!(
            "  {}",
            named(&unjudged.name, width().saturating_sub(2))
        ));
        lines.extend(wrapped(
            &format!("cannot be judged: {}", unjudged.why),
            width(),
        ));
    }
    lines
}

fn named(name: &Name, room: usize) -> String {
    let id = one_line(&format!("{}/{}", name.session, name.call));
    let room = room.saturating_sub(id.chars().count() + 1);
    let text = format!("{}: {}", name.tool, name.title);
    let text = fitted(text.trim_end_matches([' ', ':']), room);
    format!("{} {}", painted(BOLD, &id), text.trim_end())
}

fn changes(court: &Court) -> BTreeMap<(&'static str, &'static str), usize> {
    let mut changes = BTreeMap::new();
    for judged in court.different() {
        let change = (judged.was.as_str(), judged.would.as_str());
        *changes.entry(change).or_default() += 1;
    }
    changes
}

fn as_json(court: &Court) -> Value {
    let changes = changes(court).into_iter();
    let changes =
        changes.map(|((was, would), calls)| json!({"was": was, "would": would, "calls": calls}));
    let unjudged = court.unjudged.iter().map(|unjudged| {
        let mut told = name_json(&unjudged.name);
        told["why"] = unjudged.why.into();
        told
    });
    json!({
        "judged": court.judged.len(),
        "different": court.different().count(),
        "changes": changes.collect::<Value>(),
        "calls": court.judged.iter().map(judged_json).collect::<Value>(),
        "unjudged": unjudged.collect::<Value>(),
    })
}

fn judged_json(judged: &Judged) -> Value {
    let mut told = name_json(&judged.name);
    told["was"] = judged.was.as_str().into();
    told["effect"] = as_stance(judged.effect).as_str().into();
    told["would"] = judged.would.as_str().into();
    told["rule"] = judged.rule.as_str().into();
    told["reason"] = judged.reason.as_str().into();
    told
}

fn name_json(name: &Name) -> Value {
    json!({
        "session": name.session.as_str(),
        "call": name.call.as_str(),
        "tool": &*name.tool,
        "title": name.title,
    })
}

#[cfg(test)]
mod tests;
