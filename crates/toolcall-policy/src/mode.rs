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
                Deed::Nothing | Deed::ReadInside => Stance::Allow,
                Deed::ReadOutside
                | Deed::WriteInside
                | Deed::WriteOutside
                | Deed::Delete
                | Deed::Inspect
                | Deed::Command
                | Deed::Reach
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
                | Deed::Reach => Stance::Allow,
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
            Deed::Unknown => "a tool that does not say what it does",
        }
    }
}
