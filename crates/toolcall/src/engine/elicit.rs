//! Carries a form of a tool's server to the approver, and its answer back.
//! It judges nothing and starts nothing: whatever is answered, the call goes on as it was decided.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::EngineHandle;
use crate::event::Event;
use crate::form::{Form, FormAnswer, FormAnswered, FormQuestion, FormReply};
use crate::ids::QuestionId;

/// A server that asks more often in one call is not heard.
const MOST_FORMS: usize = 16;

impl EngineHandle {
    /// Asks, and checks what is answered against the form. Dropped meanwhile, the form is withdrawn.
    pub(crate) async fn elicit(&self, form: Form) -> FormAnswer {
        if self.stop().cause().is_some() {
            return FormAnswer::Cancelled;
        }
        let number = self.parent.forms.fetch_add(1, Ordering::Relaxed) + 1;
        if number > MOST_FORMS {
            let reason = format!("a call may show at most {MOST_FORMS} forms");
            return FormAnswer::declined_because(reason);
        }
        let question = Arc::new(FormQuestion {
            id: QuestionId::new(format!("{}?form-{number}", self.parent.id)),
            session: self.core.session_context.session.clone(),
            call: self.parent.id.clone(),
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

/// What does not fit the form never reaches who asked.
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

/// A form that was asked and not answered. Dropped, it was withdrawn.
struct OpenForm<'a> {
    engine: &'a EngineHandle,
    question: Arc<FormQuestion>,
    is_open: bool,
}

impl<'a> OpenForm<'a> {
    /// Nothing if the call has ended.
    fn ask(engine: &'a EngineHandle, question: Arc<FormQuestion>) -> Option<Self> {
        let asked = Event::FormAsked(question.clone());
        engine.core.journal.write(&engine.parent.id, asked).ok()?;
        engine.parent.pause_timer();
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
        self.engine.parent.resume_timer();
        let answered = Event::FormAnswered(Arc::new(FormAnswered {
            question: self.question.id.clone(),
            reply,
        }));
        let _ended_meanwhile = self
            .engine
            .core
            .journal
            .write(&self.engine.parent.id, answered);
    }
}

impl Drop for OpenForm<'_> {
    fn drop(&mut self) {
        self.close(FormReply::Cancelled);
    }
}
