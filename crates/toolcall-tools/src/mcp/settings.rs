//! The settings of servers, as plain values: name, program or address, timeouts.
//! Values of variables and headers may be secret, and no `Debug` output shows them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use toolcall::text::clean_line;
use toolcall::{Digest, Kind};
use toolcall_shell::quoted;
use url::Url;

use crate::web::Secret;

const LONGEST_PROVIDER: usize = 2_000;

/// The settings of one server.
///
/// ```
/// use toolcall_tools::mcp::{Program, ServerSettings};
///
/// let server = ServerSettings::new("time", Program::new("uvx", ["mcp-server-time"], [("TZ", "UTC")]));
/// assert_eq!(&*server.provider(), "uvx mcp-server-time (with TZ)");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSettings {
    /// The name: 1 to 64 letters, digits, `_`, `-` or `.`.
    pub name: Arc<str>,
    /// How to reach the server.
    pub launch: Launch,
    /// Whether the server must not be started.
    pub is_disabled: bool,
    /// How to show the server's tools, by name. It affects display only, never permission.
    pub tools: BTreeMap<String, ToolDisplay>,
    /// Time limits.
    pub timeouts: ServerTimeouts,
    /// Remarks about the settings, for the user.
    pub notes: Vec<String>,
}

impl ServerSettings {
    /// Creates the settings of a server. Characters that a name cannot contain become `-`.
    pub fn new(name: &str, launch: impl Into<Launch>) -> Self {
        let cleaned = clean_name(name);
        let notes = if cleaned == name {
            Vec::new()
        } else {
            vec![format!(
                "the name `{}` is written `{cleaned}`",
                clean_line(name, 80)
            )]
        };
        Self {
            name: cleaned.into(),
            launch: launch.into(),
            is_disabled: false,
            tools: BTreeMap::new(),
            timeouts: ServerTimeouts::default(),
            notes,
        }
    }
}

impl ServerSettings {
    /// Returns the command line or the address, without secrets.
    pub fn provider(&self) -> Arc<str> {
        self.launch.provider()
    }
}

const LONGEST_NAME: usize = 64;

/// Makes a name valid. Rules write `mcp:server/tool`, so a server's name cannot contain `/`.
fn clean_name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let name = name.trim().chars().take(LONGEST_NAME);
    name.map(|c| if is_plain(c) { c } else { '-' }).collect()
}

/// How to reach a server.
#[derive(Clone, Debug, PartialEq)]
pub enum Launch {
    /// Start this program, and use its standard input and output.
    Stdio(Program),
    /// Connect to this address by streamable HTTP.
    Http(Address),
}

impl From<Program> for Launch {
    fn from(program: Program) -> Self {
        Launch::Stdio(program)
    }
}

impl From<Address> for Launch {
    fn from(address: Address) -> Self {
        Launch::Http(address)
    }
}

impl Launch {
    /// Returns the command line or the address, without secrets.
    pub(super) fn provider(&self) -> Arc<str> {
        let text = match self {
            Launch::Stdio(program) => program.provider(),
            Launch::Http(address) => address.provider(),
        };
        text.into()
    }
}

/// The program of a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// A path, or a name to look up on `PATH`.
    pub command: String,
    /// The arguments.
    pub args: Vec<String>,
    /// Variables to set, in addition to those of the [`ServerEnvironment`](super::ServerEnvironment).
    pub env: BTreeMap<String, Secret>,
    /// The working directory; the session's if `None`.
    pub cwd: Option<PathBuf>,
}

impl Program {
    /// Creates a program from a command, arguments and variables.
    pub fn new<'a>(
        command: impl Into<String>,
        args: impl IntoIterator<Item = &'a str>,
        env: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        Self {
            command: command.into(),
            args: args.into_iter().map(str::to_owned).collect(),
            env: env
                .into_iter()
                .map(|(name, value)| (name.to_owned(), Secret::new(value)))
                .collect(),
            cwd: None,
        }
    }

    fn provider(&self) -> String {
        let words = std::iter::once(&self.command).chain(&self.args);
        let mut text = quoted(words.map(String::as_str));
        if let Some(cwd) = &self.cwd {
            text += &format!(" (in {})", cwd.display());
        }
        if !self.env.is_empty() {
            let names: Vec<_> = self.env.keys().map(String::as_str).collect();
            text += &format!(" (with {})", names.join(", "));
        }
        bounded(text)
    }
}

/// The address of a server.
#[derive(Clone, PartialEq)]
pub struct Address {
    /// The http or https URL.
    pub url: Url,
    /// Headers to send with every request.
    pub headers: BTreeMap<String, Secret>,
}

impl Address {
    /// Creates an address from a URL and headers.
    pub fn new<'a>(url: Url, headers: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let headers = headers
            .into_iter()
            .map(|(name, value)| (name.to_owned(), Secret::new(value)));
        Self {
            url,
            headers: headers.collect(),
        }
    }

    /// Returns the URL without its password and query, which may be secret. A short hash replaces them, so
    /// that another secret is still another provider.
    fn provider(&self) -> String {
        let mut shown = self.url.clone();
        shown.set_query(None);
        shown.set_fragment(None);
        // This fails for URLs without a host, which have no password either.
        let _ = shown.set_password(None);
        let _ = shown.set_username("");
        if shown == self.url {
            bounded(shown.to_string())
        } else {
            bounded(format!(
                "{shown} (and a part not shown, {})",
                short_hash(self.url.as_str())
            ))
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address")
            .field("url", &self.provider())
            .field("headers", &self.headers)
            .finish()
    }
}

/// Shortens a long text, with a hash to distinguish it from others that begin alike.
fn bounded(text: String) -> String {
    if text.len() > LONGEST_PROVIDER {
        format!(
            "{} ({})",
            clean_line(&text, LONGEST_PROVIDER),
            short_hash(&text)
        )
    } else {
        text
    }
}

fn short_hash(text: &str) -> String {
    Digest::of(text).to_string()[..8].to_owned()
}

/// How to show a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolDisplay {
    /// The kind of the tool.
    pub kind: Option<Kind>,
    /// The title of its calls.
    pub title: Option<String>,
}

/// Time limits of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerTimeouts {
    /// From the start until it is ready.
    pub start: Duration,
    /// To list its tools.
    pub list: Duration,
    /// For one call.
    pub call: Duration,
}

impl Default for ServerTimeouts {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(60),
            list: Duration::from_secs(30),
            call: Duration::from_secs(5 * 60),
        }
    }
}
