//! The stored form of form questions of MCP servers, and of their replies.
//! The event names the filled-in fields but not their values, so values are stored nowhere.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolcall::{CallId, Form, QuestionId, SessionId};

use super::text::{BlobSource, StoredJson};
use super::{DecodeError, Encoder};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredFormQuestion {
    id: Arc<str>,
    session: Arc<str>,
    call: Arc<str>,
    by: Arc<str>,
    message: Arc<str>,
    schema: StoredJson,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredFormAnswered {
    question: Arc<str>,
    reply: StoredFormReply,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredFormReply {
    Accepted(Vec<Arc<str>>),
    Declined(Option<Arc<str>>),
    Cancelled,
}

impl StoredFormQuestion {
    pub(crate) fn encode(question: &toolcall::FormQuestion, encoder: &mut Encoder<'_>) -> Self {
        let toolcall::FormQuestion {
            id,
            session,
            call,
            form,
        } = question;
        Self {
            id: id.as_str().into(),
            session: session.as_str().into(),
            call: call.as_str().into(),
            by: encoder.redacted(form.by()),
            message: encoder.content_line(form.message()),
            schema: encoder.json(&Arc::new(form.schema())),
        }
    }

    pub(crate) fn decode(
        self,
        blobs: &dyn BlobSource,
    ) -> Result<toolcall::FormQuestion, DecodeError> {
        let schema = self.schema.decode(blobs)?;
        // Redaction may have broken the schema; then only the fields are lost.
        let form = Form::read(&self.by, &self.message, &schema)
            .or_else(|_| Form::new(&self.by, &self.message, Vec::new()));
        Ok(toolcall::FormQuestion {
            id: QuestionId::new(self.id),
            session: SessionId::new(self.session),
            call: CallId::new(self.call),
            form: form.map_err(|error| DecodeError::Malformed(error.to_string()))?,
        })
    }
}

impl StoredFormAnswered {
    pub(crate) fn encode(answered: &toolcall::FormAnswered, encoder: &Encoder<'_>) -> Self {
        let toolcall::FormAnswered { question, reply } = answered;
        Self {
            question: question.as_str().into(),
            reply: match reply {
                toolcall::FormReply::Accepted(fields) => {
                    let fields = fields.iter().map(|field| encoder.redacted(field));
                    StoredFormReply::Accepted(fields.collect())
                }
                toolcall::FormReply::Declined { reason } => StoredFormReply::Declined(
                    reason.as_ref().map(|reason| encoder.redacted(reason)),
                ),
                toolcall::FormReply::Cancelled => StoredFormReply::Cancelled,
            },
        }
    }

    pub(crate) fn decode(self) -> toolcall::FormAnswered {
        toolcall::FormAnswered {
            question: QuestionId::new(self.question),
            reply: match self.reply {
                StoredFormReply::Accepted(fields) => toolcall::FormReply::Accepted(fields),
                StoredFormReply::Declined(reason) => toolcall::FormReply::Declined { reason },
                StoredFormReply::Cancelled => toolcall::FormReply::Cancelled,
            },
        }
    }
}
