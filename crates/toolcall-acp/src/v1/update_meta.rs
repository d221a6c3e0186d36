//! The `_meta` and the `rawOutput` of an update of v1.
//! Data for display; it decides nothing.

use std::borrow::Cow;
use std::time::Duration;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use toolcall::{Canceller, Ending, Exit, Progress, Timestamp, Timing, ToolCall, Touch};

use super::signal;
use super::update::Update;
use crate::meta;
use crate::report::Fields;

/// The `_meta` of one update.
pub(crate) struct UpdateMeta<'a, 'u>(&'u Update<'a>);

impl<'a, 'u> UpdateMeta<'a, 'u> {
    pub(crate) fn of(update: &'u Update<'a>) -> Self {
        Self(update)
    }

    /// Writes `_meta` if there is anything to put into it.
    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if self.is_empty() {
            return Ok(());
        }
        map.serialize_entry("_meta", self)
    }

    fn has(&self, field: Fields) -> bool {
        self.0.fields.has(field)
    }

    fn is_empty(&self) -> bool {
        let call = self.0.call;
        let always = Fields::ENDED | Fields::PROGRESS | Fields::HELD | Fields::HEARTBEAT;
        !self.has(always)
            && self.notes().is_none()
            && self.0.chunk.is_none()
            && !(self.is_first() && (call.parent().is_some() || self.is_terminal()))
            && self.trace().is_empty()
    }

    fn is_first(&self) -> bool {
        self.has(Fields::ANNOUNCED)
    }

    fn is_terminal(&self) -> bool {
        self.0.dialect.printing.uses_agent_terminal(self.0.call)
    }

    /// Returns the tool's metadata, if some of it may be new.
    fn notes(&self) -> Option<impl Iterator<Item = (&str, &Value)>> {
        let notes = self.0.call.metadata();
        let is_due = self.has(Fields::NOTES | Fields::ANNOUNCED | Fields::ENDED);
        let entries = || notes.iter().map(|(key, value)| (&**key, &**value));
        (is_due && !notes.is_empty()).then(entries)
    }

    /// Returns the trace context of the turn, for the first report of a call.
    fn trace(&self) -> &[(Cow<'static, str>, String)] {
        if !self.is_first() {
            return &[];
        }
        self.0.dialect.trace.entries()
    }

    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let call = self.0.call;
        for (key, value) in self.trace() {
            map.serialize_entry(&**key, value)?;
        }
        for (key, value) in self.notes().into_iter().flatten() {
            map.serialize_entry(key, value)?;
        }
        if let Some(parent) = call.parent().filter(|_| self.is_first()) {
            map.serialize_entry(meta::PARENT, parent.as_str())?;
        }
        if let Some(progress) = call.progress().filter(|_| self.has(Fields::PROGRESS)) {
            map.serialize_entry(meta::PROGRESS, &progress_value(progress))?;
        }
        if self.has(Fields::HELD) {
            map.serialize_entry(meta::HELD, &call.hold_reason())?;
        }
        if self.has(Fields::HEARTBEAT) {
            map.serialize_entry(meta::HEARTBEAT, &self.heartbeat())?;
        }
        self.terminal(map)?;
        self.end(map)
    }

    /// Returns how much the call has printed, as a sign that it is alive.
    fn heartbeat(&self) -> Value {
        json!({"bytes": self.0.call.output().total()})
    }

    /// Writes the entries of Zed's terminal extension.
    fn terminal<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if !self.is_terminal() {
            return Ok(());
        }
        let call = self.0.call;
        let id = call.id().as_str();
        if self.is_first() {
            let mut info = json!({"terminal_id": id});
            if let Some(cwd) = cwd(call) {
                info["cwd"] = cwd.into();
            }
            map.serialize_entry(meta::TERMINAL_INFO, &info)?;
        }
        if let Some(chunk) = &self.0.chunk {
            let output = json!({"terminal_id": id, "data": chunk.text});
            map.serialize_entry(meta::TERMINAL_OUTPUT, &output)?;
        }
        if self.has(Fields::ENDED) {
            let (code, signal) = exit_of(call);
            let exit = json!({"terminal_id": id, "exit_code": code, "signal": signal});
            map.serialize_entry(meta::TERMINAL_EXIT, &exit)?;
        }
        Ok(())
    }

    fn end<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let call = self.0.call;
        let Some(ending) = call.ending().filter(|_| self.has(Fields::ENDED)) else {
            return Ok(());
        };
        if *ending != Ending::Completed {
            map.serialize_entry(meta::ENDING, &ending_value(ending))?;
        }
        // The times of an ended call do not depend on the current time.
        let times = TimingJson::from(call.timing(Timestamp::default()));
        map.serialize_entry(meta::TIMING, &times)
    }
}

