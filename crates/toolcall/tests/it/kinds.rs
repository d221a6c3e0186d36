//! Kinds and titles of real tools, and guarantees for any input.
//! It must not need anything but the fixtures beside it.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolcall::kind::{self, Evidence};
use toolcall::{Annotations, Kind};

fn fixture() -> Vec<Value> {
    serde_json::from_str(include_str!("fixtures/tool-kinds.json")).expect("the fixture is JSON")
}

fn annotations(tool: &Value) -> Annotations {
    let hint = |name| tool["annotations"].get(name).and_then(Value::as_bool);
    Annotations {
        read_only: hint("readOnlyHint"),
        destructive: hint("destructiveHint"),
        open_world: hint("openWorldHint"),
    }
}

fn by_name(name: &str) -> Kind {
    kind::infer(&Evidence {
        name,
        ..Evidence::default()
    })
}

/// A tool of the fixture and its inferred kind.
struct InferredTool<'a> {
    tool: &'a Value,
    kind: Kind,
}

impl InferredTool<'_> {
    fn right(&self) -> bool {
        self.tool["kind"] == self.kind.as_str()
    }

    fn unsafe_kind(&self) -> bool {
        self.tool["writes"] == true && matches!(self.kind, Kind::Read | Kind::Search)
    }

    fn line(&self) -> String {
        let (server, name) = (&self.tool["server"], &self.tool["name"]);
        format!(
            "{server} {name}: {} for {}",
            self.kind.as_str(),
            self.tool["kind"]
        )
    }
}

fn infer_all<'a>(tools: &'a [Value], claims: fn(&Value) -> Annotations) -> Vec<InferredTool<'a>> {
    let infer = |tool: &'a Value| {
        kind::infer(&Evidence {
            name: tool["name"].as_str().expect("a name"),
            schema: tool.get("inputSchema"),
            annotations: claims(tool),
            ..Evidence::default()
        })
    };
    tools
        .iter()
        .map(|tool| InferredTool {
            tool,
            kind: infer(tool),
        })
        .collect()
}

