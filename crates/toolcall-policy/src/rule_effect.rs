//! The effect of a rule: allow, ask or deny, in order of precedence.
//! It knows nothing of rules or calls.

use toolcall::Effect;

/// The effect of a rule on what it matches. Of several, the greatest wins.
///
/// ```
/// use toolcall_policy::RuleEffect;
///
/// assert_eq!(RuleEffect::Allow.max(RuleEffect::Deny), RuleEffect::Deny);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuleEffect {
    /// The call may run.
    Allow,
    /// The user decides.
    Ask,
    /// The call may not run.
    Deny,
}

impl RuleEffect {
    /// Every effect, from the weakest to the strongest.
    pub const ALL: [RuleEffect; 3] = [RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny];

    /// Returns the name, as policy files write it.
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
