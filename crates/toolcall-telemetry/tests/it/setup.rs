//! The setup of these tests: a manual clock, and tools and a user that advance it.
//! It asserts nothing itself.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolcall::*;
use toolcall_telemetry::Telemetry;
use toolcall_testkit::clock::TestClock;
use toolcall_testkit::tools::{custom, definition};

/// When every test begins.
pub(crate) const BEGAN: Timestamp = Timestamp::from_micros(1_000_000_000_000_000);

/// Longer than any of the tests takes.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A text that is only in inputs and outputs.
pub(crate) const SECRET: &str = "hunter2";

/// A clock that stands still until it is advanced.
pub(crate) fn clock() -> TestClock {
    TestClock::standing_at(BEGAN.as_micros())
}

/// An engine whose calls are sent to a collector.
pub(crate) fn engine(telemetry: &Telemetry, clock: &TestClock) -> Engine {
    Engine::builder(tools(clock))
        .setting(SessionContext::new(SessionId::new("session"), "/project"))
        .ids(CallIds::new("call"))
        .policy(ByName)
        .approver(SlowUser(clock.clone()))
        .clock(clock.clone())
        .reader(telemetry.reader())
        .build()
}

/// Runs one tool, in the turn that is open.
pub(crate) async fn run(engine: &Engine, tool: &str) -> Outcome {
    let request = ToolRequest::new(tool, json!({ "text": SECRET }));
    engine.run(request.model_id(format!("model-{tool}"))).await
}

/// Asks for tools named `ask…`, denies `deny…`, allows the rest.
struct ByName;

impl Policy for ByName {
    fn judge(&self, intent: &Intent, _setting: &SessionContext) -> Verdict {
        match &*intent.tool.name {
            name if name.starts_with("ask") => Verdict::ask("rule-asks", intent),
            name if name.starts_with("deny") => Verdict::deny("rule-denies", "so it is ruled"),
            _ => Verdict::allow("rule-allows"),
        }
    }
}

/// Takes three seconds to say yes, and five to decline a form.
struct SlowUser(TestClock);

impl Approver for SlowUser {
    fn ask<'a>(&'a self, _question: &'a Arc<Question>) -> BoxFuture<'a, Answer> {
        self.0.advance_secs(3);
        Box::pin(std::future::ready(Answer::AllowOnce))
    }

    fn fill<'a>(&'a self, _question: &'a Arc<FormQuestion>) -> BoxFuture<'a, FormAnswer> {
        self.0.advance_secs(5);
        Box::pin(std::future::ready(FormAnswer::declined_because(
            "not today",
        )))
    }
}

fn tools(clock: &TestClock) -> Registry {
    let mut tools = Registry::new();
    let mut add = |name: &str, clock: &TestClock, tool: CustomTool| {
        let clock = clock.clone();
        // A second to prepare.
        let prepared = tool.preparing(move |look| {
            clock.advance_secs(1);
            Ok(look.infer())
        });
        tools
            .add_any(Arc::new(prepared))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    };
    for name in ["ask_first", "deny_always", "print", "fail"] {
        add(name, clock, simple(name, clock));
    }
    add("nest", clock, nesting(clock));
    add("fill", clock, filling(clock));
    tools
}

/// A tool that runs for two seconds and prints the secret.
fn simple(name: &str, clock: &TestClock) -> CustomTool {
    let (clock, fails) = (clock.clone(), name == "fail");
    custom(name, move |_, scope| {
        clock.advance_secs(2);
        scope.print(SECRET);
        let result = if fails {
            Err(ToolError::new(format!("it broke: {SECRET}")))
        } else {
            Ok(format!("done: {SECRET}"))
        };
        std::future::ready(result)
    })
}

fn nesting(clock: &TestClock) -> CustomTool {
    let clock = clock.clone();
    custom("nest", move |_, scope| {
        let clock = clock.clone();
        async move {
            clock.advance_secs(1);
            scope.call(ToolRequest::new("print", json!({}))).await;
            Ok(())
        }
    })
}

fn filling(clock: &TestClock) -> CustomTool {
    let mut definition = definition("fill");
    definition.origin = toolcall::Origin::Mcp("forms".into());
    let clock = clock.clone();
    CustomTool::new(definition, move |_, scope| {
        let clock = clock.clone();
        async move {
            clock.advance_secs(1);
            let form = Form::new("forms", "Which one?", Vec::new());
            let form = form.map_err(|error| ToolError::new(error.to_string()))?;
            scope.elicit(form).await;
            clock.advance_secs(2);
            Ok(())
        }
    })
}
