//! Modes: what is done about things that no rule covers, and what no rule may allow.
//! A mode never lifts a deny rule, an ask rule or the protection of a path.

use crate::stance::Stance;

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
pub(crate) enum Deed {
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
    pub(crate) fn switching_to(self, other: Mode) -> Deed {
        match other < self {
            true => Deed::Loosen,
            false => Deed::Tighten,
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
    pub(crate) fn stance(self, deed: Deed) -> Stance {
        match self {
            Mode::AllowAll => Stance::Allow,
            Mode::AcceptEdits if deed == Deed::WriteInside => Stance::Allow,
            Mode::AcceptEdits | Mode::Ask => match deed {
                Deed::Nothing | Deed::ReadInside | Deed::Tighten => Stance::Allow,
                Deed::ReadOutside
                | Deed::WriteInside
                | Deed::WriteOutside
                | Deed::Delete
                | Deed::Inspect
                | Deed::Command
                | Deed::Reach
                | Deed::Loosen
                | Deed::Unknown => Stance::Ask,
            },
            Mode::ReadOnly => Mode::Ask.stance(deed).max(self.floor(deed)),
            Mode::DenyAll => Stance::Deny,
        }
    }

    /// The least that is done about it, even if a rule allows it.
    pub(crate) fn floor(self, deed: Deed) -> Stance {
        match self {
            Mode::AllowAll | Mode::AcceptEdits | Mode::Ask => Stance::Allow,
            Mode::ReadOnly => match deed {
                Deed::Nothing
                | Deed::ReadInside
                | Deed::ReadOutside
                | Deed::Inspect
                | Deed::Reach
                | Deed::Loosen
                | Deed::Tighten => Stance::Allow,
                Deed::WriteInside
                | Deed::WriteOutside
                | Deed::Delete
                | Deed::Command
                | Deed::Unknown => Stance::Deny,
            },
            Mode::DenyAll => Stance::Deny,
        }
    }
}

impl Deed {
    /// In words, after "no rule covers".
    pub(crate) fn words(self) -> &'static str {
        match self {
            Deed::Nothing => "a call that touches nothing",
            Deed::ReadInside => "reading in the roots",
            Deed::ReadOutside => "reading outside the roots",
            Deed::WriteInside => "writing in the roots",
            Deed::WriteOutside => "writing outside the roots",
            Deed::Delete => "deleting",
            Deed::Inspect => "a command that only reads",
            Deed::Command => "a command",
            Deed::Reach => "reaching out",
            Deed::Loosen => "switching to a looser mode",
            Deed::Tighten => "switching to a mode that is no looser",
            Deed::Unknown => "a tool that does not say what it does",
        }
    }
}
