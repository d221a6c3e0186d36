//! Parses server settings in the formats that editors use.
//! It notes unknown keys and ignores them; a value of the wrong type is an error that says what to write instead.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Map, Value};
use thiserror::Error;
use toolcall::Kind;
use toolcall::text::clean_line;
use url::Url;

use super::settings::{Address, Launch, Program, ServerSettings, ToolDisplay};
use crate::web::Secret;

/// Why server settings cannot be parsed.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ServerSettingsError {
    /// The text is not JSON.
    #[error("the settings are not JSON: {0}")]
    Json(String),
    /// The settings contain no list of servers.
    #[error(
        "there are no servers in it; write {{\"mcpServers\": {{\"NAME\": {{\"command\": \"…\"}}}}}}"
    )]
    NoServers,
    /// The settings of one server are wrong.
    #[error("the server `{server}`: {problem}")]
    Server {
        /// The name of the server, or its position in the list.
        server: String,
        /// What is wrong, and what to write instead.
        problem: String,
    },
    /// Two servers have the same name.
    #[error("two servers are named `{0}`; give one of them another name")]
    Duplicate(String),
}

/// Parses the servers of a settings file: `mcpServers` (or `servers`, `context_servers`, `mcp_servers`) as an object by
/// name or as a list.
///
/// ```
/// use toolcall_tools::mcp::parse_settings;
///
/// let servers = parse_settings(r#"{"mcpServers": {"docs": {"url": "https://example.com/mcp"}}}"#)?;
/// assert_eq!(&*servers[0].name, "docs");
/// # Ok::<(), toolcall_tools::mcp::ServerSettingsError>(())
/// ```
pub fn parse_settings(text: &str) -> Result<Vec<ServerSettings>, ServerSettingsError> {
    let whole: Value =
        serde_json::from_str(text).map_err(|error| ServerSettingsError::Json(error.to_string()))?;
    let named = match list_of(whole)? {
        Value::Array(items) => items.into_iter().enumerate().map(from_list).collect(),
        Value::Object(map) => map.into_iter().map(Ok).collect::<Result<Vec<_>, _>>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            Err(ServerSettingsError::NoServers)
        }
    }?;
    let servers = named.into_iter().map(|(name, entry)| server(&name, entry));
    let servers = servers.collect::<Result<Vec<_>, _>>()?;
    refuse_duplicates(&servers)?;
    Ok(servers)
}

fn refuse_duplicates(servers: &[ServerSettings]) -> Result<(), ServerSettingsError> {
    let mut names = BTreeSet::new();
    match servers.iter().find(|server| !names.insert(&server.name)) {
        Some(twice) => Err(ServerSettingsError::Duplicate(twice.name.to_string())),
        None => Ok(()),
    }
}

/// The keys under which editors list their servers.
const LISTS: [&str; 4] = ["mcpServers", "servers", "context_servers", "mcp_servers"];

/// Returns the key under which these settings list the servers.
pub(super) fn list_key(map: &Map<String, Value>) -> Option<&'static str> {
    LISTS.into_iter().find(|key| map.contains_key(*key))
}

fn list_of(whole: Value) -> Result<Value, ServerSettingsError> {
    match whole {
        Value::Object(mut map) => list_key(&map)
            .and_then(|key| map.remove(key))
            .ok_or(ServerSettingsError::NoServers),
        list @ Value::Array(_) => Ok(list),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            Err(ServerSettingsError::NoServers)
        }
    }
}

fn from_list((place, entry): (usize, Value)) -> Result<(String, Value), ServerSettingsError> {
    let name = ["name", "id"]
        .iter()
        .find_map(|key| entry.get(key)?.as_str());
    match name {
        Some(name) => Ok((name.to_owned(), entry)),
        None => Err(ServerSettingsError::Server {
            server: format!("number {}", place + 1),
            problem: "it has no name; write \"name\": \"…\"".to_owned(),
        }),
    }
}

