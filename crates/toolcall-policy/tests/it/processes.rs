//! Several processes with the same policy files: no remembered rule is lost, and it answers the others.
//! Each test starts itself again as the other processes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;

use serde_json::json;
use toolcall::{
    Answer, AnswerContext, CallId, Command, Effect, Engine, Intent, Judge, Kind, Lifetime,
    Question, Registry, Remembered, Rule, Rulebook as _, SessionId, Timestamp, ToolRequest,
};
use toolcall_policy::PolicyStore;
use toolcall_testkit::dir::TestDir;
use toolcall_testkit::process::{again, role};
use toolcall_testkit::tools::{custom, registry_of};

use crate::store::fixture::config_in;

const PROCESSES: usize = 8;
const RULES_EACH: usize = 12;

/// The variable that passes the directory to a process that a test started.
const DIRECTORY: &str = "TOOLCALL_TEST_DIRECTORY";

/// Returns the directory and role of this process, if a test started it.
fn started() -> Option<(PathBuf, String)> {
    let directory = std::env::var_os(DIRECTORY)?;
    Some((directory.into(), role()?))
}

/// Many processes remember rules at once, and no rule is lost.
#[test]
fn all_rules_are_there() {
    if let Some((directory, name)) = started() {
        return remember(&directory, &name);
    }
    let directory = TestDir::create();
    let names: Vec<String> = (0..PROCESSES).map(|number| format!("p{number}")).collect();
    let children: Vec<Child> = names
        .iter()
        .map(|name| start("all_rules_are_there", directory.path(), name))
        .collect();
    for child in children {
        finish(child);
    }
    let remembered = store(directory.path()).kept().expect("a sound file");
    let mut texts: Vec<String> = remembered.into_iter().map(|rule| rule.text).collect();
    texts.sort();
    let mut expected: Vec<String> = names.iter().flat_map(|name| rules_of(name)).collect();
    expected.sort();
    assert_eq!(texts, expected);
}

/// A question waits in one process until the answer is remembered in the other.
#[test]
fn a_rule_of_one_answers_the_other() {
    if let Some((directory, role)) = started() {
        return ask(&directory, Waiting::of(&role));
    }
    let directory = TestDir::create();
    let start = |role| start("a_rule_of_one_answers_the_other", directory.path(), role);
    let mut waiting = start("wait");
    let mut lines = BufReader::new(waiting.stderr.take().expect("its output")).lines();
    let mut line = || lines.next().expect("a line").expect("a line of text");
    assert_eq!(line(), "asked");
    let answering = start("answer");
    let (answered, decided) = (output(answering), line());
    finish(waiting);
    assert_eq!(answered, "asked\nPerson: kept run = \"cargo test\"\n");
    assert!(
        decided.starts_with("Rule: allow run = \"cargo test\""),
        "{decided}"
    );
}

fn remember(directory: &Path, name: &str) {
    let store = store(directory);
    for text in rules_of(name) {
        let rule = Rule {
            text: text.into(),
            lifetime: Lifetime::Everywhere,
        };
        let occasion = AnswerContext {
            when: Timestamp::from_micros(1),
            session: SessionId::new(name),
            call: CallId::new("call"),
            title: name.into(),
        };
        store
            .remember(&rule, Effect::Allow, &occasion)
            .expect("kept");
    }
}

fn rules_of(name: &str) -> Vec<String> {
    let rules = 0..RULES_EACH;
    rules
        .map(|number| format!("run = \"{name}-{number}\""))
        .collect()
}

/// Who answers the question.
#[derive(Clone, Copy)]
enum Waiting {
    ForOthers,
    ForNobody,
}

impl Waiting {
    fn of(role: &str) -> Self {
        match role {
            "wait" => Self::ForOthers,
            "answer" => Self::ForNobody,
            other => panic!("unknown role {other}"),
        }
    }
}

/// Makes one call in its own engine, and prints when it asks and who decided.
fn ask(directory: &Path, waiting: Waiting) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let engine = Engine::builder(tools())
            .cwd(project(directory))
            .rulebook(Arc::new(store(directory)))
            .approver(move |question| answer(question, waiting))
            .build();
        let outcome = engine.run(ToolRequest::new("test", json!({}))).await;
        let decision = outcome.call.decision().expect("a decision");
        assert_eq!(decision.effect, Effect::Allow);
        say(&match &decision.by {
            Judge::Rule(rule) => format!("Rule: {}", rule.as_str()),
            Judge::Person(Remembered::Kept(rule)) => format!("Person: kept {}", rule.text),
            Judge::Person(Remembered::Once | Remembered::NotKept { .. }) => "Person".to_owned(),
            Judge::Unseen => "Unseen".to_owned(),
        });
    });
}

async fn answer(question: Arc<Question>, waiting: Waiting) -> Answer {
    say("asked");
    let for_project =
        |rule: &&Rule| rule.lifetime == Lifetime::Project && rule.text.starts_with("run");
    match waiting {
        Waiting::ForOthers => std::future::pending().await,
        Waiting::ForNobody => {
            let offer = question.offers.iter().find(for_project).expect("an offer");
            Answer::AllowAlways(offer.clone())
        }
    }
}

fn tools() -> Registry {
    let tool = custom("test", |_, _| async { Ok("tested") }).preparing(|look| {
        let reading = toolcall_shell::read("cargo test", &look.path("."));
        let command = Command::new("cargo test", look.path("."), reading);
        Ok(Intent::new(Kind::Execute, "cargo test").running(command))
    });
    registry_of([tool])
}

fn store(directory: &Path) -> PolicyStore {
    PolicyStore::open(config_in(directory))
}

fn project(directory: &Path) -> PathBuf {
    directory.join("proj")
}

/// Starts a test again in a new process, which reports on standard error.
fn start(test: &str, directory: &Path, role: &str) -> Child {
    let mut process = again(&format!("processes::{test}"), role);
    process
        .env(DIRECTORY, directory)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    process.spawn().expect("a process")
}

fn finish(mut child: Child) {
    let status = child.wait().expect("an end");
    assert!(status.success(), "{status}");
}

fn output(child: Child) -> String {
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success(), "{}", output.status);
    String::from_utf8(output.stderr).expect("text")
}

fn say(line: &str) {
    let mut out = std::io::stderr();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .expect("said");
}
