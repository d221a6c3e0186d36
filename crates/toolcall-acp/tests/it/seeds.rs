//! Every JSON example of the five documents that this project started from.
//! It must not correct an example: the index names every finding, and there is no other.

mod index;

use std::collections::BTreeSet;
use std::sync::Arc;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use toolcall::kind::{self, Evidence};
use toolcall::{
    Content, CustomTool, Registry, RunContext, ToolCall, ToolDefinition, ToolError, title,
};
use toolcall_acp::finding::{Finding, LintRule};
use toolcall_acp::lint::{Direction, Frame, lint};
use toolcall_acp::v1::decode::{announce, decode, decode_plan};
use toolcall_acp::v1::{EncodeOptions, snapshot};

use crate::fold::Folded;
use crate::v1_call::V1Call;

use index::Example::*;
use index::INDEX;

fn seed(name: &str) -> Value {
    let text = std::fs::read_to_string(format!("tests/it/seeds/{name}.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Returns the update of an example, with or without its JSON-RPC envelope.
fn update(name: &str) -> Value {
    let mut seed = seed(name);
    let params = if seed["params"].is_object() {
        &mut seed["params"]
    } else {
        &mut seed
    };
    assert!(params["sessionId"].is_string());
    params["update"].take()
}

fn rules(findings: &[Finding]) -> Vec<LintRule> {
    findings.iter().map(|finding| finding.rule).collect()
}

/// Returns the announcement of a plain call with this id, for examples that update a call.
fn begin(id: &Value) -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "Call", "status": "pending"})
}

fn fold(reports: &[Value]) -> Folded {
    let mut folded = Folded::default();
    for report in reports {
        folded.take("session", report);
    }
    assert_eq!(folded.irregular, []);
    folded
}

/// Encodes a whole call.
fn reencode(call: &ToolCall) -> Vec<Value> {
    let dialect = EncodeOptions::default();
    let updates = snapshot(call, &dialect);
    updates.map(|update| update.to_value()).collect()
}

#[test]
fn the_index_names_every_example() {
    let files = std::fs::read_dir("tests/it/seeds").unwrap();
    let name = |path: std::path::PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let paths = files.map(|file| file.unwrap().path());
    let examples = paths.filter(|path| path.extension() == Some("json".as_ref()));
    let files: BTreeSet<String> = examples.map(name).collect();
    let named = INDEX.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(files, named);
}

#[test]
fn every_example_is_what_the_index_says() {
    for (name, example) in INDEX {
        let seed = seed(name);
        match example {
            Report(wrong) => is_report(name, &update(name), wrong),
            Plan => assert_eq!(decode_plan(&update(name)).unwrap().findings, [], "{name}"),
            Item(wrong) => is_item(name, &seed, wrong),
            Location => is_location(&seed),
            Message => reports_no_call(name, &seed),
            Definition => registers(&seed),
            Input(tool) => assert!(seed.is_object() && infers(tool, &seed), "{name}"),
            Properties => {
                registers(&json!({"name": "tool", "description": "", "inputSchema": seed}))
            }
            Foreign => is_ignored(name, &seed),
        }
    }
}

fn is_report(name: &str, report: &Value, wrong: &[LintRule]) {
    let id = [&report["toolCallId"], &report["toolCall"]["toolCallId"]];
    let id = id.into_iter().find(|id| id.is_string()).unwrap();
    let is_first = report["sessionUpdate"] == "tool_call";
    let reports = [begin(id), report.clone()];
    let reports = if is_first {
        &reports[1..]
    } else {
        &reports[..]
    };
    let findings = if is_first {
        announce(report).unwrap().findings
    } else {
        decode(&fold(&reports[..1]).calls[0], report).findings
    };
    assert_eq!(rules(&findings), wrong, "{name}");
    if wrong.is_empty() {
        let call = fold(reports).calls.remove(0);
        let again = fold(&reencode(&call)).calls.remove(0);
        let (again, meant) = (V1Call::of(&again), V1Call::of(&call));
        assert_eq!(
            again, meant,
            "{name} is the same call after encoding and decoding"
        );
    }
}

fn is_item(name: &str, item: &Value, wrong: &[LintRule]) {
    let report = json!({"toolCallId": "c", "content": [item]});
    let call = fold(&[begin(&json!("c"))]).calls.remove(0);
    assert_eq!(rules(&decode(&call, &report).findings), wrong, "{name}");
}

