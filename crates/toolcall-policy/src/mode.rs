//! Modes: the effect on what no rule covers, and what no rule may allow.
//! A mode never overrides a deny rule, an ask rule or the protection of a path.

use crate::rule_effect::RuleEffect;

/// How much runs without asking. Modes are ordered; a greater one is stricter.
///
/// ```
/// use toolcall_policy::Mode;
///
/// assert_eq!(Mode::named("read-only"), Some(Mode::ReadOnly));
/// assert!(Mode::ReadOnly > Mode::Ask);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// Everything runs; only deny rules, ask rules and protected paths still hold.
    AllowAll,
    /// Reading and writing inside the workspace runs; the rest is asked about.
    AcceptEdits,
    /// Reading inside the workspace runs; the rest is asked about.
    #[default]
    Ask,
    /// Reading inside the workspace runs; everything that changes anything is denied.
    ReadOnly,
    /// Everything is denied.
    DenyAll,
}

/// The class of an action, as far as modes distinguish actions. Inside is inside the session's roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ActionClass {
    Nothing,
    ReadInside,
    ReadOutside,
    WriteInside,
    WriteOutside,
    Delete,
    /// An understood command whose programs only read.
    Inspect,
    Command,
    Reach,
    /// A switch to a less strict mode.
    Loosen,
    /// A switch to a mode that is as strict or stricter.
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

    /// Returns the name, as policy files write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::AllowAll => "allow-all",
            Mode::AcceptEdits => "accept-edits",
            Mode::Ask => "ask",
            Mode::ReadOnly => "read-only",
            Mode::DenyAll => "deny-all",
        }
    }

    /// Returns the mode of this name.
    pub fn named(name: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.as_str() == name)
    }

    /// Returns a sentence about what runs without asking, for users.
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

    /// Returns the class of a switch from this mode to another.
    pub(crate) fn switching_to(self, other: Mode) -> ActionClass {
        if other < self {
            ActionClass::Loosen
        } else {
            ActionClass::Tighten
        }
    }

    /// Returns the warning to show before a session runs in this mode, if it needs one.
    pub fn warning(self) -> Option<&'static str> {
        match self {
            Mode::AllowAll => Some(
                "ALLOW-ALL: commands, writes, deletions and web requests run WITHOUT ASKING. \
                 Only deny rules, ask rules and protected paths still hold.",
            ),
            Mode::AcceptEdits | Mode::Ask | Mode::ReadOnly | Mode::DenyAll => None,
        }
    }

    /// Returns the effect on an action that no rule covers.
    pub(crate) fn default_effect(self, class: ActionClass) -> RuleEffect {
        match self {
            Mode::AllowAll => RuleEffect::Allow,
            Mode::AcceptEdits if class == ActionClass::WriteInside => RuleEffect::Allow,
            Mode::AcceptEdits | Mode::Ask => match class {
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
            Mode::ReadOnly => Mode::Ask
                .default_effect(class)
                .max(self.minimum_effect(class)),
            Mode::DenyAll => RuleEffect::Deny,
        }
    }

    /// Returns the weakest effect on an action, which holds even if a rule allows it.
    pub(crate) fn minimum_effect(self, class: ActionClass) -> RuleEffect {
        match self {
            Mode::AllowAll | Mode::AcceptEdits | Mode::Ask => RuleEffect::Allow,
            Mode::ReadOnly => match class {
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
    /// Returns a description that fits after "asks before".
    pub(crate) fn description(self) -> &'static str {
        match self {
            ActionClass::Nothing => "calling a tool that touches nothing",
            ActionClass::ReadInside => "reading inside the workspace",
            ActionClass::ReadOutside => "reading outside the workspace",
            ActionClass::WriteInside => "writing inside the workspace",
            ActionClass::WriteOutside => "writing outside the workspace",
            ActionClass::Delete => "deleting",
            ActionClass::Inspect => "running a command that only reads",
            ActionClass::Command => "running a command",
            ActionClass::Reach => "reaching a host or a server",
            ActionClass::Loosen => "switching to a looser mode",
            ActionClass::Tighten => "switching to a mode that is no looser",
            ActionClass::Unknown => "calling a tool that does not say what it does",
        }
    }
}
