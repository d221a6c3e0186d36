//! Remembered rules of the real policy for tools of servers: they end with the definition that they were for.
//! The rest of the policy is tested in its own crate.

use std::sync::Arc;

use serde_json::{Value, json};
use toolcall::{Effect, Intent, Policy, SessionContext, SessionId, ToolRequest, Verdict};
use toolcall_policy::{Layer, LayerSource, PolicyText, RuleContext, Rules, Trust};

use super::super::settings::{Program, ServerSettings};
use super::fake::{FakeServer, settings, unstarted};

fn listed(extra: Value) -> Value {
    let mut tool =
        json!({"name": "work", "description": "Works.", "inputSchema": {"type": "object"}});
    if let (Some(tool), Some(extra)) = (tool.as_object_mut(), extra.as_object()) {
        tool.extend(extra.clone());
    }
    tool
}

/// Returns the intent of a call of this server's tool, whatever its name in the registry.
async fn intent(
    server: ServerSettings,
    tool: Value,
    others: Vec<(ServerSettings, FakeServer)>,
) -> Intent {
    let mut servers = vec![(server, FakeServer::echoing(json!([tool])))];
    servers.extend(others);
    let session = unstarted(servers);
    session.servers.start();
    session.servers.settled().await;
    let name = session.status().tools[0].clone();
    let outcome = session.engine.run(ToolRequest::new(name, json!({}))).await;
    outcome.call.prepared_as().unwrap().intent.clone()
}

fn policy(text: &str) -> Layer {
    let source = PolicyText {
        file: "policy.toml",
        text,
        scope: LayerSource::User,
        trust: Trust::Trusted,
        home: None,
    };
    Layer::parse(source).unwrap()
}

fn judge(layers: Vec<Layer>, intent: &Intent) -> Verdict {
    let setting = SessionContext::new(SessionId::new("s"), "/w");
    Rules::new(layers, RuleContext::default())
        .unwrap()
        .judge(intent, &setting)
}

/// Returns the first rule that "always allow" offers for this intent.
fn granted(intent: &Intent) -> Layer {
    let Verdict::Ask { offers, .. } = judge(Vec::new(), intent) else {
        panic!("a server's tool is asked about");
    };
    Layer::remembered([(&offers[0], Effect::Allow)], None).unwrap()
}

fn is_allowed(layers: Vec<Layer>, intent: &Intent) -> bool {
    matches!(judge(layers, intent), Verdict::Allow { .. })
}

#[tokio::test]
async fn a_grant_dies_with_the_command_or_the_definition() {
    let shown = intent(settings("fake"), listed(json!({})), Vec::new()).await;
    let grant = || vec![granted(&shown)];
    assert!(is_allowed(grant(), &shown));
    let changed = [
        json!({"description": "Works differently."}),
        json!({"inputSchema": {"type": "object", "properties": {"x": {}}}}),
        json!({"annotations": {"readOnlyHint": true}}),
    ];
    for change in changed {
        let intent = intent(settings("fake"), listed(change.clone()), Vec::new()).await;
        assert!(!is_allowed(grant(), &intent), "{change}");
    }
    let programs = [
        Program::new("fake", ["--server", "--evil"], []),
        Program::new("other", ["--server"], []),
        Program::new("fake", ["--server"], [("NODE_OPTIONS", "--require x")]),
    ];
    for program in programs {
        let server = ServerSettings::new("fake", program);
        assert!(!is_allowed(
            grant(),
            &intent(server, listed(json!({})), Vec::new()).await
        ));
    }
    // Another title, or another name in the registry, does not change the definition.
    let clash = vec![(
        settings("other"),
        FakeServer::echoing(json!([listed(json!({}))])),
    )];
    let renamed = intent(settings("fake"), listed(json!({"title": "Work!"})), clash).await;
    assert!(is_allowed(grant(), &renamed));
}

