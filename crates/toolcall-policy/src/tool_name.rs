//! The names of tools in rules, with their origin.
//! An allow rule names exactly one tool; ask and deny rules may name many.

use toolcall::{Origin, ToolIdentity};

use crate::error::RuleError;
use crate::rule_effect::RuleEffect;

/// The name of one tool or of many, as written in a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolName {
    /// As it was written.
    pub(crate) source: String,
    origin: OriginName,
    name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum OriginName {
    Plain,
    Agent,
    Mcp(String),
}

impl ToolName {
    /// Parses `read_file`, `mcp:server/tool` or `agent:tool`; `*` instead of the tool stands for all.
    pub(crate) fn parse(source: &str) -> Result<Self, RuleError> {
        let error = || {
            RuleError::new(
                format!("`{source}` names no tool"),
                "write `read_file`, `mcp:server/tool` or `agent:tool`",
            )
        };
        let (origin, name) = if let Some(rest) = source.strip_prefix("mcp:") {
            let (server, name) = rest.split_once('/').ok_or_else(error)?;
            (OriginName::Mcp(server.to_owned()), name)
        } else if let Some(name) = source.strip_prefix("agent:") {
            (OriginName::Agent, name)
        } else {
            (OriginName::Plain, source)
        };
        let is_empty = name.is_empty() || origin == OriginName::Mcp(String::new());
        if is_empty {
            Err(error())
        } else {
            Ok(Self {
                source: source.to_owned(),
                origin,
                name: name.to_owned(),
            })
        }
    }

    /// Returns the name of exactly this tool, if it parses as the same name.
    pub(crate) fn of(tool: &ToolIdentity) -> Option<Self> {
        let source = match &tool.origin {
            Origin::Local => tool.name.to_string(),
            Origin::Agent => format!("agent:{}", tool.name),
            Origin::Mcp(server) => format!("mcp:{server}/{}", tool.name),
        };
        let name = Self::parse(&source).ok()?;
        let is_exact = name.name != "*" && name.names(tool, RuleEffect::Allow);
        is_exact.then_some(name)
    }

    pub(crate) fn is_many(&self) -> bool {
        self.name == "*"
    }

    /// Whether it names this tool. In ask and deny rules, a plain name matches tools of every origin.
    pub(crate) fn names(&self, tool: &ToolIdentity, effect: RuleEffect) -> bool {
        let is_wide = effect != RuleEffect::Allow;
        let is_from = match (&self.origin, &tool.origin) {
            (OriginName::Plain, Origin::Local) | (OriginName::Agent, Origin::Agent) => true,
            (OriginName::Plain, Origin::Mcp(_) | Origin::Agent) => is_wide,
            (OriginName::Mcp(wanted), Origin::Mcp(server)) => **wanted == **server,
            (OriginName::Agent, Origin::Local | Origin::Mcp(_))
            | (OriginName::Mcp(_), Origin::Local | Origin::Agent) => false,
        };
        is_from && (self.name == "*" || *self.name == *tool.name)
    }
}
