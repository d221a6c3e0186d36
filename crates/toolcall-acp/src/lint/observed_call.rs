//! The state of one call in a recorded stream, and the rules about its order.
//! It must not hold more than the rules need: an ended call takes a few bytes.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;
use toolcall::text::clean_command;
use toolcall::{Content, Effect, Kind};

use crate::decode::{ReportedFields, ReportedStatus, UpdateName};
use crate::finding::{Findings, LintRule, quoted};

/// One call of a recorded stream, as far as it was reported.
#[derive(Debug)]
pub(super) struct ObservedCall {
    place: usize,
    kind: Kind,
    reported: bool,
    announced: bool,
    in_progress: bool,
    stage: ObservedStage,
    permission: PermissionState,
    /// Whether it has any content.
    shows: bool,
    diffs: BTreeSet<PathBuf>,
    command: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ObservedStage {
    Open,
    /// It should have ended, and a finding says so.
    Abandoned,
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PermissionState {
    NotAsked,
    Pending,
    Answered(Effect),
}

impl ObservedCall {
    /// Creates the call at this position among those of its session.
    pub(super) fn at(place: usize) -> Self {
        Self {
            place,
            kind: Kind::Other,
            reported: false,
            announced: false,
            in_progress: false,
            stage: ObservedStage::Open,
            permission: PermissionState::NotAsked,
            shows: false,
            diffs: BTreeSet::new(),
            command: None,
        }
    }

    /// Returns its position among the calls of its session.
    pub(super) fn place(&self) -> usize {
        self.place
    }

    /// Whether it has not ended, and no finding says so.
    pub(super) fn is_open(&self) -> bool {
        self.stage == ObservedStage::Open
    }

    /// Marks it as reported for not ending.
    pub(super) fn abandon(&mut self) {
        self.stage = ObservedStage::Abandoned;
    }

    /// Checks the name of an update.
    pub(super) fn named(
        &mut self,
        named: Option<UpdateName>,
        report: &ReportedFields<'_>,
        findings: &mut Findings,
    ) {
        match named {
            Some(UpdateName::ToolCall) if self.announced => findings.note(
                LintRule::AnnouncedTwice,
                || "`tool_call` came again for the same id",
            ),
            Some(UpdateName::ToolCall) => {
                self.announced = true;
                if report.title.is_none() && !findings.has(LintRule::NoTitle) {
                    findings.note(LintRule::NoTitle, || "`tool_call` has no title");
                }
            }
            Some(UpdateName::ToolCallUpdate) if !self.reported => {
                findings.note(
                    LintRule::AnnouncedFirst,
                    || "`tool_call_update` came before any `tool_call`",
                );
            }
            Some(UpdateName::ToolCallUpdate) | None => {}
        }
    }

    /// Checks a report.
    pub(super) fn reported(&mut self, report: &ReportedFields<'_>, findings: &mut Findings) {
        if self.stage == ObservedStage::Ended {
            findings.note(LintRule::Late, || "a report came after the final status");
            return;
        }
        self.take(report);
        match report.status {
            Some(ReportedStatus::InProgress) => {
                self.in_progress = true;
                self.check_permission("in progress", findings);
            }
            Some(ReportedStatus::Completed) => {
                self.check_permission("completed", findings);
                self.completed(findings);
                self.ended();
            }
            Some(ReportedStatus::Failed) => self.ended(),
            Some(ReportedStatus::Pending | ReportedStatus::Unknown(_)) | None => {}
        }
    }

    /// Checks a permission question.
    pub(super) fn asked(&mut self, report: &ReportedFields<'_>, findings: &mut Findings) {
        if self.stage == ObservedStage::Ended {
            findings.note(
                LintRule::Late,
                || "permission was asked after the final status",
            );
            return;
        }
        if !self.reported {
            findings.note(
                LintRule::AskAfterCall,
                || "permission was asked before any `tool_call`",
            );
        }
        self.check_command(report, findings);
        self.check_diffs(report, findings);
        self.permission = PermissionState::Pending;
        self.take(report);
    }

    /// Records that the question was withdrawn.
    pub(super) fn withdrawn(&mut self) {
        self.permission = PermissionState::NotAsked;
    }

    /// Records the client's answer.
    pub(super) fn answered(&mut self, effect: Effect) {
        self.permission = PermissionState::Answered(effect);
    }

    fn take(&mut self, report: &ReportedFields<'_>) {
        self.reported = true;
        self.kind = report.kind.unwrap_or(self.kind);
        if let Some(items) = &report.content {
            self.shows = items.count > 0;
            self.diffs = diffs(&items.content);
        }
        self.command = report.input.and_then(command).or(self.command.take());
    }

    fn completed(&self, findings: &mut Findings) {
        if !self.in_progress {
            findings.note(
                LintRule::Started,
                || "it completed and was never `in_progress`",
            );
        }
        if !self.shows {
            findings.note(
                LintRule::EmptyCompletion,
                || "it completed with nothing in `content`",
            );
        }
    }

    fn check_permission(&self, ran: &str, findings: &mut Findings) {
        let why = match self.permission {
            PermissionState::NotAsked | PermissionState::Answered(Effect::Allow) => return,
            PermissionState::Pending => "before its permission was answered",
            PermissionState::Answered(Effect::Deny) => "although permission was refused",
        };
        findings.note(LintRule::RanUnallowed, || format!("it was {ran} {why}"));
    }

    fn check_command(&self, report: &ReportedFields<'_>, findings: &mut Findings) {
        let is_command = report.kind.unwrap_or(self.kind) == Kind::Execute;
        let Some(announced) = self.command.as_ref().filter(|_| is_command) else {
            return;
        };
        let repeated = report.input.and_then(command);
        if repeated.as_ref() != Some(announced) && !shows(report, announced) {
            findings.note(LintRule::PermissionHidesCommand, || {
                format!("the permission request does not show {}", quoted(announced))
            });
        }
    }

    fn check_diffs(&self, report: &ReportedFields<'_>, findings: &mut Findings) {
        let repeated = report.content.as_ref().map(|items| diffs(&items.content));
        let repeated = repeated.unwrap_or_default();
        let hidden = self.diffs.difference(&repeated).next();
        if let Some(path) = hidden {
            findings.note(LintRule::PermissionHidesDiff, || {
                let path = quoted(&path.to_string_lossy());
                format!("the permission request does not show the diff of {path}")
            });
        } else if repeated.is_empty() && report.kind.unwrap_or(self.kind) == Kind::Edit {
            findings.note(
                LintRule::PermissionHidesDiff,
                || "the permission request is about an edit and shows no diff",
            );
        }
    }

    fn ended(&mut self) {
        self.stage = ObservedStage::Ended;
        self.diffs.clear();
        self.command = None;
    }
}

fn diffs(content: &[Content]) -> BTreeSet<PathBuf> {
    let edits = content.iter().filter_map(Content::as_edit);
    edits.map(|edit| edit.path.clone()).collect()
}

/// Returns the command in an input: its text, or the longest of several words.
fn command(input: &Value) -> Option<String> {
    let keys = ["command", "commands", "cmd", "script"];
    let value = keys.iter().find_map(|key| input.get(key))?;
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words = words.iter().filter_map(Value::as_str);
            words.max_by_key(|word| word.len()).map(str::to_owned)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Whether the title or a text item shows a command.
fn shows(report: &ReportedFields<'_>, command: &str) -> bool {
    let as_title = clean_command(command, usize::MAX);
    let in_title = report
        .title
        .as_ref()
        .is_some_and(|title| title.contains(&as_title));
    let content = report.content.iter().flat_map(|items| &items.content);
    let has_command = |item: &Content| match item {
        Content::Text(text) => text.contains(command),
        Content::Image(_)
        | Content::Audio(_)
        | Content::Resource(_)
        | Content::Link(_)
        | Content::Edit(_)
        | Content::Terminal(_) => false,
    };
    in_title || content.into_iter().any(has_command)
}