fn is_location(location: &Value) {
    let report = json!({"toolCallId": "c", "title": "T", "locations": [location]});
    let first = announce(&report).unwrap();
    assert_eq!(first.findings, []);
    let place = toolcall::Location::line("/home/user/project/src/main.py", 42);
    assert_eq!(first.announced.sketch().locations, [place]);
}

fn reports_no_call(name: &str, message: &Value) {
    assert_eq!(message["jsonrpc"], "2.0", "{name}");
    is_ignored(name, message);
}

fn is_ignored(name: &str, message: &Value) {
    let direction = Direction::FromClient;
    assert_eq!(lint([Frame { direction, message }]), [], "{name}");
}

fn registers(definition: &Value) {
    let text = |key: &str| definition[key].as_str().unwrap();
    let schema = definition["inputSchema"].clone();
    let definition = ToolDefinition::new(text("name"), text("description"), schema);
    let runs = |_: Arc<Value>, _: RunContext| std::future::ready(Ok::<_, ToolError>(()));
    let mut registry = Registry::new();
    let tool = Arc::new(CustomTool::new(definition, runs));
    registry.add_any(tool).unwrap();
}

/// Whether the title says more with the input than with the tool's name alone.
fn infers(tool: &str, input: &Value) -> bool {
    title_of(tool, input) != title_of(tool, &json!({}))
}

fn title_of(tool: &str, input: &Value) -> String {
    let evidence = Evidence {
        name: tool,
        input: Some(input),
        ..Evidence::default()
    };
    let kind = kind::infer(&evidence);
    format!(
        "{}: {}",
        kind.as_str(),
        title::infer(tool, kind, Some(input))
    )
}

