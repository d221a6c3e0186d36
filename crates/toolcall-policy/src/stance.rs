//! What a rule says: yes, ask or no, in the order in which they win.
//! It knows nothing of rules or calls.

use toolcall::Effect;

/// What a rule says about what it matches. The greater one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stance {
    /// It may be done.
    Allow,
    /// A person decides.
    Ask,
    /// It may not be done.
    Deny,
}

impl Stance {
    /// Every stance, from the weakest to the strongest.
    pub const ALL: [Stance; 3] = [Stance::Allow, Stance::Ask, Stance::Deny];

    /// The name, as policy files write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Stance::Allow => "allow",
            Stance::Ask => "ask",
            Stance::Deny => "deny",
        }
    }
}

impl From<Effect> for Stance {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Allow => Self::Allow,
            Effect::Deny => Self::Deny,
        }
    }
}
