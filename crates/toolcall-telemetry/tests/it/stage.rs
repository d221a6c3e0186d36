//! A small world: a clock that is set by hand, and a few tools and a person who take their time by it.
//! It asserts nothing itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;
use toolcall::*;
use toolcall_telemetry::Telemetry;

/// When every story begins.
pub(crate) const BEGAN: Moment = Moment::from_micros(1_000_000_000_000_000);

/// More than any of the stories needs.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// What is only in inputs and outputs.
pub(crate) const SECRET: &str = "hunter2";

/// A clock that stands still until it is told.
#[derive(Clone, Default)]
pub(crate) struct HandClock(Arc<AtomicU64>);

impl HandClock {
    pub(crate) fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Moment {
        BEGAN.plus(Duration::from_secs(self.0.load(Ordering::SeqCst)))
    }
}

/// An engine whose calls are told to a collector.
pub(crate) fn engine(telemetry: &Telemetry, clock: &HandClock) -> Engine {
    Engine::builder(tools(clock))
        .setting(Setting::new(SessionId::new("session"), "/project"))
        .ids(Counted::new("call"))
        .policy(ByName)
        .approver(Person(clock.clone()))
        .clock(clock.clone())
        .reader(telemetry.reader())
        .build()
}

/// Runs one tool, in the turn that is open.
pub(crate) async fn run(engine: &Engine, tool: &str) -> Outcome {
    let request = ToolRequest::new(tool, json!({ "text": SECRET }));
    engine.run(request.model_id(format!("model-{tool}"))).await
}

/// `ask…` is asked, `deny…` is denied, the rest may run.
struct ByName;

impl Policy for ByName {
    fn judge(&self, intent: &Intent, _setting: &Setting) -> Verdict {
        match &*intent.tool.name {
            name if name.starts_with("ask") => Verdict::ask("rule-asks", intent),
            name if name.starts_with("deny") => Verdict::deny("rule-denies", "so it is ruled"),
            _ => Verdict::allow("rule-allows"),
        }
    }
}

/// Takes three seconds to say yes, and five for a form.
struct Person(HandClock);

impl Approver for Person {
    fn ask<'a>(&'a self, _question: &'a Arc<Question>) -> BoxFuture<'a, Answer> {
        self.0.pass(3);
        Box::pin(std::future::ready(Answer::AllowOnce))
    }

    fn fill<'a>(&'a self, _question: &'a Arc<FormQuestion>) -> BoxFuture<'a, FormAnswer> {
        self.0.pass(5);
        Box::pin(std::future::ready(FormAnswer::declined_because(
            "not today",
        )))
    }
}

fn tools(clock: &HandClock) -> Registry {
    let mut tools = Registry::new();
    let mut add = |name: &str, clock: &HandClock, tool: CustomTool| {
        let clock = clock.clone();
        // A second to prepare.
        let prepared = tool.preparing(move |look| {
            clock.pass(1);
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

fn definition(name: &str) -> Definition {
    Definition::new(name, "A tool of a story.", json!({"type": "object"}))
}

/// Two seconds of work that says the secret.
fn simple(name: &str, clock: &HandClock) -> CustomTool {
    let (clock, fails) = (clock.clone(), name == "fail");
    CustomTool::new(definition(name), move |_, scope| {
        clock.pass(2);
        scope.print(SECRET);
        let result = match fails {
            true => Err(ToolError::new(format!("it broke: {SECRET}"))),
            false => Ok(format!("done: {SECRET}")),
        };
        std::future::ready(result)
    })
}

fn nesting(clock: &HandClock) -> CustomTool {
    let clock = clock.clone();
    CustomTool::new(definition("nest"), move |_, scope| {
        let clock = clock.clone();
        async move {
            clock.pass(1);
            scope.call(ToolRequest::new("print", json!({}))).await;
            Ok(())
        }
    })
}

fn filling(clock: &HandClock) -> CustomTool {
    let mut definition = definition("fill");
    definition.origin = toolcall::Origin::Mcp("forms".into());
    let clock = clock.clone();
    CustomTool::new(definition, move |_, scope| {
        let clock = clock.clone();
        async move {
            clock.pass(1);
            let form = Form::new("forms", "Which one?", Vec::new());
            let form = form.map_err(|error| ToolError::new(error.to_string()))?;
            scope.elicit(form).await;
            clock.pass(2);
            Ok(())
        }
    })
}