impl Serialize for UpdateMeta<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.entries(&mut map)?;
        map.end()
    }
}

fn progress_value(progress: &Progress) -> Value {
    let mut value = json!({"current": number(progress.current())});
    if let Some(total) = progress.total() {
        value["total"] = number(total);
    }
    if let Some(fraction) = progress.fraction() {
        value["fraction"] = fraction.into();
    }
    if let Some(message) = progress.message() {
        value["message"] = message.into();
    }
    value
}

/// Encodes whole numbers as integers.
fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        (value as i64).into()
    } else {
        value.into()
    }
}

/// The timing of a call. Every call has one, so it is serialized directly, without a `Value`.
#[derive(Serialize)]
struct TimingJson {
    queued_ms: u64,
    waited_ms: u64,
    ran_ms: u64,
    total_ms: u64,
}

impl From<Timing> for TimingJson {
    fn from(timing: Timing) -> Self {
        Self {
            queued_ms: millis(timing.queued),
            waited_ms: millis(timing.waited),
            ran_ms: millis(timing.ran),
            total_ms: millis(timing.total),
        }
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Encodes how a call ended; v1 itself has only `failed`.
fn ending_value(ending: &Ending) -> Value {
    let mut value = json!({"how": ending.name()});
    match ending {
        Ending::Completed => {}
        Ending::Failed { reason } | Ending::Denied { reason } | Ending::Interrupted { reason } => {
            value["reason"] = (**reason).into();
        }
        Ending::Cancelled { by } => value["by"] = canceller(by).into(),
        Ending::TimedOut { after } => value["after_ms"] = millis(*after).into(),
    }
    value
}

fn canceller(by: &Canceller) -> &'static str {
    match by {
        Canceller::Person => "person",
        Canceller::Turn => "turn",
        Canceller::Engine => "engine",
        Canceller::Parent => "parent",
    }
}

/// Returns the structured result of a call; for a command with its exit status and directory.
pub(crate) fn raw_output(call: &ToolCall) -> Option<Cow<'_, Value>> {
    let structured = call.finish()?.result.structured.as_deref();
    if call.exit().is_none() {
        return structured.map(Cow::Borrowed);
    }
    let mut output = match structured {
        Some(Value::Object(object)) => object.clone(),
        Some(other) => Map::from_iter([("result".to_owned(), other.clone())]),
        None => Map::new(),
    };
    let (code, signal) = exit_of(call);
    let facts = [
        ("exitCode", code.into()),
        (
            "signal",
            signal.map_or(Value::Null, |name| Value::from(&*name)),
        ),
        ("cwd", cwd(call).map_or(Value::Null, Value::from)),
    ];
    for (key, value) in facts {
        output.entry(key).or_insert(value);
    }
    Some(Cow::Owned(Value::Object(output)))
}

fn exit_of(call: &ToolCall) -> (Option<i32>, Option<Cow<'static, str>>) {
    match call.exit() {
        Some(Exit::Code(code)) => (Some(code), None),
        Some(Exit::Signal(number)) => (None, Some(signal::name(number))),
        None => (None, None),
    }
}

/// Returns the working directory of the call's command.
pub(crate) fn cwd(call: &ToolCall) -> Option<String> {
    let touches = &call.prepared_as()?.intent.touches;
    touches.iter().find_map(|touch| match touch {
        Touch::Runs(command) => Some(command.cwd.to_string_lossy().into_owned()),
        Touch::Reads(_)
        | Touch::Writes(_)
        | Touch::Deletes(_)
        | Touch::Moves { .. }
        | Touch::Reaches(_)
        | Touch::Unknown => None,
    })
}
