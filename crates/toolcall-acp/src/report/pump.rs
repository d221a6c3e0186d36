//! Tells what could not be told at once: when the lane has room again, or its time has come.
//! It holds no lock while it looks a call up: the journal's lock comes before the reporter's.

use std::sync::Arc;

use tokio::time::{Instant, sleep_until};
use toolcall::{CallId, ToolCall};

use super::state::{Entry, State};
use super::{Fields, Telling, Urgency};

/// What the pump does next.
enum Next {
    /// Tell of this call.
    Tell(CallId),
    /// Nothing before then.
    Wait(Instant),
    /// Nothing at all.
    Rest,
    /// Never anything again.
    Stop,
}

impl Telling {
    /// Runs until the reporter is dropped and all is told, or the client is gone.
    pub(super) async fn pump(self: Arc<Self>) {
        loop {
            match self.next() {
                Next::Tell(id) => {
                    if self.lane.room().await.is_err() {
                        self.state.lock().give_up();
                        self.told.notify_waiters();
                        return;
                    }
                    self.deliver(&id);
                }
                Next::Wait(until) => tokio::select! {
                    () = self.work.notified() => {}
                    () = sleep_until(until) => {}
                },
                Next::Rest => self.work.notified().await,
                Next::Stop => return,
            }
        }
    }

    fn next(&self) -> Next {
        let mut state = self.state.lock();
        if let Some(id) = state.backlog.front() {
            return Next::Tell(id.clone());
        }
        if state.is_gone || state.is_over {
            return Next::Stop;
        }
        let now = Instant::now();
        let due = state
            .calls
            .iter()
            .filter_map(|(id, entry)| Some((entry.due(now)?, id)));
        let next = due.min_by_key(|(due, _)| *due);
        let next = next.map(|(due, id)| (due, id.clone()));
        state.pump_looks = next.as_ref().map(|(due, _)| *due);
        match next {
            Some((due, id)) if due <= now => Next::Tell(id),
            Some((due, _)) => Next::Wait(due),
            None => Next::Rest,
        }
    }

    /// Tells what is owed of a call, as the call is now.
    fn deliver(&self, id: &CallId) {
        let Some((fields, ended)) = self.take(id) else {
            return;
        };
        let call = ended.or_else(|| self.journal.get()?.upgrade()?.call(id));
        let mut state = self.state.lock();
        let is_told = call
            .as_ref()
            .is_some_and(|call| self.tell(&mut state, call, fields));
        let Some(entry) = state.calls.get_mut(id) else {
            return;
        };
        let in_hand = entry.in_hand.take();
        if let Some(urgency) = in_hand.filter(|_| !is_told) {
            entry.add(fields, urgency);
        }
        // It ended just now, and its last state is here; or nobody has it, and nobody can tell.
        if call.is_none() && entry.ended.is_none() {
            state.calls.remove(id);
        }
        requeue(&mut state, id);
        drop(state);
        self.told.notify_waiters();
    }

    /// FieldType what is owed of a call into hand.
    fn take(&self, id: &CallId) -> Option<(Fields, Option<Arc<ToolCall>>)> {
        let mut state = self.state.lock();
        if state.backlog.front() == Some(id) {
            state.backlog.pop_front();
        }
        let entry: &mut Entry = state.calls.get_mut(id)?;
        entry.is_queued = false;
        let (fields, urgency) = entry.take();
        if fields.is_empty() {
            return None;
        }
        entry.in_hand = Some(urgency);
        let ended = entry.ended.as_ref().map(|(call, _)| call.clone());
        Some((fields, ended))
    }
}

/// What came meanwhile and cannot wait is next.
fn requeue(state: &mut State, id: &CallId) {
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
        let telling = reporter.telling.clone();
        let journal = Journal::new(session.clone()).with_reader(reporter);
        let begun = journal.announce(&id, announced(), Ticket::default());
        begun.expect("a call");
        let question = question(&session, &id);
        let prepared = Event::Prepared(question.subject.clone());
        journal.write(&id, prepared).expect("prepared");
        telling.take(&id).expect("its first report");
        journal.write(&id, Event::Asked(question)).expect("asked");
        assert!(telling.state.lock().owes(&id));
    }
}