fn assert_inferred(inferred: &[InferredTool<'_>], percent: usize) {
    let wrong: Vec<_> = inferred
        .iter()
        .filter(|one| !one.right())
        .map(InferredTool::line)
        .collect();
    let right = inferred.len() - wrong.len();
    println!(
        "{right} of {} right; wrong:\n{}",
        inferred.len(),
        wrong.join("\n")
    );
    let read_only: Vec<_> = inferred
        .iter()
        .filter(|one| one.unsafe_kind())
        .map(InferredTool::line)
        .collect();
    assert!(
        read_only.is_empty(),
        "writing tools called read_only: {read_only:#?}"
    );
    assert!(
        right * 100 >= inferred.len() * percent,
        "only {right} of {}",
        inferred.len()
    );
}

#[test]
fn real_tools_get_their_kind() {
    let tools = fixture();
    let servers: BTreeSet<_> = tools.iter().map(|tool| tool["server"].as_str()).collect();
    assert!(tools.len() >= 170 && servers.len() >= 27);
    assert_inferred(&infer_all(&tools, annotations), 91);
}

#[test]
fn real_tools_get_their_kind_without_claims() {
    assert_inferred(&infer_all(&fixture(), |_| Annotations::default()), 91);
}

#[test]
fn names_alone_say_most() {
    let mut wrong = Vec::new();
    let mut count = 0;
    let lines = include_str!("fixtures/tool-names.txt").lines();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let (label, names) = line.split_once(": ").expect("a label and names");
        let label = label.trim_end_matches('!');
        for name in names.split(' ') {
            count += 1;
            let kind = by_name(name);
            let read_only = matches!(kind, Kind::Read | Kind::Search);
            assert!(!(read_only && line.contains('!')), "{name} writes");
            if kind.as_str() != label {
                wrong.push(format!("{name}: {} for {label}", kind.as_str()));
            }
        }
    }
    println!("{} of {count} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(wrong.len() * 10 <= count);
}

#[test]
fn required_names() {
    let required = [
        (Kind::Read, "read_file list_directory"),
        (Kind::Edit, "edit_file write_file create_or_update_file"),
        (Kind::Delete, "delete_file"),
        (Kind::Move, "move_file"),
        (Kind::Search, "grep find_path search_files search_in_files"),
        (Kind::Execute, "terminal run_command"),
        (Kind::Think, "thinking todo_write"),
        (Kind::Fetch, "fetch web_search web_request"),
        (Kind::Other, "analyze_code frobnicate _ 读取文件"),
    ];
    for (kind, names) in required {
        for name in names.split(' ') {
            assert_eq!(by_name(name), kind, "{name}");
            assert_eq!(
                by_name(&format!("mcp__some-server__{name}")),
                kind,
                "{name}"
            );
        }
    }
}

#[test]
fn arguments_say_more_than_the_name() {
    let with = |name, input: Value| {
        kind::infer(&Evidence {
            name,
            input: Some(&input),
            ..Evidence::default()
        })
    };
    assert_eq!(with("bridge", json!({"command": "ls"})), Kind::Execute);
    assert_eq!(
        with("get_thing", json!({"old_string": "a", "new_string": "b"})),
        Kind::Edit
    );
    assert_eq!(
        with("manage_issue", json!({"action": "delete"})),
        Kind::Delete
    );
    assert_eq!(with("write_issue", json!({"action": "list"})), Kind::Other);
    let view = json!({"command": "view", "path": "/w/a"});
    assert_eq!(with("str_replace_based_edit_tool", view), Kind::Other);
    assert_eq!(
        with("text_tool", json!({"command": "view", "path": "/w/a"})),
        Kind::Read
    );
    assert_eq!(
        with("read_page", json!({"url": "https://example.com"})),
        Kind::Fetch
    );
}

#[test]
fn claims_only_raise_caution() {
    let claimed = |name, read_only, destructive| {
        let annotations = Annotations {
            read_only,
            destructive,
            open_world: None,
        };
        kind::infer(&Evidence {
            name,
            annotations,
            ..Evidence::default()
        })
    };
    assert_eq!(claimed("frobnicate", Some(true), Some(false)), Kind::Other);
    assert_eq!(
        claimed("delete_file", Some(true), Some(false)),
        Kind::Delete
    );
    assert_eq!(claimed("read_file", Some(false), None), Kind::Other);
    assert_eq!(claimed("search_files", None, Some(true)), Kind::Other);
    let stated = Evidence {
        stated: Some(Kind::Think),
        name: "rm",
        ..Evidence::default()
    };
    assert_eq!(kind::infer(&stated), Kind::Think);
}

#[test]
fn schemas_that_write_are_never_read_only() {
    let with = |name, schema: Value| {
        kind::infer(&Evidence {
            name,
            schema: Some(&schema),
            ..Evidence::default()
        })
    };
    let tabs = json!({"properties": {"action": {"enum": ["list", "close"]}}});
    assert_eq!(with("view_tabs", tabs), Kind::Other);
    let list = json!({"properties": {"list_id": {"type": "string"}}});
    assert_eq!(with("jumble_list", list), Kind::Other);
    let command = json!({"properties": {"command": {"type": "string"}}});
    assert_eq!(with("get_output", command), Kind::Execute);
}

/// Tools of servers that are not in the other fixture, in the same format.
fn further_tools() -> Vec<Value> {
    let mut tools = Vec::new();
    let mut server = "";
    for line in include_str!("fixtures/more-tool-kinds.txt").lines() {
        if let Some(name) = line.strip_prefix("= ") {
            server = name;
        } else if let Some((label, listed)) =
            line.split_once(": ").filter(|_| !line.starts_with('#'))
        {
            for tool in listed.split(' ') {
                let (name, arguments) = tool
                    .trim_end_matches(')')
                    .split_once('(')
                    .expect("arguments");
                tools.push(json!({
                    "server": server,
                    "name": name,
                    "kind": label.trim_end_matches('!'),
                    "writes": label.ends_with('!'),
                    "inputSchema": schema_of(arguments),
                }));
            }
        }
    }
    tools
}

/// The schema that `name,required*,choice[a|b]` abbreviates.
fn schema_of(arguments: &str) -> Value {
    let mut schema = json!({"type": "object", "properties": {}, "required": []});
    for argument in arguments.split(',').filter(|argument| !argument.is_empty()) {
        let (argument, choices) = match argument.trim_end_matches(']').split_once('[') {
            Some((argument, choices)) => (
                argument,
                json!({"enum": choices.split('|').collect::<Vec<_>>()}),
            ),
            None => (argument, json!({"type": "string"})),
        };
        let name = argument.trim_end_matches('*');
        schema["properties"][name] = choices;
        if name.len() < argument.len()
            && let Some(required) = schema["required"].as_array_mut()
        {
            required.push(json!(name));
        }
    }
    schema
}

#[test]
fn tools_of_further_servers_get_their_kind() {
    let tools = further_tools();
    let servers: BTreeSet<_> = tools.iter().map(|tool| tool["server"].as_str()).collect();
    assert!(tools.len() >= 850 && servers.len() >= 32);
    assert_inferred(&infer_all(&tools, annotations), 92);
}

#[test]
fn writers_in_disguise_are_never_read_only() {
    let writers = [
        "browser_check(element*,ref*) uncheck(selector*) mysql_query(query*) query(query*)",
        "snowflake_query(query*) query_database(query*) db_query(query*,limit) graphql_query(query*)",
        "post_status(status*) report_status(text) email_summary(to*) tag_version(version*)",
        "message_mark_read(id*) email_list(list_id*,body*) show_message(text*) get_or_create_tag(name*)",
        "list_archive(id*) cordon_node(name*) whitelist_ip(ip*) poll(question*,options*)",
        "usergroups(action*[list|join],cursor) notes(content*,page) agent(prompt*,page) lpop(name*)",
        "watermark_pdf(path*,page*) hexpoke(offset*,count,value*) docs() deps() tests(filter) top_up(amount*) weekly_digest(email*)",
        "notes(text*) settings(key*,value*) lights_off() close_all_tabs() reminders(title*,due)",
        "my_agent_run(id*) current_tab_close(id) label_issue(id*) order_place(symbol*)",
    ];
    for tool in writers.iter().flat_map(|line| line.split(' ')) {
        let (name, arguments) = tool
            .trim_end_matches(')')
            .split_once('(')
            .expect("arguments");
        let schema = schema_of(arguments);
        let kind = kind::infer(&Evidence {
            name,
            schema: Some(&schema),
            ..Evidence::default()
        });
        assert!(
            !matches!(kind, Kind::Read | Kind::Search),
            "{tool}: {}",
            kind.as_str()
        );
    }
}
