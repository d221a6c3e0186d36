//! The checks of every golden test: the rules, the schema, the replay, and the exact lines.
//! It runs no agent.

use expect_test::expect_file;
use toolcall::{SessionId, Store, ToolCall, replay};
use toolcall_acp::TraceContext;
use toolcall_acp::lint::{Direction, Frame, lint};
use toolcall_acp::v1::{EncodeOptions, OutputFormat, snapshot};

use crate::golden::client_state::ClientState;
use crate::golden::harness::Wire;
use crate::golden::line::{Line, Side};
use crate::golden::{replaying, rules, schema};

impl Wire {
    /// Checks everything, and compares the lines with the golden file of this name.
    pub(crate) fn check(&self, name: &str) {
        self.check_lines(name);
        let differences = replaying::differences(self.live(), self.replayed_state());
        assert_eq!(differences, [""; 0], "{name}");
    }

    /// Checks all but the replay, for a session that was not stored.
    pub(crate) fn check_lines(&self, name: &str) {
        expect_file![format!("wires/{name}.wire")].assert_eq(&self.transcript());
        assert_eq!(rules::findings(&self.lines), [""; 0], "{name}");
        assert_eq!(self.linted(), [""; 0], "{name}");
        assert_eq!(schema::findings(&self.lines), [""; 0], "{name}");
    }

    fn transcript(&self) -> String {
        let lines = self.lines.iter().map(|line| match line.side {
            Side::Agent => format!("agent  {}\n", line.text),
            Side::Client => format!("client {}\n", line.text),
        });
        lines.collect()
    }

    /// Returns the findings of our own linter.
    fn linted(&self) -> Vec<String> {
        let frames = self.lines.iter().map(|line| Frame {
            direction: match line.side {
                Side::Agent => Direction::FromAgent,
                Side::Client => Direction::FromClient,
            },
            message: &line.json,
        });
        let findings = lint(frames).into_iter();
        findings.map(|finding| format!("{finding:?}")).collect()
    }

    fn agent_lines(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.side == Side::Agent)
    }

    /// Returns what the client knows in the end.
    pub(crate) fn live(&self) -> ClientState {
        let mut known = ClientState::default();
        for line in self.agent_lines() {
            let params = &line.json["params"];
            known.update(&params["update"]);
            known.merge(&params["toolCall"]);
        }
        known
    }

    /// Returns the stored calls.
    pub(crate) fn stored(&self) -> Vec<ToolCall> {
        let records = self.store.load(&SessionId::new("s1"));
        replay(&records.expect("records"))
    }

    /// Returns what the client would know from a replay of the stored session.
    fn replayed_state(&self) -> ClientState {
        let dialect = EncodeOptions {
            printing: self.printing(),
            trace: TraceContext::default(),
        };
        let (mut known, calls) = (ClientState::default(), self.stored());
        for update in calls.iter().flat_map(|call| snapshot(call, &dialect)) {
            known.update(&update.to_value());
        }
        known
    }

    fn printing(&self) -> OutputFormat {
        let offers = &self.lines[0].json["params"]["clientCapabilities"];
        if offers["_meta"]["terminal_output"] == true {
            OutputFormat::Terminal
        } else {
            OutputFormat::Text
        }
    }
}
