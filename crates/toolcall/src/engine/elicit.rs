//! Sends a form of a tool's server to the approver and returns the answer.
//! It judges nothing and starts nothing: no answer changes the decision about the call.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::EngineHandle;
use crate::event::Event;
use crate::form::{Form, FormAnswer, FormAnswered, FormQuestion, FormReply};
use crate::ids::QuestionId;

/// Further forms of the same call are declined.
const MOST_FORMS: usize = 16;

impl EngineHandle {
    /// Sends a form and checks the answer against it. Dropping the future withdraws the form.
    pub(crate) async fn elicit(&self, form: Form) -> FormAnswer {
        if self.stop().cause().is_some() {
            return FormAnswer::Cancelled;
        }
        let number = self.live.forms.fetch_add(1, Ordering::Relaxed) + 1;
        if number > MOST_FORMS {
            let reason = format!("a call may show at most {MOST_FORMS} forms");
            return FormAnswer::declined_because(reason);
        }
        let question = Arc::new(FormQuestion {
            id: QuestionId::new(format!("{}?form-{number}", self.live.id)),
            session: self.core.session_context.session.clone(),
            call: self.live.id.clone(),
            form,
        });
        let Some(open) = OpenForm::ask(self, question.clone()) else {
            return FormAnswer::Cancelled;
        };
        let answer = match &self.core.approver {
            Some(approver) => self.stop().race(approver.fill(&question)).await,
            None => Ok(FormAnswer::declined_because("nobody can be asked")),
        };
        let answer = answer.map_or(FormAnswer::Cancelled, |answer| checked(answer, &question));
        open.answer(&answer);
        answer
    }
}

/// Declines an answer that does not fit the form, so that the server never gets it.
fn checked(answer: FormAnswer, question: &FormQuestion) -> FormAnswer {
    let problem = match &answer {
        FormAnswer::Accepted(values) => question.form.check(values).err(),
        FormAnswer::Declined { .. } | FormAnswer::Cancelled => None,
    };
    match problem {
        Some(problem) => {
            FormAnswer::declined_because(format!("the answer does not fit the form: {problem}"))
        }
        None => answer,
    }
}

/// A form without an answer. Dropping it withdraws the form.
struct OpenForm<'a> {
    engine: &'a EngineHandle,
    question: Arc<FormQuestion>,
    is_open: bool,
}

impl<'a> OpenForm<'a> {
    /// Returns `None` if the call has ended.
    fn ask(engine: &'a EngineHandle, question: Arc<FormQuestion>) -> Option<Self> {
        let asked = Event::FormAsked(question.clone());
        engine.core.journal.write(&engine.live.id, asked).ok()?;
        engine.live.pause_timer();
        Some(Self {
            engine,
            question,
            is_open: true,
        })
    }

    fn answer(mut self, answer: &FormAnswer) {
        self.close(answer.into());
    }

    fn close(&mut self, reply: FormReply) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        self.engine.live.resume_timer();
        let answered = Event::FormAnswered(Arc::new(FormAnswered {
            question: self.question.id.clone(),
            reply,
        }));
        let _ended_meanwhile = self
            .engine
            .core
            .journal
            .write(&self.engine.live.id, answered);
    }
}

impl Drop for OpenForm<'_> {
    fn drop(&mut self) {
        self.close(FormReply::Cancelled);
    }
}
