//! Asks the user behind a client: an approver for a session's engine.
//! It keeps order and sends; what a question looks like and what an answer means is the codec's.

use std::sync::Arc;

use toolcall::{Answer, Approver, BoxFuture, FormAnswer, FormQuestion, Question};

use super::prompt::Prompts;
use crate::codec::Codec;
use crate::peer::Peer;
use crate::report::Reports;

/// Why a form is declined that the client cannot show.
const NO_FORMS: &str = "this editor cannot show forms";

/// Asks the user behind a client.
pub(super) struct ClientApprover {
    pub(super) peer: Peer,
    pub(super) codec: Arc<dyn Codec>,
    pub(super) reports: Reports,
    pub(super) prompts: Arc<Prompts>,
}

impl Approver for ClientApprover {
    fn ask<'a>(&'a self, question: &'a Arc<Question>) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            // The call is announced, and complete, before it is asked about.
            self.reports.reported(&question.call).await;
            let trace = self.reports.current_trace();
            let answer = self.codec.permission(question, &trace);
            let answer = answer.send(&self.peer).await;
            if answer == Answer::Cancelled {
                // A client answers so when it cancels the turn. That it does may reach us later.
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
            // What the tool did until it asked is told first.
            self.reports.reported(&question.call).await;
            form.send(&self.peer).await
        })
    }
}
