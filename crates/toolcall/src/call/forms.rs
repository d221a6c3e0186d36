//! The forms of a call's server: which were asked and answered.
//! An answer changes no verdict and starts nothing.

use std::sync::Arc;

use super::ToolCall;
use crate::event::Event;
use crate::form::{FormAnswered, FormQuestion};
use crate::irregularity::Irregularity;
use crate::timestamp::Timestamp;

/// A form with its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedForm {
    /// The form.
    pub question: Arc<FormQuestion>,
    /// The answer, once there is one.
    pub answer: Option<Arc<FormAnswered>>,
}

impl ToolCall {
    /// Returns the forms of the tool's server, oldest first.
    pub fn forms(&self) -> &[AskedForm] {
        &self.forms
    }

    /// Returns whether a form is open.
    pub(super) fn has_open_form(&self) -> bool {
        self.forms.iter().any(|asking| asking.answer.is_none())
    }

    /// Only a running tool has a server that asks. No verdict depends on the answer.
    pub(super) fn form_asked(
        &mut self,
        event: &Event,
        question: &Arc<FormQuestion>,
        at: Timestamp,
    ) -> Result<(), Irregularity> {
        if !self.has_started() {
            let event = event.name();
            return Err(Irregularity::NotRunning { event });
        }
        self.require_new(&question.id)?;
        self.forms.push(AskedForm {
            question: question.clone(),
            answer: None,
        });
        self.timestamps.asking_since.get_or_insert(at);
        Ok(())
    }

    pub(super) fn form_answered(
        &mut self,
        answer: &Arc<FormAnswered>,
        at: Timestamp,
    ) -> Result<(), Irregularity> {
        let id = &answer.question;
        let mut forms = self.forms.iter_mut();
        let asking = forms
            .find(|asking| asking.question.id == *id)
            .ok_or_else(|| Irregularity::NeverAsked(id.clone()))?;
        if asking.answer.is_some() {
            return Err(Irregularity::AnsweredTwice(id.clone()));
        }
        asking.answer = Some(answer.clone());
        if !self.is_asking() {
            self.timestamps.stop_asking(at);
        }
        Ok(())
    }
}