/// The keys of a server's entry that are used here or can be ignored without a note.
const KNOWN: [&str; 13] = [
    "id",
    "name",
    "type",
    "transport",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "disabled",
    "tools",
    "timeout",
];

fn server(name: &str, entry: Value) -> Result<ServerSettings, ServerSettingsError> {
    let refuse = |problem: String| ServerSettingsError::Server {
        server: clean_line(name, 80),
        problem,
    };
    let Value::Object(map) = entry else {
        return Err(refuse(
            "write an object such as {\"command\": \"…\"}".to_owned(),
        ));
    };
    let fields = JsonFields(&map);
    let launch = launch(&fields).map_err(refuse)?;
    let mut server = ServerSettings::new(name, launch);
    if server.name.is_empty() {
        return Err(refuse("it has no name; give it one".to_owned()));
    }
    server.is_disabled = fields.flag("disabled").map_err(refuse)?;
    server.tools = displays(&fields).map_err(refuse)?;
    if let Some(seconds) = fields.seconds("timeout").map_err(refuse)? {
        server.timeouts.call = seconds;
    }
    server.notes.extend(notes(&map));
    Ok(server)
}

fn notes(map: &Map<String, Value>) -> Vec<String> {
    let unknown = map.keys().filter(|key| !KNOWN.contains(&key.as_str()));
    let mut notes: Vec<_> = unknown
        .take(16)
        .map(|key| {
            format!(
                "`{}` is not known here and means nothing",
                clean_line(key, 60)
            )
        })
        .collect();
    let strings = [
        map.get("command"),
        map.get("args"),
        map.get("env"),
        map.get("headers"),
    ];
    if strings.into_iter().flatten().any(has_placeholder) {
        notes.push("placeholders such as `${NAME}` are not filled in".to_owned());
    }
    notes
}

fn has_placeholder(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("${"),
        Value::Array(items) => items.iter().any(has_placeholder),
        Value::Object(map) => map.values().any(has_placeholder),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn launch(fields: &JsonFields<'_>) -> Result<Launch, String> {
    let kind = fields.text("type")?.or(fields.text("transport")?);
    match (kind, fields.text("command")?, fields.text("url")?) {
        (Some("sse"), _, _) => Err(
            "the transport `sse` is not supported; write \"type\": \"http\" and the address \
                                    of its streamable HTTP endpoint"
                .to_owned(),
        ),
        (_, Some(_), Some(_)) => {
            Err("it has a `command` and a `url`; leave one of them out".to_owned())
        }
        (None | Some("stdio"), Some(command), None) => program(command, fields).map(Launch::Stdio),
        (
            None | Some("http" | "streamable-http" | "streamableHttp" | "streamable_http"),
            None,
            Some(url),
        ) => address(url, fields).map(Launch::Http),
        (Some("stdio"), None, _) => Err("write \"command\": \"…\"".to_owned()),
        (_, None, None) => Err("write \"command\": \"…\" or \"url\": \"https://…\"".to_owned()),
        (Some(kind), _, _) => Err(format!(
            "`type` is `{}`; write `stdio` with a `command`, or `http` with a `url`",
            clean_line(kind, 40)
        )),
    }
}

fn program(command: &str, fields: &JsonFields<'_>) -> Result<Program, String> {
    if command.trim().is_empty() {
        return Err("`command` is empty; write the program to start".to_owned());
    }
    Ok(Program {
        command: command.to_owned(),
        args: fields.texts("args")?,
        env: fields.secrets("env")?,
        cwd: fields.text("cwd")?.map(Into::into),
    })
}

fn address(url: &str, fields: &JsonFields<'_>) -> Result<Address, String> {
    let wrong = || "`url` is no http address; write \"url\": \"https://…\"".to_owned();
    let url = Url::parse(url).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong());
    }
    let headers = fields.secrets("headers")?;
    Ok(Address { url, headers })
}

