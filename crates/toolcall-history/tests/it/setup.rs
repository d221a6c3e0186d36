//! The setup of these tests: a directory with a history, and calls in one line.
//! It asserts nothing by itself.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use toolcall::{
    Announced, CallId, Decision, Effect, Ending, Event, Finish, Input, Intent, Journal, Judge,
    Kind, Outline, Output, Prepared, Receipt, RuleName, SessionId, Ticket, ToolResult,
};
use toolcall_history::{Archive, History, HistoryConfig};
use toolcall_testkit::clock::TestClock;
use toolcall_testkit::dir::TestDir;

/// A temporary directory, and a path for a history in it.
pub(crate) struct TestHistory {
    pub(crate) dir: TestDir,
    pub(crate) path: PathBuf,
}

impl Default for TestHistory {
    fn default() -> Self {
        let dir = TestDir::create();
        let path = dir.at("state/history.db");
        Self { dir, path }
    }
}

impl TestHistory {
    pub(crate) fn open(&self) -> Arc<History> {
        self.open_with(settings())
    }

    pub(crate) fn open_with(&self, settings: HistoryConfig) -> Arc<History> {
        Arc::new(History::open(&self.path, settings).expect("a history"))
    }

    pub(crate) fn archive(&self) -> Archive {
        Archive::open(&self.path).expect("a history that is there")
    }

    /// Returns every byte of every file in the directory.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut dirs = vec![self.dir.path().to_owned()];
        while let Some(dir) = dirs.pop() {
            for entry in std::fs::read_dir(dir).expect("a directory") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    dirs.push(path);
                } else {
                    bytes.extend(std::fs::read(path).expect("a file"));
                }
            }
        }
        bytes
    }

    pub(crate) fn holds(&self, text: &str) -> bool {
        let bytes = self.bytes();
        bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    }
}

/// A clock that advances by a millisecond each time it is read.
pub(crate) fn clock() -> TestClock {
    TestClock::ticking(1_700_000_000_000_000, 1000)
}

pub(crate) fn settings() -> HistoryConfig {
    HistoryConfig {
        clock: Arc::new(clock()),
        ..HistoryConfig::default()
    }
}

pub(crate) fn session() -> SessionId {
    SessionId::new("session")
}

pub(crate) fn journal(session: &SessionId, history: &Arc<History>) -> Journal {
    Journal::new(session.clone()).with_store(history.clone())
}

pub(crate) fn announced(tool: &str, input: Value) -> Announced {
    Announced {
        tool: tool.into(),
        model_id: None,
        parent: None,
        input: Some(Input::from(input)),
        outline: Outline::inferred(Kind::Other),
    }
}

pub(crate) fn decided(effect: Effect, rule: &'static str) -> Event {
    Event::Decided(Arc::new(Decision {
        question: None,
        effect,
        by: Judge::Rule(RuleName::new(rule)),
    }))
}

pub(crate) fn finished(ending: Ending, result: impl Into<ToolResult>) -> Event {
    Event::Finished(Arc::new(Finish {
        ending,
        result: result.into(),
        output: Arc::new(Output::default()),
    }))
}

/// Announces, prepares, allows and starts a call; returns the receipt of the decision.
pub(crate) fn begin(journal: &Journal, id: &CallId, intent: Intent) -> Receipt {
    let input = json!({ "path": "src/main.rs" });
    let announced = announced("read_file", input.clone());
    let begun = journal.announce(id, announced, Ticket::default());
    assert_eq!(begun, Ok(()));
    let input = Arc::new(input);
    write(
        journal,
        id,
        Event::Prepared(Arc::new(Prepared { input, intent })),
    );
    let receipt = write(journal, id, decided(Effect::Allow, "allow-all"));
    write(journal, id, Event::Started);
    receipt
}

pub(crate) fn write(journal: &Journal, id: &CallId, event: Event) -> Receipt {
    journal.write(id, event).expect("it has a place")
}

/// Runs a call that reads and completes; returns the receipts of its decision and of its ending.
pub(crate) fn whole_call(journal: &Journal, id: &CallId) -> [Receipt; 2] {
    let intent = Intent::new(Kind::Read, "Read main.rs").reading("/work/src/main.rs");
    let decision = begin(journal, id, intent);
    let ending = write(journal, id, finished(Ending::Completed, "fn main() {}"));
    [decision, ending]
}

/// Waits for a receipt outside of any runtime.
pub(crate) fn wait(receipt: Receipt) -> Result<(), toolcall::StoreError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(receipt.wait())
}
