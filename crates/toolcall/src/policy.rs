//! Policies judge intents; rulebooks hold a policy and remember the user's answers.
//! A policy sees the intent and the session context only; it cannot fail, wait or act.

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

/// The session of a call: its directory, roots and agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionContext {
    /// The session's id.
    pub session: SessionId,
    /// The directory that relative paths start from.
    pub cwd: PathBuf,
    /// The directories that the session works in.
    pub roots: Vec<PathBuf>,
    /// The name of the agent that makes the calls.
    pub agent: Arc<str>,
}

impl SessionContext {
    /// Creates the context of a session that works in one directory.
    pub fn new(session: SessionId, cwd: impl Into<PathBuf>) -> Self {
        let cwd = cwd.into();
        Self {
            session,
            roots: vec![cwd.clone()],
            cwd,
            agent: "toolcall".into(),
        }
    }

    /// Returns whether the path lies in one of the roots, by its components. A path with `..` never
    /// does: it may lead anywhere.
    pub fn contains(&self, path: &Path) -> bool {
        let goes_up = path.components().any(|part| part == Component::ParentDir);
        !goes_up && self.roots.iter().any(|root| path.starts_with(root))
    }
}

/// A policy's verdict about an intent, with the rule that decided it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The call may run.
    Allow {
        /// The rule that decided.
        rule: RuleName,
    },
    /// The user decides.
    Ask {
        /// The rule that decided.
        rule: RuleName,
        /// The exact rules that an "always" answer may store. Each matches this intent.
        offers: Vec<Rule>,
    },
    /// The call may not run.
    Deny {
        /// The rule that decided.
        rule: RuleName,
        /// Why, for the user and the model.
        reason: Arc<str>,
    },
}

/// Judges intents. A policy is an immutable snapshot: the same intent gets the same verdict.
///
/// A closure is a policy:
///
/// ```
/// use toolcall::{Engine, Intent, Registry, SessionContext, Touch, Verdict};
///
/// let policy = |intent: &Intent, context: &SessionContext| {
///     let is_read = |touch: &Touch| matches!(touch, Touch::Reads(path) if context.contains(path));
///     if intent.touches.iter().all(is_read) {
///         Verdict::allow("reads")
///     } else {
///         Verdict::ask("everything-else", intent)
///     }
/// };
/// let engine = Engine::builder(Registry::new()).policy(policy).build();
/// ```
pub trait Policy: Send + Sync + 'static {
    /// Judges one intent.
    fn judge(&self, intent: &Intent, session_context: &SessionContext) -> Verdict;
}

/// Lets a closure be a policy.
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

/// Asks about everything. An engine without a policy uses it.
#[derive(Clone, Copy, Debug)]
pub struct AskAll;

impl Policy for AskAll {
    fn judge(&self, intent: &Intent, _setting: &SessionContext) -> Verdict {
        Verdict::ask("ask-all", intent)
    }
}

/// Asks about everything but reads inside the roots and calls that touch nothing.
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
    /// Allows by the rule of this name.
    pub fn allow(rule: impl Into<Cow<'static, str>>) -> Self {
        Verdict::Allow {
            rule: RuleName::new(rule),
        }
    }

    /// Denies by the rule of this name, with the reason.
    pub fn deny(rule: impl Into<Cow<'static, str>>, reason: impl Into<Arc<str>>) -> Self {
        Verdict::Deny {
            rule: RuleName::new(rule),
            reason: reason.into(),
        }
    }

    /// Asks because of the rule of this name. An "always" answer covers exactly this intent, for
    /// the session.
    pub fn ask(rule: impl Into<Cow<'static, str>>, intent: &Intent) -> Self {
        Verdict::Ask {
            rule: RuleName::new(rule),
            offers: vec![Rule::exactly(intent)],
        }
    }
}

impl Rule {
    /// Returns the session rule that covers exactly this intent: the same tool and the same
    /// touches. Where the touches are unknown it covers any call of the tool as it is defined now,
    /// and its text says so.
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

/// Escapes invisible characters that debug formatting lets through: fillers that count as letters.
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
    // Half of the hash: short enough to read, too long for a collision.
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
    for (index, (name, value)) in env.iter().enumerate() {
        described += if index == 0 { " with " } else { ", " };
        described += &format!("{name}={value:?}");
    }
    for (path, digest) in scripts {
        described += &format!(", where {path:?} is {digest}");
    }
    described
}

/// Holds the current policy, remembers the user's "always" answers, and signals changes.
pub trait Rulebook: Send + Sync + 'static {
    /// Returns the current policy.
    fn policy(&self) -> Arc<dyn Policy>;

    /// Returns a counter that changes whenever the policy does, so that open questions are judged
    /// again.
    fn changes(&self) -> watch::Receiver<u64>;

    /// Remembers an "always" answer, with the call it was given for.
    fn remember(
        &self,
        rule: &Rule,
        effect: Effect,
        context: &AnswerContext,
    ) -> Result<(), RulebookError>;
}

/// When and for which call an answer was given. It is stored with the remembered rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerContext {
    /// When the answer was given.
    pub when: Timestamp,
    /// The session of the call.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// The title of the call.
    pub title: Arc<str>,
}

/// A rule could not be stored.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("the rule could not be kept: {reason}")]
pub struct RulebookError {
    /// Why.
    pub reason: Arc<str>,
}

/// A rulebook that remembers answers in memory, for as long as the session lives.
pub struct SessionRulebook {
    current: Mutex<Arc<PolicyWithAnswers>>,
    generation: watch::Sender<u64>,
}

/// A policy with the answers that were remembered.
#[derive(Clone)]
struct PolicyWithAnswers {
    policy: Arc<dyn Policy>,
    answers: HashMap<Rule, Effect>,
}

impl SessionRulebook {
    /// Creates a rulebook with this policy.
    pub fn new(policy: impl Policy) -> Self {
        Self {
            current: Mutex::new(Arc::new(PolicyWithAnswers {
                policy: Arc::new(policy),
                answers: HashMap::new(),
            })),
            generation: watch::Sender::new(0),
        }
    }

    /// Replaces the policy; the remembered answers stay.
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

/// A remembered answer answers a question that the policy still asks. It never lifts a denial.
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