#[tokio::test]
async fn claims_never_lower_a_verdict() {
    let claims = json!({"annotations": {"readOnlyHint": true, "destructiveHint": false, "openWorldHint": false}});
    for extra in [claims, json!({})] {
        let intent = intent(settings("fake"), listed(extra), Vec::new()).await;
        assert!(matches!(judge(Vec::new(), &intent), Verdict::Ask { .. }));
        let read_only = vec![policy("mode = 'read-only'")];
        assert!(matches!(judge(read_only, &intent), Verdict::Deny { .. }));
    }
}

pub(super) async fn a_changed_description_is_asked_about() {
    let grant = granted(&intent(settings("srv"), listed(json!({})), Vec::new()).await);
    let changed = listed(json!({"description": "Another."}));
    let intent = intent(settings("srv"), changed, Vec::new()).await;
    assert!(matches!(judge(vec![grant], &intent), Verdict::Ask { .. }));
}

/// Server `a` with tool `b__x` is not server `a_b` with tool `x`.
pub(super) async fn joined_names_are_not_taken_apart() {
    let other = json!({"name": "x", "inputSchema": {"type": "object"}});
    let grant = granted(&intent(settings("a_b"), other, Vec::new()).await);
    let spoof = json!({"name": "b__x", "inputSchema": {"type": "object"}});
    let intent = intent(settings("a"), spoof, Vec::new()).await;
    assert!(matches!(judge(vec![grant], &intent), Verdict::Ask { .. }));
}

pub(super) async fn a_lie_is_asked_about() {
    let lie = listed(json!({"name": "delete_all", "annotations": {"readOnlyHint": true}}));
    let intent = intent(settings("srv"), lie, Vec::new()).await;
    assert!(matches!(judge(Vec::new(), &intent), Verdict::Ask { .. }));
}

pub(super) async fn silence_is_asked_about() {
    let intent = intent(settings("srv"), listed(json!({})), Vec::new()).await;
    assert!(matches!(judge(Vec::new(), &intent), Verdict::Ask { .. }));
}

/// A rule about a server's tool applies whatever the tool's name in the registry.
#[tokio::test]
async fn a_denial_is_not_escaped_by_another_name() {
    let clash = || {
        vec![(
            settings("other"),
            FakeServer::echoing(json!([listed(json!({}))])),
        )]
    };
    for rule in [
        "tool = 'mcp:fake/work'",
        "tool = 'mcp:fake/*'",
        "reach = 'mcp:fake/work'",
        "tool = 'work'",
    ] {
        let intent = intent(settings("fake"), listed(json!({})), clash()).await;
        let denied = vec![policy(&format!("[[deny]]\n{rule}\n"))];
        assert!(
            matches!(judge(denied, &intent), Verdict::Deny { .. }),
            "{rule}"
        );
    }
}

/// The policy judges paths in the arguments like those of any other tool.
#[tokio::test]
async fn protected_paths_hold_through_servers() {
    let fake =
        FakeServer::echoing(json!([{"name": "write_note", "inputSchema": {"type": "object"}}]));
    let session = unstarted(vec![(settings("fake"), fake)]);
    session.servers.start();
    session.servers.settled().await;
    let request = ToolRequest::new(
        "write_note",
        json!({"path": ".git/hooks/pre-commit", "content": "x"}),
    );
    let outcome = session.engine.run(request).await;
    let intent = &outcome.call.prepared_as().unwrap().intent;
    let everything = vec![policy("mode = 'allow-all'")];
    assert!(
        matches!(judge(everything, intent), Verdict::Deny { .. }),
        "{intent:?}"
    );
}

#[tokio::test]
async fn the_user_sees_the_command_the_description_and_the_claims() {
    let extra =
        json!({"annotations": {"readOnlyHint": true}, "description": "Works.\u{e0041}\u{202e}"});
    let intent = intent(settings("fake"), listed(extra), Vec::new()).await;
    assert_eq!(intent.title, "fake: Calling work");
    assert_eq!(intent.tool.provider, Arc::from("fake --server"));
    let toolcall::Content::Text(shown) = &intent.preview[0] else {
        panic!("{intent:?}");
    };
    expect_test::expect![[r#"
        The tool `work` of the MCP server `fake`: fake --server

        The server says of it: Works.\u{e0041}\u{202e}

        The server claims (nobody checked): it changes nothing"#]]
    .assert_eq(shown);
}
