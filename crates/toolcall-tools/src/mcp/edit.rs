//! Adds servers to and removes them from the text of a settings file, and keeps everything else in it.
//! It refuses to change settings that it cannot parse.

use serde_json::{Map, Value, json};

use super::parse::{ServerSettingsError, parse_settings};
use super::settings::{Launch, ServerSettings};
use crate::web::Secret;

const LIST: &str = "mcpServers";

/// Returns the settings with this server added, or replaced if one of its name exists. Pass an empty text for
/// a file that does not exist yet.
///
/// ```
/// use toolcall_tools::mcp::{Program, ServerSettings, add_server, parse_settings};
///
/// let time = ServerSettings::new("time", Program::new("uvx", ["mcp-server-time"], []));
/// let text = add_server("", &time)?;
/// assert_eq!(parse_settings(&text)?, [time]);
/// # Ok::<(), toolcall_tools::mcp::ServerSettingsError>(())
/// ```
pub fn add_server(text: &str, server: &ServerSettings) -> Result<String, ServerSettingsError> {
    let mut whole = read(text)?;
    let (name, entry) = (server.name.to_string(), entry(&server.launch));
    match servers(&mut whole)? {
        Value::Object(map) => drop(map.insert(name, entry)),
        Value::Array(list) => {
            list.retain(|item| item["name"] != *server.name && item["id"] != *server.name);
            let mut named = json!({"name": name});
            if let (Value::Object(named), Value::Object(entry)) = (&mut named, entry) {
                named.extend(entry);
            }
            list.push(named);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(ServerSettingsError::NoServers);
        }
    }
    written(&whole)
}

/// Returns the settings without the server of this name; `None` if there is no such server.
pub fn remove_server(text: &str, name: &str) -> Result<Option<String>, ServerSettingsError> {
    let mut whole = read(text)?;
    let was_there = match servers(&mut whole)? {
        Value::Object(map) => map.shift_remove(name).is_some(),
        Value::Array(list) => {
            let before = list.len();
            list.retain(|item| item["name"] != name && item["id"] != name);
            list.len() < before
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if was_there {
        written(&whole).map(Some)
    } else {
        Ok(None)
    }
}

fn read(text: &str) -> Result<Value, ServerSettingsError> {
    if text.trim().is_empty() {
        return Ok(json!({LIST: {}}));
    }
    parse_settings(text)?;
    serde_json::from_str(text).map_err(|error| ServerSettingsError::Json(error.to_string()))
}

fn servers(whole: &mut Value) -> Result<&mut Value, ServerSettingsError> {
    let key = match whole {
        Value::Object(map) => super::parse::list_key(map),
        Value::Array(_) => return Ok(whole),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    };
    let list = key.and_then(|key| whole.get_mut(key));
    list.ok_or(ServerSettingsError::NoServers)
}

fn entry(launch: &Launch) -> Value {
    let secrets = |secrets: &std::collections::BTreeMap<String, Secret>| -> Map<String, Value> {
        let pairs = secrets.iter();
        pairs
            .map(|(name, value)| (name.clone(), value.reveal().into()))
            .collect()
    };
    let mut entry = match launch {
        Launch::Stdio(program) => json!({
            "command": program.command,
            "args": program.args,
            "env": secrets(&program.env),
        }),
        Launch::Http(address) => json!({
            "type": "http",
            "url": address.url.as_str(),
            "headers": secrets(&address.headers),
        }),
    };
    if let Value::Object(map) = &mut entry {
        map.retain(|_, value| !matches!(value, Value::Object(empty) if empty.is_empty()));
    }
    entry
}

/// Writes the settings as text, and checks that they parse, so that no change leaves a broken file.
fn written(whole: &Value) -> Result<String, ServerSettingsError> {
    let text = format!("{whole:#}\n");
    parse_settings(&text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::settings::{Address, Program};
    use super::*;

    fn time() -> ServerSettings {
        let program = Program::new("uvx", ["mcp-server-time"], [("TZ", "UTC")]);
        ServerSettings::new("time", program)
    }

    #[test]
    fn the_first_server_makes_the_file() {
        let text = add_server("", &time()).unwrap();
        expect![[r#"
            {
              "mcpServers": {
                "time": {
                  "command": "uvx",
                  "args": [
                    "mcp-server-time"
                  ],
                  "env": {
                    "TZ": "UTC"
                  }
                }
              }
            }
        "#]]
        .assert_eq(&text);
        assert_eq!(parse_settings(&text).unwrap(), [time()]);
    }

    #[test]
    fn what_else_is_there_stays() {
        let before = r#"{"theme": "dark", "mcpServers": {"b": {"command": "b", "odd": 1}, "a": {"command": "a"}}}"#;
        let url = url::Url::parse("https://example.com/mcp").unwrap();
        let web = ServerSettings::new("web", Address::new(url, [("Authorization", "x")]));
        let added = add_server(before, &web).unwrap();
        let names = |text: &str| -> Vec<String> {
            let servers = parse_settings(text).unwrap();
            servers
                .iter()
                .map(|server| server.name.to_string())
                .collect()
        };
        assert_eq!(names(&added), ["b", "a", "web"]);
        assert_eq!(parse_settings(&added).unwrap()[2], web);
        let removed = remove_server(&added, "web").unwrap().unwrap();
        let same: (Value, Value) = (
            serde_json::from_str(before).unwrap(),
            serde_json::from_str(&removed).unwrap(),
        );
        assert_eq!(same.0, same.1);
        assert_eq!(remove_server(before, "c").unwrap(), None);
    }

    #[test]
    fn a_list_stays_a_list() {
        let before = r#"[{"name": "time", "command": "old"}, {"id": "b", "command": "b"}]"#;
        let added = add_server(before, &time()).unwrap();
        let servers = parse_settings(&added).unwrap();
        assert_eq!((servers.len(), &servers[1]), (2, &time()));
        assert_eq!(
            parse_settings(&remove_server(&added, "b").unwrap().unwrap()).unwrap(),
            [time()]
        );
    }

    #[test]
    fn what_cannot_be_read_is_not_written_over() {
        for broken in [
            "{",
            "{\"mcpServers\": 1}",
            "{\"mcpServers\": {\"a\": {}}}",
            "{}",
        ] {
            assert!(add_server(broken, &time()).is_err(), "{broken}");
            assert!(remove_server(broken, "a").is_err(), "{broken}");
        }
    }
}
