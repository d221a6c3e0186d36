//! Sends the reports that had to wait: when the lane has room again, or when they are due.
//! It holds no lock while it looks a call up, because the journal's lock comes before the reporter's.

use std::sync::Arc;

use tokio::time::{Instant, sleep_until};
use toolcall::{CallId, ToolCall};

use super::state::{PendingReport, ReporterState};
use super::{Fields, ReporterInner, Urgency};

/// What the pump does next.
enum PumpStep {
    /// Report this call.
    Report(CallId),
    /// Wait until then.
    Wait(Instant),
    /// Wait for new changes.
    Rest,
    /// End the task.
    Stop,
}

impl ReporterInner {
    /// Runs until the reporter is dropped and everything is sent, or the client is gone.
    pub(super) async fn pump(self: Arc<Self>) {
        loop {
            match self.next() {
                PumpStep::Report(id) => {
                    if self.lane.room().await.is_err() {
                        self.state.lock().abandon();
                        self.sent_notify.notify_waiters();
                        return;
                    }
                    self.deliver(&id);
                }
                PumpStep::Wait(until) => tokio::select! {
                    () = self.work.notified() => {}
                    () = sleep_until(until) => {}
                },
                PumpStep::Rest => self.work.notified().await,
                PumpStep::Stop => return,
            }
        }
    }

    fn next(&self) -> PumpStep {
        let mut state = self.state.lock();
        if let Some(id) = state.backlog.front() {
            return PumpStep::Report(id.clone());
        }
        if state.is_client_gone || state.is_finished {
            return PumpStep::Stop;
        }
        let now = Instant::now();
        let due = state
            .calls
            .iter()
            .filter_map(|(id, entry)| Some((entry.due(now)?, id)));
        let next = due.min_by_key(|(due, _)| *due);
        let next = next.map(|(due, id)| (due, id.clone()));
        state.pump_wakes_at = next.as_ref().map(|(due, _)| *due);
        match next {
            Some((due, id)) if due <= now => PumpStep::Report(id),
            Some((due, _)) => PumpStep::Wait(due),
            None => PumpStep::Rest,
        }
    }

    /// Sends the pending report of a call, with the call's current values.
    fn deliver(&self, id: &CallId) {
        let Some((fields, ended)) = self.take(id) else {
            return;
        };
        let call = ended.or_else(|| self.journal.get()?.upgrade()?.call(id));
        let mut state = self.state.lock();
        let is_reported = call
            .as_ref()
            .is_some_and(|call| self.try_report(&mut state, call, fields));
        let Some(entry) = state.calls.get_mut(id) else {
            return;
        };
        let in_flight = entry.in_flight.take();
        if let Some(urgency) = in_flight.filter(|_| !is_reported) {
            entry.add(fields, urgency);
        }
        // The journal no longer has the call, and no last state of it is kept: nothing can be reported.
        if call.is_none() && entry.ended.is_none() {
            state.calls.remove(id);
        }
        requeue(&mut state, id);
        drop(state);
        self.sent_notify.notify_waiters();
    }

    /// Takes the pending fields of a call and marks them as in flight.
    fn take(&self, id: &CallId) -> Option<(Fields, Option<Arc<ToolCall>>)> {
        let mut state = self.state.lock();
        if state.backlog.front() == Some(id) {
            state.backlog.pop_front();
        }
        let entry: &mut PendingReport = state.calls.get_mut(id)?;
        entry.is_queued = false;
        let (fields, urgency) = entry.take();
        if fields.is_empty() {
            return None;
        }
        entry.in_flight = Some(urgency);
        let ended = entry.ended.as_ref().map(|(call, _)| call.clone());
        Some((fields, ended))
    }
}

/// Puts urgent changes that came meanwhile at the front of the backlog.
fn requeue(state: &mut ReporterState, id: &CallId) {
    let Some(entry) = state.calls.get_mut(id) else {
        return;
    };
    let waits = entry.urgency == Urgency::Now && !entry.fields.is_empty();
    if waits && !std::mem::replace(&mut entry.is_queued, true) {
        state.backlog.push_front(id.clone());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use toolcall::*;

    use super::super::Reporter;
    use crate::lane::Lane;
    use crate::version::before_initialize;

    fn announced() -> Announced {
        Announced {
            tool: "work".into(),
            model_id: None,
            parent: None,
            input: Some(Input::Json(Arc::new(json!({})))),
            outline: Outline::inferred(Kind::Other),
        }
    }

    fn question(session: &SessionId, call: &CallId) -> Arc<Question> {
        let prepared = Prepared {
            input: Arc::new(json!({})),
            intent: Intent::new(Kind::Other, "work"),
        };
        Arc::new(Question {
            id: QuestionId::new("q"),
            session: session.clone(),
            call: call.clone(),
            subject: Arc::new(prepared),
            offers: Vec::new(),
            because: RuleName::new("test"),
        })
    }

    #[test]
    fn a_question_waits_for_the_report_that_the_pump_has_in_hand() {
        let (session, id) = (SessionId::new("s1"), CallId::new("call-1"));
        let (lane, _outlet) = Lane::new(1024);
        let reporter = Reporter::new(session.clone(), lane, before_initialize());
        let inner = reporter.inner.clone();
        let journal = Journal::new(session.clone()).with_reader(reporter);
        let begun = journal.announce(&id, announced(), Ticket::default());
        begun.expect("a call");
        let question = question(&session, &id);
        let prepared = Event::Prepared(question.subject.clone());
        journal.write(&id, prepared).expect("prepared");
        inner.take(&id).expect("its first report");
        journal.write(&id, Event::Asked(question)).expect("asked");
        assert!(inner.state.lock().has_unsent(&id));
    }
}
