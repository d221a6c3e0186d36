//! What may be done: verdicts over intents, and the rules that people keep.
//! A policy sees the intent and the setting only; it cannot fail, wait or act.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::command::{Command, Reading};
use crate::event::{Effect, Lifetime, Rule, RuleName};
use crate::ids::{CallId, SessionId};
use crate::intent::{Intent, Origin, Touch};
use crate::text::is_hidden;
use crate::timestamp::Timestamp;

/// Where a call takes place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionContext {
    /// The session.
    pub session: SessionId,
    /// The folder that relative paths start from.
    pub cwd: PathBuf,
    /// The folders the session works in.
    pub roots: Vec<PathBuf>,
    /// The agent whose calls these are.
    pub agent: Arc<str>,
}

impl SessionContext {
    /// A session that works in one folder.
    pub fn new(session: SessionId, cwd: impl Into<PathBuf>) -> Self {
        let cwd = cwd.into();
        Self {
            session,
            roots: vec![cwd.clone()],
            cwd,
            agent: "toolcall".into(),
        }
    }

    /// Whether the path lies in one of the roots, by its components. One with `..` in it may lead
    /// anywhere, so it does not.
    pub fn contains(&self, path: &Path) -> bool {
        let goes_up = path.components().any(|part| part == Component::ParentDir);
        !goes_up && self.roots.iter().any(|root| path.starts_with(root))
    }
}

/// What a policy says about an intent, and which rule said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may be done.
    Allow {
        /// The rule.
        rule: RuleName,
    },
    /// A person decides.
    Ask {
        /// The rule.
        rule: RuleName,
        /// The exact rules that "always" may write. Each matches this intent.
        offers: Vec<Rule>,
    },
    /// It may not be done.
    Deny {
        /// The rule.
        rule: RuleName,
        /// Why, for the person and the model.
        reason: Arc<str>,
    },
}

/// Judges intents. An immutable snapshot: the same intent gets the same verdict.
pub trait Policy: Send + Sync + 'static {
    /// Judges one intent.
    fn judge(&self, intent: &Intent, session_context: &SessionContext) -> Verdict;
}

/// A closure is a policy.
impl<F> Policy for F
where
    F: Fn(&Intent, &SessionContext) -> Verdict + Send + Sync + 'static,
{
    fn judge(&self, intent: &Intent, session_context: &SessionContext) -> Verdict {
        self(intent, session_context)
    }
}

/// Allows everything.
#[derive(Clone, Copy, Debug)]
pub struct AllowAll;

impl Policy for AllowAll {
    fn judge(&self, _intent: &Intent, _setting: &SessionContext) -> Verdict {
        Verdict::allow("allow-all")
    }
}

/// Denies everything.
#[derive(Clone, Copy, Debug)]
pub struct DenyAll;

impl Policy for DenyAll {
    fn judge(&self, _intent: &Intent, _setting: &SessionContext) -> Verdict {
        Verdict::deny("deny-all", "this policy denies everything")
    }
}

/// Asks about everything. What an engine does when it is given no policy.
#[derive(Clone, Copy, Debug)]
pub struct AskAll;

impl Policy for AskAll {
    fn judge(&self, intent: &Intent, _setting: &SessionContext) -> Verdict {
        Verdict::ask("ask-all", intent)
    }
}

/// Asks about what could do harm: everything but reads inside the roots and what touches nothing.
#[derive(Clone, Copy, Debug)]
pub struct AskDangerous;

impl Policy for AskDangerous {
    fn judge(&self, intent: &Intent, session_context: &SessionContext) -> Verdict {
        let is_harmless = |touch: &Touch| match touch {
            Touch::Reads(path) => session_context.contains(path),
            Touch::Writes(_)
            | Touch::Deletes(_)
            | Touch::Moves { .. }
            | Touch::Runs(_)
            | Touch::Reaches(_)
            | Touch::Unknown => false,
        };
        if intent.touches.iter().all(is_harmless) {
            Verdict::allow("harmless")
        } else {
            Verdict::ask("dangerous", intent)
        }
    }
}

impl Verdict {
    /// Allowed by the rule of this name.
    pub fn allow(rule: impl Into<Cow<'static, str>>) -> Self {
        Verdict::Allow {
            rule: RuleName::new(rule),
        }
    }

    /// Denied by the rule of this name.
    pub fn deny(rule: impl Into<Cow<'static, str>>, reason: impl Into<Arc<str>>) -> Self {
        Verdict::Deny {
            rule: RuleName::new(rule),
            reason: reason.into(),
        }
    }

    /// Asked because of the rule of this name; "always" may cover exactly this intent, for the session.
    pub fn ask(rule: impl Into<Cow<'static, str>>, intent: &Intent) -> Self {
        Verdict::Ask {
            rule: RuleName::new(rule),
            offers: vec![Rule::exactly(intent)],
        }
    }
}

impl Rule {
    /// The rule for this session that covers what this intent does and nothing else: the same
    /// tool and the same touches. Where the touches are not known it covers the tool as it is
    /// defined now, and says so.
    pub fn exactly(intent: &Intent) -> Self {
        let tool = describe_tool(intent);
        let mut touches: Vec<String> = intent.touches.iter().map(describe_touch).collect();
        touches.dedup();
        let text = if intent.touches.contains(&Touch::Unknown) {
            format!("any call of {tool}")
        } else if touches.is_empty() {
            format!("{tool} touching nothing")
        } else {
            format!("{tool} {}", touches.join(", "))
        };
        Self {
            text: escape_hidden(&text).into(),
            lifetime: Lifetime::Session,
        }
    }
}

