//! Forms of servers in the stored form: what was asked, and which fields were filled in.
//! What was filled in is not in the event and so is kept nowhere.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolcall::{self as heart, CallId, Form, QuestionId, SessionId};

use super::text::{Blobs, Json};
use super::{DecodeError, Packer};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FormQuestion {
    id: Arc<str>,
    session: Arc<str>,
    call: Arc<str>,
    by: Arc<str>,
    message: Arc<str>,
    schema: Json,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FormAnswered {
    question: Arc<str>,
    reply: FormReply,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FormReply {
    Accepted(Vec<Arc<str>>),
    Declined(Option<Arc<str>>),
    Cancelled,
}

impl FormQuestion {
    pub(crate) fn pack(question: &heart::FormQuestion, packer: &mut Packer<'_>) -> Self {
        let heart::FormQuestion {
            id,
            session,
            call,
            form,
        } = question;
        Self {
            id: id.as_str().into(),
            session: session.as_str().into(),
            call: call.as_str().into(),
            by: packer.shared(form.by()),
            message: packer.told(form.message()),
            schema: packer.json(&Arc::new(form.schema())),
        }
    }

    pub(crate) fn unpack(self, blobs: &dyn Blobs) -> Result<heart::FormQuestion, DecodeError> {
        let schema = self.schema.unpack(blobs)?;
        // What was redacted may read as no form any more; then only its fields are lost.
        let form = Form::read(&self.by, &self.message, &schema)
            .or_else(|_| Form::new(&self.by, &self.message, Vec::new()));
        Ok(heart::FormQuestion {
            id: QuestionId::new(self.id),
            session: SessionId::new(self.session),
            call: CallId::new(self.call),
            form: form.map_err(|error| DecodeError::Malformed(error.to_string()))?,
        })
    }
}

impl FormAnswered {
    pub(crate) fn pack(answered: &heart::FormAnswered, packer: &Packer<'_>) -> Self {
        let heart::FormAnswered { question, reply } = answered;
        Self {
            question: question.as_str().into(),
            reply: match reply {
                heart::FormReply::Accepted(fields) => {
                    let fields = fields.iter().map(|field| packer.shared(field));
                    FormReply::Accepted(fields.collect())
                }
                heart::FormReply::Declined { reason } => {
                    FormReply::Declined(reason.as_ref().map(|reason| packer.shared(reason)))
                }
                heart::FormReply::Cancelled => FormReply::Cancelled,
            },
        }
    }

    pub(crate) fn unpack(self) -> heart::FormAnswered {
        heart::FormAnswered {
            question: QuestionId::new(self.question),
            reply: match self.reply {
                FormReply::Accepted(fields) => heart::FormReply::Accepted(fields),
                FormReply::Declined(reason) => heart::FormReply::Declined { reason },
                FormReply::Cancelled => heart::FormReply::Cancelled,
            },
        }
    }
}
