//! The approver of a session's engine: asks the user through the client.
//! It sends questions in order with reports; the codec writes questions and reads answers.

use std::sync::Arc;

use toolcall::{Answer, Approver, BoxFuture, FormAnswer, FormQuestion, Question};

use super::prompt::Prompts;
use crate::codec::Codec;
use crate::peer::Peer;
use crate::report::Reports;

/// The reason for declining a form that the client cannot show.
const NO_FORMS: &str = "this editor cannot show forms";

/// Asks the user through the client.
pub(super) struct ClientApprover {
    pub(super) peer: Peer,
    pub(super) codec: Arc<dyn Codec>,
    pub(super) reports: Reports,
    pub(super) prompts: Arc<Prompts>,
}

impl Approver for ClientApprover {
    fn ask<'a>(&'a self, question: &'a Arc<Question>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            // The client knows the whole call before it is asked about it.
            self.reports.reported(&question.call).await;
            let trace = self.reports.current_trace();
            let answer = self.codec.permission(question, &trace);
            let answer = answer.send(&self.peer).await;
            if answer == Answer::Cancelled {
                // A client answers so when it cancels the turn; its `session/cancel` may arrive later.
                self.prompts.cancel();
            }
            answer
        })
    }

    fn fill<'a>(&'a self, question: &'a Arc<FormQuestion>) -> BoxFuture<'a, FormAnswer> {
        Box::pin(async move {
            let trace = self.reports.current_trace();
            let Some(form) = self.codec.form(question, &trace) else {
                return FormAnswer::declined_because(NO_FORMS);
            };
            // What the tool did before it asked is reported first.
            self.reports.reported(&question.call).await;
            form.send(&self.peer).await
        })
    }
}
