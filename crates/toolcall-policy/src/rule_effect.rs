//! What a rule says: yes, ask or no, in the order in which they win.
//! It knows nothing of rules or calls.

use toolcall::Effect;

/// What a rule says about what it matches. The greater one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuleEffect {
    /// It may be done.
    Allow,
    /// A person decides.
    Ask,
    /// It may not be done.
    Deny,
}

impl RuleEffect {
    /// Every effect, from the weakest to the strongest.
    pub const ALL: [RuleEffect; 3] = [RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny];

    /// The name, as policy files write it.
    pub fn as_str(self) -> &'static str {
        match self {
            RuleEffect::Allow => "allow",
            RuleEffect::Ask => "ask",
            RuleEffect::Deny => "deny",
        }
    }
}

impl From<Effect> for RuleEffect {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Allow => Self::Allow,
            Effect::Deny => Self::Deny,
        }
    }
}
