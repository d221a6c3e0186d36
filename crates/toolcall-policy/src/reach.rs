//! Targets that calls reach (hosts, tools of MCP servers, modes), and patterns of them.
//! Hosts are normalized as browsers do; no name is looked up.

use url::{Host, Url};

use crate::error::RuleError;
use crate::file::unknown_mode;
use crate::mode::Mode;
use crate::rule_effect::RuleEffect;

/// A pattern of targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReachPattern {
    /// The pattern as it was written.
    pub(crate) source: String,
    kind: ReachKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ReachKind {
    Anything,
    /// `mcp:server/tool`, or all tools of a server.
    Mcp {
        server: String,
        tool: String,
    },
    /// `mode:read-only`.
    Mode(Mode),
    /// `mode:*`.
    EveryMode,
    /// A host and an optional port; with `*.` before it, all subdomains of the host.
    Host {
        name: String,
        port: Option<u16>,
        below: bool,
    },
}

impl ReachPattern {
    /// Parses a host (`docs.rs`, `*.docs.rs`, `localhost:8080`), `mcp:server/tool`, `mcp:server/*`,
    /// `mode:read-only`, `mode:*` or `*`.
    pub(crate) fn parse(source: &str) -> Result<Self, RuleError> {
        let kind = if source == "*" {
            ReachKind::Anything
        } else if let Some(rest) = source.strip_prefix("mcp:") {
            mcp(source, rest)?
        } else if let Some(name) = mode_name(source) {
            mode(name)?
        } else {
            host_shape(source)?
        };
        Ok(Self {
            source: source.to_owned(),
            kind,
        })
    }

    pub(crate) fn is_mcp(&self) -> bool {
        matches!(self.kind, ReachKind::Mcp { .. })
    }

    pub(crate) fn is_mode(&self) -> bool {
        matches!(self.kind, ReachKind::Mode(_) | ReachKind::EveryMode)
    }

    /// Whether it covers a target. An allow pattern must match exactly; an ask or deny pattern covers all
    /// ports and subdomains of a host.
    pub(crate) fn covers(&self, target: &ReachTarget, effect: RuleEffect) -> bool {
        let is_wide = effect != RuleEffect::Allow;
        match (&self.kind, target) {
            (ReachKind::Anything, ReachTarget::Host { .. } | ReachTarget::Unrecognized) => true,
            (ReachKind::Anything, ReachTarget::Mcp { .. } | ReachTarget::Mode(_)) => is_wide,
            (ReachKind::Mode(mode), ReachTarget::Mode(name)) => mode.as_str() == name,
            (ReachKind::EveryMode, ReachTarget::Mode(_)) => true,
            (ReachKind::Mcp { server, tool }, ReachTarget::Mcp { server: s, tool: t }) => {
                s == server && (tool == "*" || t == tool)
            }
            (ReachKind::Host { name, port, below }, ReachTarget::Host { host, port: p }) => {
                let is_below = host
                    .strip_suffix(name.as_str())
                    .is_some_and(|rest| rest.ends_with('.'));
                let is_host = if *below { is_below } else { host == name };
                let is_port = port == p || (is_wide && port.is_none());
                (is_host || (is_wide && is_below)) && is_port
            }
            (
                ReachKind::Mcp { .. }
                | ReachKind::Host { .. }
                | ReachKind::Mode(_)
                | ReachKind::EveryMode,
                ReachTarget::Mcp { .. }
                | ReachTarget::Host { .. }
                | ReachTarget::Mode(_)
                | ReachTarget::Unrecognized,
            ) => false,
        }
    }
}

/// A parsed target of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReachTarget {
    Mcp {
        server: String,
        tool: String,
    },
    Host {
        host: String,
        port: Option<u16>,
    },
    /// The name of a mode, known or not.
    Mode(String),
    /// Anything else: only `*` covers it.
    Unrecognized,
}

impl ReachTarget {
    pub(crate) fn parse(target: &str) -> Self {
        if let Some(rest) = target.strip_prefix("mcp:") {
            return rest
                .split_once('/')
                .map_or(ReachTarget::Unrecognized, |(server, tool)| {
                    ReachTarget::Mcp {
                        server: server.to_owned(),
                        tool: tool.to_owned(),
                    }
                });
        }
        if let Some(name) = mode_name(target) {
            return ReachTarget::Mode(name.to_owned());
        }
        host_and_port(target).map_or(ReachTarget::Unrecognized, |(host, port)| {
            ReachTarget::Host { host, port }
        })
    }

    pub(crate) fn is_mcp(&self) -> bool {
        matches!(self, ReachTarget::Mcp { .. })
    }
}

/// Returns the name after `mode:`. A number there is the port of a host named `mode`.
pub(crate) fn mode_name(target: &str) -> Option<&str> {
    let name = target.strip_prefix("mode:")?;
    name.parse::<u16>().is_err().then_some(name)
}

fn mode(name: &str) -> Result<ReachKind, RuleError> {
    match (name, Mode::named(name)) {
        ("*", _) => Ok(ReachKind::EveryMode),
        (_, Some(mode)) => Ok(ReachKind::Mode(mode)),
        (_, None) => Err(unknown_mode(name)),
    }
}

fn mcp(source: &str, rest: &str) -> Result<ReachKind, RuleError> {
    match rest.split_once('/') {
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => Ok(ReachKind::Mcp {
            server: server.to_owned(),
            tool: tool.to_owned(),
        }),
        Some(_) | None => Err(RuleError::new(
            format!("`{source}` names no tool of a server"),
            "write `mcp:server/tool`, or `mcp:server/*` to ask or deny",
        )),
    }
}

fn host_shape(source: &str) -> Result<ReachKind, RuleError> {
    let (below, rest) = match source.strip_prefix("*.") {
        Some(rest) => (true, rest),
        None => (false, source),
    };
    let is_plain = !rest.contains(['/', '@', '*', '?', ' ']);
    match host_and_port(rest).filter(|_| is_plain) {
        Some((name, port)) => Ok(ReachKind::Host { name, port, below }),
        None => Err(RuleError::new(
            format!("`{source}` is not a host"),
            "write a host such as `docs.rs` or `*.docs.rs`, without `https://` and without a path",
        )),
    }
}

/// Returns the normalized host, and the port if one is given.
fn host_and_port(target: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match target.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            (host, Some(port.parse().ok()?))
        }
        Some(_) | None => (target, None),
    };
    let host = Host::parse(host.strip_suffix('.').unwrap_or(host)).ok()?;
    let name = host.to_string();
    (!name.is_empty()).then_some((name, port))
}

/// Returns the host of a URL in a word of a command.
pub(crate) fn host_of_word(word: &str) -> Option<String> {
    let (before, _) = word.split_once("://")?;
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || c == '+';
    let scheme = before.trim_end_matches(is_scheme).len();
    let url = Url::parse(&word[scheme..]).ok()?;
    let host = url.host_str()?;
    Some(match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}
