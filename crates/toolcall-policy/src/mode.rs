//! Modes: what is done about things that no rule covers, and what no rule may allow.
//! A mode never lifts a deny rule, an ask rule or the protection of a path.

use crate::rule_effect::RuleEffect;

/// How much is done without asking. The greater one is stricter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// Nothing is asked that no rule asks about.
    AllowAll,
    /// Files in the roots are read and written; the rest is asked.
    AcceptEdits,
    /// Files in the roots are read; the rest is asked.
    #[default]
    Ask,
    /// Files in the roots are read; what changes anything is denied.
    ReadOnly,
    /// Everything is denied.
    DenyAll,
}

/// What something amounts to, as far as modes care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ActionClass {
    Nothing,
    ReadInside,
    ReadOutside,
    WriteInside,
    WriteOutside,
    Delete,
    /// A command that was understood and whose programs only read.
    Inspect,
    Command,
    Reach,
    /// A switch to a mode that lets more happen without asking.
    Loosen,
    /// A switch to a mode that lets no more happen.
    Tighten,
    Unknown,
}

impl Mode {
    /// Every mode, from the most lenient to the strictest.
    pub const ALL: [Mode; 5] = [
        Mode::AllowAll,
        Mode::AcceptEdits,
        Mode::Ask,
        Mode::ReadOnly,
        Mode::DenyAll,
    ];

    /// The name, as policy files write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::AllowAll => "allow-all",
            Mode::AcceptEdits => "accept-edits",
            Mode::Ask => "ask",
            Mode::ReadOnly => "read-only",
            Mode::DenyAll => "deny-all",
        }
    }

    /// The mode of this name.
    pub fn named(name: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.as_str() == name)
    }

    /// What happens without asking, in one sentence.
    pub fn description(self) -> &'static str {
        match self {
            Mode::AllowAll => {
                "Everything runs without a question; only deny rules, ask rules and protected paths \
                 still hold."
            }
            Mode::AcceptEdits => {
                "Files in the session's folders are read and written without a question; the rest is \
                 asked about."
            }
            Mode::Ask => {
                "Files in the session's folders are read without a question; the rest is asked about."
            }
            Mode::ReadOnly => {
                "Files in the session's folders are read without a question; what changes anything is \
                 denied."
            }
            Mode::DenyAll => "Every call is denied.",
        }
    }

    /// What a switch from this mode to another amounts to.
    pub(crate) fn switching_to(self, other: Mode) -> ActionClass {
        match other < self {
            true => ActionClass::Loosen,
            false => ActionClass::Tighten,
        }
    }

    /// What to tell people loudly before they work in this mode.
    pub fn warning(self) -> Option<&'static str> {
        match self {
            Mode::AllowAll => Some(
                "ALLOW-ALL: commands, writes, deletions and web requests run WITHOUT ASKING. \
                 Only deny rules, ask rules and protected paths still hold.",
            ),
            Mode::AcceptEdits | Mode::Ask | Mode::ReadOnly | Mode::DenyAll => None,
        }
    }

    /// What is done about something that no rule covers.
    pub(crate) fn stance(self, deed: ActionClass) -> RuleEffect {
        match self {
            Mode::AllowAll => RuleEffect::Allow,
            Mode::AcceptEdits if deed == ActionClass::WriteInside => RuleEffect::Allow,
            Mode::AcceptEdits | Mode::Ask => match deed {
                ActionClass::Nothing | ActionClass::ReadInside | ActionClass::Tighten => {
                    RuleEffect::Allow
                }
                ActionClass::ReadOutside
                | ActionClass::WriteInside
                | ActionClass::WriteOutside
                | ActionClass::Delete
                | ActionClass::Inspect
                | ActionClass::Command
                | ActionClass::Reach
                | ActionClass::Loosen
                | ActionClass::Unknown => RuleEffect::Ask,
            },
            Mode::ReadOnly => Mode::Ask.stance(deed).max(self.floor(deed)),
            Mode::DenyAll => RuleEffect::Deny,
        }
    }

    /// The least that is done about it, even if a rule allows it.
    pub(crate) fn floor(self, deed: ActionClass) -> RuleEffect {
        match self {
            Mode::AllowAll | Mode::AcceptEdits | Mode::Ask => RuleEffect::Allow,
            Mode::ReadOnly => match deed {
                ActionClass::Nothing
                | ActionClass::ReadInside
                | ActionClass::ReadOutside
                | ActionClass::Inspect
                | ActionClass::Reach
                | ActionClass::Loosen
                | ActionClass::Tighten => RuleEffect::Allow,
                ActionClass::WriteInside
                | ActionClass::WriteOutside
                | ActionClass::Delete
                | ActionClass::Command
                | ActionClass::Unknown => RuleEffect::Deny,
            },
            Mode::DenyAll => RuleEffect::Deny,
        }
    }
}

impl ActionClass {
    /// In words, after "no rule covers".
    pub(crate) fn words(self) -> &'static str {
        match self {
            ActionClass::Nothing => "a call that touches nothing",
            ActionClass::ReadInside => "reading in the roots",
            ActionClass::ReadOutside => "reading outside the roots",
            ActionClass::WriteInside => "writing in the roots",
            ActionClass::WriteOutside => "writing outside the roots",
            ActionClass::Delete => "deleting",
            ActionClass::Inspect => "a command that only reads",
            ActionClass::Command => "a command",
            ActionClass::Reach => "reaching out",
            ActionClass::Loosen => "switching to a looser mode",
            ActionClass::Tighten => "switching to a mode that is no looser",
            ActionClass::Unknown => "a tool that does not say what it does",
        }
    }
}