#[test]
fn inputs_say_what_their_calls_would_do() {
    let said = INDEX.iter().filter_map(|(name, example)| match example {
        Input(tool) => Some(format!("{tool} {}\n", title_of(tool, &seed(name)))),
        Report(_) | Plan | Item(_) | Location | Message | Definition | Properties | Foreign => None,
    });
    expect![[r#"
        read_file read: Read src/app.ts
        write_file edit: Write src/new-file.ts
        list_directory read: Read src/
        search_files search: Search "TODO" in src/ (*.ts)
        edit_file edit: Edit src/app.ts
        run_command execute: npm test
        web_search fetch: Search the web for "react hooks best practices"
    "#]]
    .assert_eq(&said.collect::<String>());
    let schema = &seed("002-definition-read-file")["inputSchema"];
    assert!(jsonschema::is_valid(schema, &seed("002-input-read-file")));
    assert!(!jsonschema::is_valid(schema, &seed("002-input-web-search")));
}

/// Applies examples in order and shows the final state of their call.
fn check<const N: usize>(names: [&str; N], expected: Expect) {
    let folded = fold(&names.map(update));
    let call = &folded.calls[0];
    let shown = call
        .finish()
        .map(|finish| (&finish.ending, &finish.result.content));
    let found = folded
        .findings
        .iter()
        .map(|finding| format!("\n! {finding}"));
    let (id, title, kind) = (call.id(), call.title(), call.kind());
    let status = call.status();
    let text = format!(
        "{id} {kind:?} {title:?} {status:?} {shown:?}{}",
        found.collect::<String>()
    );
    expected.assert_eq(&text);
}

#[test]
fn the_lifecycles_of_the_documents_come_to_this() {
    check(
        ["000-reading-started", "000-reading-completed"],
        expect![[r#"
            call_abc123 Read "Calling read_file" Ended Some((Completed, [Text("file contents here...")]))
            ! content-shape: `call_abc123`: content item 0 is a bare `text`; wrap it as `content`"#]],
    );
    check(
        ["000-running-started", "000-running-completed"],
        expect![[r#"
            call_def456 Execute "Calling terminal" Ended Some((Completed, [Text("total 42\ndrwxr-xr-x ...")]))
            ! content-shape: `call_def456`: content item 0 is a bare `text`; wrap it as `content`"#]],
    );
    check(
        ["000-failed"],
        expect![[r#"
        call_xyz789 Other "Calling call_xyz789" Ended Some((Failed { reason: "Error: file not found" }, []))
        ! content-shape: `call_xyz789`: content item 0 is a bare `text`; wrap it as `content`
        ! no-title: `call_xyz789`: the first report of the call has no title"#]],
    );
    check(
        ["001-created", "001-updated"],
        expect![[r#"call_001 Read "Reading configuration file" Running None"#]],
    );
    check(
        ["003-created", "003-progress", "003-completed"],
        expect![[
            r#"call_001 Other "Analyzing Python code" Ended Some((Completed, [Text("Analysis complete: No syntax errors found...")]))"#
        ]],
    );
    check(
        ["004-nested"],
        expect![[r#"
        call_1 Other "Indexing files" Running None
        ! nested-tool-call: `call_1`: the call stands in `update.toolCall`; its members belong into `update`"#]],
    );
}

#[test]
fn the_plan_of_the_first_document_is_read() {
    let plan = decode_plan(&update("000-plan")).unwrap().plan;
    let entries = plan.entries.iter();
    let entries = entries.map(|entry| (entry.content.as_str(), entry.status));
    use toolcall::PlanStatus::{Completed, InProgress, Pending};
    let expected = [
        ("Read the file", Completed),
        ("Make changes", InProgress),
        ("Test changes", Pending),
    ];
    assert_eq!(entries.collect::<Vec<_>>(), expected);
}

#[test]
fn the_permission_of_the_second_document_decides() {
    let check = |answer: &str, expected: Expect| {
        let runs = json!({"method": "session/update", "params": {"sessionId": "sess_abc123def456",
            "update": {"sessionUpdate": "tool_call_update", "toolCallId": "call_001",
                "status": "in_progress"}}});
        let agent = Direction::FromAgent;
        let stream = [
            (agent, seed("001-created")),
            (agent, seed("001-permission-request")),
            (Direction::FromClient, seed(answer)),
            (agent, runs),
        ];
        let frames = stream.iter().map(|(direction, message)| Frame {
            direction: *direction,
            message,
        });
        let found = lint(frames).into_iter();
        expected.assert_eq(
            &found
                .map(|finding| format!("{finding}\n"))
                .collect::<String>(),
        );
    };
    check(
        "001-permission-selected",
        expect![[r#"
        one-ending: `call_001`: the recording ends, and the call has not
    "#]],
    );
    check(
        "001-permission-cancelled",
        expect![[r#"
        #3 ran-unallowed: `call_001`: it was in progress although permission was refused
        one-ending: `call_001`: the recording ends, and the call has not
    "#]],
    );
}

#[test]
fn the_parts_of_foreign_messages_are_read() {
    let used = &seed("002-tools-use")["params"];
    expect!["read: Read package.json"].assert_eq(&title_of(
        used["toolName"].as_str().unwrap(),
        &used["input"],
    ));
    let sent = seed("002-tools-result")["params"].take();
    for result in [sent, seed("002-tool-result-sent")] {
        let first = announce(&result).unwrap();
        assert_eq!(
            rules(&first.findings),
            [LintRule::ContentShape, LintRule::NoTitle]
        );
    }
    for server in seed("002-mcp-servers")["mcpServers"].as_array().unwrap() {
        assert!(server["command"].is_string() && server["args"].is_array());
    }
    for tool in seed("002-mcp-tools-response")["result"]["tools"]
        .as_array()
        .unwrap()
    {
        registers(tool);
    }
}

#[test]
fn the_names_of_properties_are_judged_as_the_document_judges_them() {
    let advice = |name: &str| {
        let definition = ToolDefinition::new("read_file", "Reads a file.", seed(name));
        let runs = |_: Arc<Value>, _: RunContext| std::future::ready(Ok::<_, ToolError>(()));
        let mut registry = Registry::new();
        registry
            .add_any(Arc::new(CustomTool::new(definition, runs)))
            .unwrap();
        registry.lint().len()
    };
    assert_eq!(advice("002-schema-good"), 0);
    assert!(advice("002-schema-bad") > 0);
}

#[test]
fn the_valid_content_of_the_second_document_is_read() {
    let content = [
        "001-content-text",
        "001-content-diff",
        "001-content-terminal",
    ]
    .map(seed);
    let report = json!({"toolCallId": "c", "content": content});
    let folded = fold(&[begin(&json!("c")), report]);
    let path = "/home/user/project/src/config.json";
    let (before, after) = ("{\n  \"debug\": false\n}", "{\n  \"debug\": true\n}");
    let edit = toolcall::FileEdit::modified(path, before, after);
    let expected = [
        Content::text("Analysis complete. Found 3 issues."),
        Content::Edit(edit),
        Content::Terminal("term_xyz789".into()),
    ];
    assert_eq!(folded.calls[0].preview(), expected);
}
