//! Recorded calls, judged again by the rules of today.
//! Records come in one by one; nothing is run, asked or kept.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolcall::{
    CallId, Decision, Effect, Event, EventKind, Intent, Judge, Lifetime, Prepared, Record,
    Remembered, SessionContext, SessionId, Touch,
};

use crate::error::PolicyError;
use crate::rule_effect::RuleEffect;
use crate::store::{PolicyStore, PolicyStoreConfig};

/// Judges recorded calls again, as their records come in.
pub struct PolicyReplay {
    config: PolicyStoreConfig,
    mask: &'static str,
    stores: HashMap<PathBuf, PolicyStore>,
    folders: HashMap<SessionId, PathBuf>,
    /// Rules that an answer kept for one session: without that answer, it would have been asked.
    answers: HashMap<SessionId, Vec<Arc<str>>>,
    open: HashMap<CallKey, OpenCall>,
    replayed: Replayed,
}

/// What became of recorded calls, in the order in which they were decided on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Calls that were judged again.
    pub judged: Vec<JudgedCall>,
    /// Calls that cannot be.
    pub skipped: Vec<SkippedCall>,
}

/// A call that was judged again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedCall {
    /// Which call.
    pub call: CallName,
    /// What the rules of then said.
    pub was: RuleEffect,
    /// What came of it then.
    pub effect: Effect,
    /// What the rules of today say.
    pub would: RuleEffect,
    /// The rule that decides today.
    pub rule: String,
    /// Why it does.
    pub reason: String,
}

/// A call that cannot be judged again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedCall {
    /// Which call.
    pub call: CallName,
    /// Why not.
    pub why: &'static str,
}

/// Which call is meant, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallName {
    /// Its session.
    pub session: SessionId,
    /// Its id.
    pub id: CallId,
    /// Its tool, as the model wrote it.
    pub tool: Arc<str>,
    /// Its title; empty if it never had one.
    pub title: String,
}

type CallKey = (SessionId, CallId);

/// A call whose decision has not been read yet.
#[derive(Default)]
struct OpenCall {
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

impl PolicyReplay {
    /// Judges by these config, with each session's own folder as the root. The mask is what stands
    /// where a secret was taken out of a record.
    pub fn new(config: PolicyStoreConfig, mask: &'static str) -> Self {
        Self {
            config,
            mask,
            stores: HashMap::new(),
            folders: HashMap::new(),
            answers: HashMap::new(),
            open: HashMap::new(),
            replayed: Replayed::default(),
        }
    }

    /// Notes the folder in which a session was opened.
    pub fn session(&mut self, session: SessionId, cwd: PathBuf) {
        self.folders.insert(session, cwd);
    }

    /// Takes the next record of a call. It fails where the rules of today are broken.
    pub fn record(&mut self, record: Record) -> Result<(), PolicyError> {
        let key = (record.session, record.call);
        match record.event.kind() {
            EventKind::Announcement | EventKind::Preparation | EventKind::Permission => {
                self.before_start(key, record.event)?;
            }
            EventKind::Finish => {
                if let Some(open) = self.open.remove(&key) {
                    self.skip(key, &open, "it ended before it was decided on");
                }
            }
            EventKind::Start | EventKind::Form | EventKind::Passing | EventKind::Detail => {}
        }
        Ok(())
    }

    /// What is left was still open when it was exported.
    pub fn finish(mut self) -> Replayed {
        let mut left: Vec<_> = std::mem::take(&mut self.open).into_iter().collect();
        left.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (key, open) in left {
            self.skip(key, &open, "nothing was decided yet");
        }
        self.replayed
    }

    fn before_start(&mut self, key: CallKey, event: Event) -> Result<(), PolicyError> {
        if let Event::Decided(decision) = event {
            let open = self.open.remove(&key);
            return open.map_or(Ok(()), |open| self.decide(key, open, &decision));
        }
        let open = || self.open.entry(key).or_default();
        if let Event::Announced(announced) = event {
            open().tool = announced.tool.clone();
        } else if let Event::Prepared(prepared) = event {
            open().prepared = Some(prepared);
        } else if let Event::Asked(_) = event {
            open().asked = Asked::Yes;
        }
        Ok(())
    }

