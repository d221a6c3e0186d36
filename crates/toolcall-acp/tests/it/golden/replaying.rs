//! Compares the client's state after a replay with its state after the live session.
//! The few allowed differences are listed here, each with its reason.

use serde_json::{Map, Value};

use crate::golden::client_state::ClientState;

/// Keys of the live turn's trace context, which a replay does not have.
const OF_THE_TURN: [&str; 3] = ["traceparent", "tracestate", "baggage"];

/// Returns every difference that is not allowed.
pub(crate) fn differences(live: ClientState, again: ClientState) -> Vec<String> {
    let mut differences = Vec::new();
    if live.plan != again.plan {
        differences.push(format!("plan: {:?} became {:?}", live.plan, again.plan));
    }
    let [live, again] = [live, again].map(|known| known.calls);
    if live.keys().ne(again.keys()) {
        differences.push(format!(
            "calls: {:?} became {:?}",
            live.keys(),
            again.keys()
        ));
    }
    for (id, mut live) in live {
        let mut again = again.get(&id).cloned().unwrap_or_default();
        if shows_terminal_of_client(&again) {
            differences.push(format!("{id} shows a terminal that nobody has any more"));
        }
        except(&mut live, &mut again);
        let fields: std::collections::BTreeSet<_> = live.keys().chain(again.keys()).collect();
        let changed = fields
            .into_iter()
            .filter(|field| live.get(*field) != again.get(*field));
        differences.extend(changed.map(|field| {
            let (was, is) = (live.get(field), again.get(field));
            format!("{id}.{field}: {was:?} became {is:?}")
        }));
    }
    differences
}

fn except(live: &mut Map<String, Value>, again: &mut Map<String, Value>) {
    for call in [&mut *live, &mut *again] {
        if let Some(meta) = call.get_mut("_meta").and_then(Value::as_object_mut) {
            OF_THE_TURN.iter().for_each(|key| drop(meta.remove(*key)));
        }
        // A first report may omit an empty list of locations.
        call.retain(|field, value| field != "locations" || *value != Value::Array(Vec::new()));
    }
    // The client's terminal ended with its session, so its output is replayed like other output.
    if shows_terminal_of_client(live) && !shows_terminal_of_client(again) {
        for call in [&mut *live, &mut *again] {
            call.remove("content");
            if let Some(meta) = call.get_mut("_meta").and_then(Value::as_object_mut) {
                meta.remove("terminal_output");
            }
        }
    }
    gaps(live, again);
}

/// Allows a gap: a live terminal received more output than is stored. The replayed output must have the
/// same start and end.
fn gaps(live: &mut Map<String, Value>, again: &mut Map<String, Value>) {
    const GAP: &str = " bytes left out …\r\n";
    let [live, again] = [live, again].map(|call| call.get_mut("_meta"));
    let (Some(live), Some(again)) = (live, again) else {
        return;
    };
    let at = "/terminal_output/data";
    let (Some(was), Some(is)) = (live.pointer(at).cloned(), again.pointer_mut(at)) else {
        return;
    };
    let (was, reported) = (
        was.as_str().unwrap_or_default(),
        is.as_str().unwrap_or_default(),
    );
    let Some((head, tail)) = reported.split_once(GAP) else {
        return;
    };
    let head = head.split('\u{1b}').next().unwrap_or_default();
    if was.starts_with(head) && was.ends_with(tail) {
        *is = was.into();
    }
}

/// Whether the call shows a terminal of the client, not one that the agent fills.
fn shows_terminal_of_client(call: &Map<String, Value>) -> bool {
    let has_info = |id: &Value| {
        let meta = call.get("_meta").and_then(|meta| meta.get("terminal_info"));
        meta.is_some_and(|info| info["terminal_id"] == *id)
    };
    let items = call.get("content").and_then(Value::as_array);
    let terminals = items
        .into_iter()
        .flatten()
        .filter(|item| item["type"] == "terminal");
    terminals
        .into_iter()
        .any(|item| !has_info(&item["terminalId"]))
}