fn displays(fields: &JsonFields<'_>) -> Result<BTreeMap<String, ToolDisplay>, String> {
    let wrong = || {
        "`tools` holds an object for each tool; write \"tools\": {\"NAME\": {\"title\": \"…\"}}"
            .to_owned()
    };
    let Some(tools) = fields.0.get("tools") else {
        return Ok(BTreeMap::new());
    };
    let Value::Object(tools) = tools else {
        // Some editors list the allowed tools under this key; that is not about display.
        return if tools.is_array() {
            Ok(BTreeMap::new())
        } else {
            Err(wrong())
        };
    };
    let mut displays = BTreeMap::new();
    for (name, display) in tools {
        let Value::Object(display) = display else {
            return Err(wrong());
        };
        displays.insert(name.clone(), display_of(&JsonFields(display))?);
    }
    Ok(displays)
}

fn display_of(fields: &JsonFields<'_>) -> Result<ToolDisplay, String> {
    let kind = match fields.text("kind")? {
        None => None,
        Some(text) => Some(kind_of(text)?),
    };
    let title = fields.text("title")?.map(|title| clean_line(title, 80));
    Ok(ToolDisplay { kind, title })
}

fn kind_of(text: &str) -> Result<Kind, String> {
    let kind = Kind::ALL.into_iter().find(|kind| kind.as_str() == text);
    kind.ok_or_else(|| {
        let kinds = Kind::ALL.map(Kind::as_str).join("`, `");
        format!(
            "`{}` is no kind; write one of `{kinds}`",
            clean_line(text, 40)
        )
    })
}

/// Reads typed members of a JSON object. Errors never repeat a value, because it may be secret.
struct JsonFields<'a>(&'a Map<String, Value>);

impl<'a> JsonFields<'a> {
    fn get(&self, key: &str) -> Option<&'a Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    fn text(&self, key: &str) -> Result<Option<&'a str>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{key}` is no text; write \"{key}\": \"…\"")),
        }
    }

    fn flag(&self, key: &str) -> Result<bool, String> {
        match self.get(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(format!(
                "`{key}` is neither true nor false; write \"{key}\": true"
            )),
        }
    }

    fn seconds(&self, key: &str) -> Result<Option<Duration>, String> {
        match self.get(key).map(Value::as_f64) {
            None => Ok(None),
            Some(Some(seconds)) if (0.001..=86_400.0).contains(&seconds) => {
                Ok(Some(Duration::from_secs_f64(seconds)))
            }
            Some(_) => Err(format!(
                "`{key}` is no number of seconds; write \"{key}\": 60"
            )),
        }
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, String> {
        let wrong = || format!("`{key}` is no list of texts; write \"{key}\": [\"…\"]");
        let Some(value) = self.get(key) else {
            return Ok(Vec::new());
        };
        let items = value.as_array().ok_or_else(wrong)?.iter();
        items
            .map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong))
            .collect()
    }

    /// Reads an object of strings, or a list of `{name, value}`.
    fn secrets(&self, key: &str) -> Result<BTreeMap<String, Secret>, String> {
        let wrong =
            || format!("`{key}` is no object of texts; write \"{key}\": {{\"NAME\": \"…\"}}");
        let pair = |name: Option<&str>, value: Option<&str>| match (name, value) {
            (Some(name), Some(value)) if is_name(name) => Ok((name.to_owned(), Secret::new(value))),
            (Some(_), Some(_)) => Err(format!(
                "`{key}` has a name that is none; write \"{key}\": {{\"NAME\": \"…\"}}"
            )),
            (Some(_), None) | (None, _) => Err(wrong()),
        };
        match self.get(key) {
            None => Ok(BTreeMap::new()),
            Some(Value::Object(map)) => map
                .iter()
                .map(|(name, value)| pair(Some(name), value.as_str()))
                .collect(),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| pair(item["name"].as_str(), item["value"].as_str()))
                .collect(),
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Null) => {
                Err(wrong())
            }
        }
    }
}

/// Whether this can be the name of a variable or a header.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic() && c != '=')
}