    fn decide(
        &mut self,
        key: CallKey,
        open: OpenCall,
        decision: &Decision,
    ) -> Result<(), PolicyError> {
        let was = self.was(&key.0, open.asked, decision);
        let Some(prepared) = open.prepared.clone() else {
            self.skip(key, &open, "it did not say what it would do");
            return Ok(());
        };
        if let Some(why) = omission(&prepared.intent, self.mask) {
            self.skip(key, &open, why);
            return Ok(());
        }
        let Some(cwd) = self.folders.get(&key.0).filter(|cwd| cwd.is_absolute()) else {
            self.skip(key, &open, "the folder of its session was not kept");
            return Ok(());
        };
        let context = SessionContext::new(key.0.clone(), cwd.clone());
        let explained = self
            .book(cwd.clone())?
            .rules()
            .explain(&prepared.intent, &context);
        self.replayed.judged.push(JudgedCall {
            call: name(key, &open),
            was,
            effect: decision.effect,
            would: explained.stance,
            rule: explained.rule,
            reason: explained.reason,
        });
        Ok(())
    }

    /// What the rules of then said.
    fn was(&mut self, session: &SessionId, asked: Asked, decision: &Decision) -> RuleEffect {
        match (asked, &decision.by) {
            (_, Judge::Person(remembered)) => {
                if let Remembered::Kept(rule) = remembered
                    && rule.lifetime == Lifetime::Session
                {
                    let kept = self.answers.entry(session.clone()).or_default();
                    kept.push(rule.text.clone());
                }
                RuleEffect::Ask
            }
            (Asked::Yes, Judge::Rule(_) | Judge::Unseen) => RuleEffect::Ask,
            (Asked::No, Judge::Rule(rule)) => {
                let kept = self.answers.get(session).map(Vec::as_slice);
                // The name of a rule holds its text.
                let is_answer = |text: &Arc<str>| rule.as_str().contains(&**text);
                if kept.unwrap_or_default().iter().any(is_answer) {
                    RuleEffect::Ask
                } else {
                    decision.effect.into()
                }
            }
            (Asked::No, Judge::Unseen) => decision.effect.into(),
        }
    }

    /// The rules that hold in a folder. Broken ones would deny everything, which is no answer.
    fn book(&mut self, cwd: PathBuf) -> Result<&PolicyStore, PolicyError> {
        let open = || {
            PolicyStore::open(PolicyStoreConfig {
                roots: vec![cwd.clone()],
                ..self.config.clone()
            })
        };
        let book = self.stores.entry(cwd.clone()).or_insert_with(open);
        match book.problem() {
            Some(problem) => Err(problem),
            None => Ok(book),
        }
    }

    fn skip(&mut self, key: CallKey, open: &OpenCall, why: &'static str) {
        let call = name(key, open);
        self.replayed.skipped.push(SkippedCall { call, why });
    }
}

impl Replayed {
    /// Calls about which the rules of today say something else than those of then.
    pub fn different(&self) -> impl Iterator<Item = &JudgedCall> {
        self.judged
            .iter()
            .filter(|judged| judged.was != judged.would)
    }
}

fn name((session, id): CallKey, open: &OpenCall) -> CallName {
    let title = open
        .prepared
        .as_ref()
        .map(|prepared| prepared.intent.title.clone());
    CallName {
        session,
        id,
        tool: open.tool.clone(),
        title: title.unwrap_or_default(),
    }
}

/// Why an intent is not what was judged then.
fn omission(intent: &Intent, mask: &str) -> Option<&'static str> {
    const SECRET: &str = "a secret was left out of what it touched";
    let hides = |text: &str| text.contains(mask).then_some(SECRET);
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

#[cfg(test)]
mod tests;
