//! Judges recorded calls again by the current rules.
//! It takes records one by one; it runs nothing, asks nothing and remembers nothing.

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

/// Judges recorded calls again. Call [`Self::session`] and [`Self::record`] in order, then [`Self::finish`].
pub struct PolicyReplay {
    config: PolicyStoreConfig,
    mask: &'static str,
    stores: HashMap<PathBuf, PolicyStore>,
    directories: HashMap<SessionId, PathBuf>,
    /// Rules remembered for one session. A call that one of them allowed counts as asked about.
    answers: HashMap<SessionId, Vec<Arc<str>>>,
    open: HashMap<CallKey, OpenCall>,
    replayed: ReplayResult,
}

/// The result of a replay, in the order of the recorded decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayResult {
    /// Calls that were judged again.
    pub judged: Vec<JudgedCall>,
    /// Calls that cannot be judged again.
    pub skipped: Vec<SkippedCall>,
}

/// A call that was judged again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedCall {
    /// Which call.
    pub call: CallName,
    /// The verdict of the rules then.
    pub was: RuleEffect,
    /// The decision then, by a rule or by the user.
    pub effect: Effect,
    /// The verdict of the current rules.
    pub would: RuleEffect,
    /// The name of the rule that decides now.
    pub rule: String,
    /// Why it decides so.
    pub reason: String,
}

/// A call that cannot be judged again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedCall {
    /// Which call.
    pub call: CallName,
    /// Why it cannot.
    pub why: &'static str,
}

/// The name of a call, for users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallName {
    /// Its session.
    pub session: SessionId,
    /// Its id.
    pub id: CallId,
    /// Its tool, as the model wrote it.
    pub tool: Arc<str>,
    /// Its title; empty if it was never prepared.
    pub title: String,
}

type CallKey = (SessionId, CallId);

/// A call whose decision has not been read yet.
#[derive(Default)]
struct OpenCall {
    tool: Arc<str>,
    prepared: Option<Arc<Prepared>>,
    asked: QuestionState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum QuestionState {
    #[default]
    NotAsked,
    Asked,
}

impl PolicyReplay {
    /// Creates a replay with this configuration; the root of each session is its own directory. The mask is
    /// the text that replaces secrets in records.
    pub fn new(config: PolicyStoreConfig, mask: &'static str) -> Self {
        Self {
            config,
            mask,
            stores: HashMap::new(),
            directories: HashMap::new(),
            answers: HashMap::new(),
            open: HashMap::new(),
            replayed: ReplayResult::default(),
        }
    }

    /// Records the directory in which a session was opened.
    pub fn session(&mut self, session: SessionId, cwd: PathBuf) {
        self.directories.insert(session, cwd);
    }

    /// Replays the next record of a call. Returns an error if the current rules have one.
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

    /// Returns the result. Calls without a decision are skipped.
    pub fn finish(mut self) -> ReplayResult {
        let mut left: Vec<_> = std::mem::take(&mut self.open).into_iter().collect();
        left.sort_by(|(a, _), (b, _)| a.cmp(b));
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
            open().asked = QuestionState::Asked;
        }
        Ok(())
    }

    fn decide(
        &mut self,
        key: CallKey,
        open: OpenCall,
        decision: &Decision,
    ) -> Result<(), PolicyError> {
        let was = self.verdict_then(&key.0, open.asked, decision);
        let Some(prepared) = open.prepared.clone() else {
            self.skip(key, &open, "it did not say what it would do");
            return Ok(());
        };
        if let Some(why) = omission(&prepared.intent, self.mask) {
            self.skip(key, &open, why);
            return Ok(());
        }
        let Some(cwd) = self.directories.get(&key.0).filter(|cwd| cwd.is_absolute()) else {
            self.skip(key, &open, "the directory of its session was not recorded");
            return Ok(());
        };
        let context = SessionContext::new(key.0.clone(), cwd.clone());
        let explained = self
            .store(cwd.clone())?
            .rules()
            .explain(&prepared.intent, &context);
        self.replayed.judged.push(JudgedCall {
            call: name(key, &open),
            was,
            effect: decision.effect,
            would: explained.effect,
            rule: explained.rule,
            reason: explained.reason,
        });
        Ok(())
    }

    /// Returns the verdict of the rules then.
    fn verdict_then(
        &mut self,
        session: &SessionId,
        asked: QuestionState,
        decision: &Decision,
    ) -> RuleEffect {
        match (asked, &decision.by) {
            (_, Judge::Person(remembered)) => {
                if let Remembered::Kept(rule) = remembered
                    && rule.lifetime == Lifetime::Session
                {
                    let remembered = self.answers.entry(session.clone()).or_default();
                    remembered.push(rule.text.clone());
                }
                RuleEffect::Ask
            }
            (QuestionState::Asked, Judge::Rule(_) | Judge::Unseen) => RuleEffect::Ask,
            (QuestionState::NotAsked, Judge::Rule(rule)) => {
                let remembered = self.answers.get(session).map(Vec::as_slice);
                // The name of a rule contains its text.
                let is_answer = |text: &Arc<str>| rule.as_str().contains(&**text);
                if remembered.unwrap_or_default().iter().any(is_answer) {
                    RuleEffect::Ask
                } else {
                    decision.effect.into()
                }
            }
            (QuestionState::NotAsked, Judge::Unseen) => decision.effect.into(),
        }
    }

    /// Returns the rules of a directory. If they have an error, every verdict would be a denial, so that is
    /// returned instead.
    fn store(&mut self, cwd: PathBuf) -> Result<&PolicyStore, PolicyError> {
        let open = || {
            PolicyStore::open(PolicyStoreConfig {
                roots: vec![cwd.clone()],
                ..self.config.clone()
            })
        };
        let store = self.stores.entry(cwd.clone()).or_insert_with(open);
        match store.problem() {
            Some(problem) => Err(problem),
            None => Ok(store),
        }
    }

    fn skip(&mut self, key: CallKey, open: &OpenCall, why: &'static str) {
        let call = name(key, open);
        self.replayed.skipped.push(SkippedCall { call, why });
    }
}

impl ReplayResult {
    /// Returns the calls whose verdict is now different.
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

/// Returns what the record left out of the intent, so that it cannot be judged again.
fn omission(intent: &Intent, mask: &str) -> Option<&'static str> {
    const SECRET: &str = "a secret was left out of what it touched";
    let hides = |text: &str| text.contains(mask).then_some(SECRET);
    let path = |path: &Path| hides(&path.to_string_lossy());
    intent.touches.iter().find_map(|touch| match touch {
        Touch::Reads(read) => path(read),
        Touch::Writes(written) => path(written),
        Touch::Deletes(deleted) => path(deleted),
        Touch::Moves { from, to } => path(from).or_else(|| path(to)),
        Touch::Runs(command) if command.text.is_empty() => Some("its input was not recorded"),
        Touch::Runs(command) => hides(&command.text),
        Touch::Reaches(target) => hides(target),
        Touch::Unknown => None,
    })
}

#[cfg(test)]
mod tests;