/// Debug formatting lets some characters through that nobody sees: fillers that count as letters.
fn escape_hidden(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Debug formatting makes hidden characters visible and keeps different names different.
fn describe_tool(intent: &Intent) -> String {
    let tool = &intent.tool;
    // Half of the hash: short enough to read, too long to be met by another definition.
    let digest = tool.digest.get(..32).unwrap_or(&tool.digest);
    match &tool.origin {
        Origin::Local => format!("{:?}", tool.name),
        Origin::Mcp(server) => {
            format!(
                "{:?} of the server {server:?} (definition {digest})",
                tool.name
            )
        }
        Origin::Agent => format!("{:?} of the agent (definition {digest})", tool.name),
    }
}

fn describe_touch(touch: &Touch) -> String {
    match touch {
        Touch::Reads(path) => format!("reading {path:?}"),
        Touch::Writes(path) => format!("writing {path:?}"),
        Touch::Deletes(path) => format!("deleting {path:?}"),
        Touch::Moves { from, to } => format!("moving {from:?} to {to:?}"),
        Touch::Runs(command) => describe_command(command),
        Touch::Reaches(target) => format!("reaching {target:?}"),
        Touch::Unknown => "doing anything".to_owned(),
    }
}

fn describe_command(command: &Command) -> String {
    let Command {
        text,
        cwd,
        env,
        scripts,
        reading,
    } = command;
    let mut described = match reading {
        Reading::Understood(_) => format!("running {text:?} in {cwd:?}"),
        Reading::Unclear(_) => format!("running the shell text {text:?} in {cwd:?}"),
    };
    for (place, (name, value)) in env.iter().enumerate() {
        described += if place == 0 { " with " } else { ", " };
        described += &format!("{name}={value:?}");
    }
    for (path, digest) in scripts {
        described += &format!(", where {path:?} is {digest}");
    }
    described
}

/// Holds the policy in force, keeps people's answers, and says when it changed.
pub trait Rulebook: Send + Sync + 'static {
    /// The policy as it is now.
    fn policy(&self) -> Arc<dyn Policy>;

    /// Changes whenever the policy does, so that waiting questions are judged again.
    fn changes(&self) -> watch::Receiver<u64>;

    /// Keeps a person's "always", and for which call it was said.
    fn remember(
        &self,
        rule: &Rule,
        effect: Effect,
        context: &AnswerContext,
    ) -> Result<(), RulebookError>;
}

/// When and for which call an answer was given, for whoever reads the answers rule later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerContext {
    /// When.
    pub when: Timestamp,
    /// In which session.
    pub session: SessionId,
    /// For which call.
    pub call: CallId,
    /// What that call was, in one line.
    pub title: Arc<str>,
}

/// An answer could not be answers.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("the rule could not be answers: {reason}")]
pub struct RulebookError {
    /// Why.
    pub reason: Arc<str>,
}

/// Keeps answers in memory, for as long as the session lives.
pub struct SessionRulebook {
    current: Mutex<Arc<PolicyWithAnswers>>,
    generation: watch::Sender<u64>,
}

/// A policy with the answers that were answers.
#[derive(Clone)]
struct PolicyWithAnswers {
    policy: Arc<dyn Policy>,
    answers: HashMap<Rule, Effect>,
}

impl SessionRulebook {
    /// Starts from this policy.
    pub fn new(policy: impl Policy) -> Self {
        Self {
            current: Mutex::new(Arc::new(PolicyWithAnswers {
                policy: Arc::new(policy),
                answers: HashMap::new(),
            })),
            generation: watch::Sender::new(0),
        }
    }

    /// Replaces the policy; the answers answers stay.
    pub fn replace(&self, policy: impl Policy) {
        self.change(|current| current.policy = Arc::new(policy));
    }

    fn change(&self, change: impl FnOnce(&mut PolicyWithAnswers)) {
        change(Arc::make_mut(&mut self.current.lock()));
        self.generation.send_modify(|generation| *generation += 1);
    }
}

impl Rulebook for SessionRulebook {
    fn policy(&self) -> Arc<dyn Policy> {
        self.current.lock().clone()
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }

    fn remember(
        &self,
        rule: &Rule,
        effect: Effect,
        _context: &AnswerContext,
    ) -> Result<(), RulebookError> {
        self.change(|current| {
            let answers = current.answers.entry(rule.clone()).or_insert(effect);
            if effect == Effect::Deny {
                *answers = Effect::Deny;
            }
        });
        Ok(())
    }
}

/// A answers answer answers a question that the policy still asks. It never lifts a denial.
impl Policy for PolicyWithAnswers {
    fn judge(&self, intent: &Intent, session_context: &SessionContext) -> Verdict {
        let verdict = self.policy.judge(intent, session_context);
        if self.answers.is_empty() {
            return verdict;
        }
        let Verdict::Ask { offers, .. } = &verdict else {
            return verdict;
        };
        let answer = |effect| {
            offers
                .iter()
                .find(|rule| self.answers.get(rule) == Some(&effect))
        };
        if let Some(rule) = answer(Effect::Deny) {
            return Verdict::deny(rule.text.to_string(), "you chose to always reject this");
        }
        match answer(Effect::Allow) {
            Some(rule) => Verdict::allow(rule.text.to_string()),
            None => verdict,
        }
    }
}
