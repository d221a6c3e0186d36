//! Which servers there are and how they are reached, as plain values.
//! What may be secret (values of variables and headers) is never shown.

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

/// One server, as somebody set it up.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSettings {
    /// Its name: 1 to 64 letters, digits, `_`, `-` or `.`.
    pub name: Arc<str>,
    /// How it is reached.
    pub launch: Launch,
    /// Whether it is to be left alone.
    pub is_disabled: bool,
    /// How its tools are shown, by their names. Display data, never authority.
    pub tools: BTreeMap<String, ToolDisplay>,
    /// How long it may take.
    pub timeouts: Timeouts,
    /// What was odd about its settings, for people.
    pub notes: Vec<String>,
}

impl ServerSettings {
    /// A server of this name; what no name may have in it becomes `-`.
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
            timeouts: Timeouts::default(),
            notes,
        }
    }
}

impl ServerSettings {
    /// Its command line or its address, without secrets.
    pub fn provider(&self) -> Arc<str> {
        self.launch.provider()
    }
}

const LONGEST_NAME: usize = 64;

/// Rules write `mcp:server/tool`, so a server's name holds no `/`.
fn clean_name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let name = name.trim().chars().take(LONGEST_NAME);
    name.map(|c| if is_plain(c) { c } else { '-' }).collect()
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq)]
pub enum Launch {
    /// It is started, and spoken to through its standard input and output.
    Stdio(Program),
    /// It is there already, and spoken to by streamable HTTP.
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
    /// What the server is, to the letter, without secrets.
    pub(super) fn provider(&self) -> Arc<str> {
        let text = match self {
            Launch::Stdio(program) => program.provider(),
            Launch::Http(address) => address.provider(),
        };
        text.into()
    }
}

/// A program that is a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// A path, or a name that is looked for on `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables that are set for it, besides those of the surroundings.
    pub env: BTreeMap<String, Secret>,
    /// The folder it runs in; without one, the session's.
    pub cwd: Option<PathBuf>,
}

impl Program {
    /// This command with these arguments and variables.
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

/// Where a server is.
#[derive(Clone, PartialEq)]
pub struct Address {
    /// Its http or https address.
    pub url: Url,
    /// Headers that are sent with every request.
    pub headers: BTreeMap<String, Secret>,
}

impl Address {
    /// This address and these headers.
    pub fn new<'a>(url: Url, headers: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let headers = headers
            .into_iter()
            .map(|(name, value)| (name.to_owned(), Secret::new(value)));
        Self {
            url,
            headers: headers.collect(),
        }
    }

    /// Passwords and values of queries may be secret. A changed one is still another provider: a
    /// short hash stands in for them.
    fn provider(&self) -> String {
        let mut shown = self.url.clone();
        shown.set_query(None);
        shown.set_fragment(None);
        // It fails for addresses without a host, which have no password either.
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

/// What is too long to show is told apart by a hash.
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

/// How a tool is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolDisplay {
    /// Its category.
    pub kind: Option<Kind>,
    /// The beginning of its titles.
    pub title: Option<String>,
}

/// How long a server may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From its start until it can be used.
    pub start: Duration,
    /// To list its tools.
    pub list: Duration,
    /// For one call.
    pub call: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(60),
            list: Duration::from_secs(30),
            call: Duration::from_secs(5 * 60),
        }
    }
}
