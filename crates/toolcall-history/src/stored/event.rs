//! The stored form of every event of a call.
//! It adds nothing to an event; docs/history.md lists what it leaves out.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolcall::serde_forms::{EffectForm, ExitForm, HeartbeatForm, LifetimeForm, PrintedForm};
use toolcall::{CallId, Effect, Exit, Heartbeat, Lifetime, Printed, QuestionId, SessionId};

use super::content::{self, StoredContent};
use super::finish::StoredFinish;
use super::form::{StoredFormAnswered, StoredFormQuestion};
use super::intent::{self, StoredInput, StoredLocation, StoredPlan, StoredPrepared, StoredSketch};
use super::text::{BlobSource, StoredJson};
use super::{DecodeError, Encoder};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredEvent {
    Announced(StoredAnnounced),
    InputGrew {
        bytes: u64,
        sketch: StoredSketch,
    },
    InputArrived(StoredInput),
    Prepared(StoredPrepared),
    Asked(Box<StoredQuestion>),
    Decided(StoredDecision),
    FormAsked(Box<StoredFormQuestion>),
    FormAnswered(StoredFormAnswered),
    Started,
    Progressed(StoredProgress),
    Showed(Vec<StoredContent>),
    #[serde(with = "PrintedForm")]
    Printed(Printed),
    #[serde(with = "HeartbeatForm")]
    #[serde(rename = "beat")]
    Heartbeat(Heartbeat),
    Held(Arc<str>),
    Resumed,
    Planned(StoredPlan),
    Noted {
        key: Arc<str>,
        value: StoredJson,
    },
    Located(Vec<StoredLocation>),
    #[serde(with = "ExitForm")]
    Exited(Exit),
    Restated(Box<StoredRestatement>),
    StatusUnknown(Arc<str>),
    Finished(Box<StoredFinish>),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredAnnounced {
    tool: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model_id: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<StoredInput>,
    sketch: StoredSketch,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredQuestion {
    id: Arc<str>,
    session: Arc<str>,
    call: Arc<str>,
    subject: StoredPrepared,
    offers: Vec<StoredRule>,
    because: Arc<str>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredRule {
    text: Arc<str>,
    #[serde(with = "LifetimeForm")]
    lifetime: Lifetime,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredDecision {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    question: Option<Arc<str>>,
    #[serde(with = "EffectForm")]
    effect: Effect,
    by: StoredJudge,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredJudge {
    Rule(Arc<str>),
    Person(StoredRemembered),
    Unseen,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredRemembered {
    Once,
    Kept(StoredRule),
    NotKept { rule: StoredRule, why: Arc<str> },
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredProgress {
    current: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    total: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fraction: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<Arc<str>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredRestatement {
    tool: Option<Arc<str>>,
    sketch: StoredSketch,
    input: Option<StoredInput>,
    preview: Vec<StoredContent>,
}

impl StoredEvent {
    pub(crate) fn encode(event: &toolcall::Event, encoder: &mut Encoder<'_>) -> Self {
        match event {
            toolcall::Event::Announced(announced) => {
                StoredEvent::Announced(StoredAnnounced::encode(announced, encoder))
            }
            toolcall::Event::InputGrew(growth) => StoredEvent::InputGrew {
                bytes: growth.bytes,
                sketch: StoredSketch::encode(&growth.sketch, encoder),
            },
            toolcall::Event::InputArrived(input) => {
                StoredEvent::InputArrived(StoredInput::encode(input, encoder))
            }
            toolcall::Event::Prepared(prepared) => {
                StoredEvent::Prepared(StoredPrepared::encode(prepared, encoder))
            }
            toolcall::Event::Asked(question) => {
                StoredEvent::Asked(Box::new(StoredQuestion::encode(question, encoder)))
            }
            toolcall::Event::Decided(decision) => {
                StoredEvent::Decided(StoredDecision::encode(decision, encoder))
            }
            toolcall::Event::FormAsked(question) => {
                StoredEvent::FormAsked(Box::new(StoredFormQuestion::encode(question, encoder)))
            }
            toolcall::Event::FormAnswered(answered) => {
                StoredEvent::FormAnswered(StoredFormAnswered::encode(answered, encoder))
            }
            toolcall::Event::Started => StoredEvent::Started,
            toolcall::Event::Progressed(progress) => {
                StoredEvent::Progressed(StoredProgress::encode(progress, encoder))
            }
            toolcall::Event::Showed(shown) => {
                StoredEvent::Showed(content::encode_all(shown, encoder))
            }
            toolcall::Event::Printed(printed) => StoredEvent::Printed(*printed),
            toolcall::Event::Heartbeat(beat) => StoredEvent::Heartbeat(*beat),
            toolcall::Event::Held(reason) => StoredEvent::Held(encoder.redacted(reason)),
            toolcall::Event::Resumed => StoredEvent::Resumed,
            toolcall::Event::Planned(plan) => {
                StoredEvent::Planned(StoredPlan::encode(plan, encoder))
            }
            toolcall::Event::Noted { key, value } => StoredEvent::Noted {
                key: encoder.redacted(key),
                value: encoder.json(&named(key, value)),
            },
            toolcall::Event::Located(locations) => {
                StoredEvent::Located(intent::encode_locations(locations, encoder))
            }
            toolcall::Event::Exited(exit) => StoredEvent::Exited(*exit),
            toolcall::Event::Restated(restated) => {
                StoredEvent::Restated(Box::new(StoredRestatement::encode(restated, encoder)))
            }
            toolcall::Event::StatusUnknown(status) => {
                StoredEvent::StatusUnknown(encoder.redacted(status))
            }
            toolcall::Event::Finished(finish) => {
                StoredEvent::Finished(Box::new(StoredFinish::encode(finish, encoder)))
            }
        }
    }

    pub(crate) fn decode(self, blobs: &dyn BlobSource) -> Result<toolcall::Event, DecodeError> {
        Ok(match self {
            StoredEvent::Announced(announced) => {
                toolcall::Event::Announced(Arc::new(announced.decode(blobs)?))
            }
            StoredEvent::InputGrew { bytes, sketch } => {
                toolcall::Event::InputGrew(toolcall::InputGrowth {
                    bytes,
                    sketch: Arc::new(sketch.decode()),
                })
            }
            StoredEvent::InputArrived(input) => toolcall::Event::InputArrived(input.decode(blobs)?),
            StoredEvent::Prepared(prepared) => toolcall::Event::Prepared(prepared.decode(blobs)?),
            StoredEvent::Asked(question) => {
                toolcall::Event::Asked(Arc::new(question.decode(blobs)?))
            }
            StoredEvent::Decided(decision) => toolcall::Event::Decided(Arc::new(decision.decode())),
            StoredEvent::FormAsked(question) => {
                toolcall::Event::FormAsked(Arc::new(question.decode(blobs)?))
            }
            StoredEvent::FormAnswered(answered) => {
                toolcall::Event::FormAnswered(Arc::new(answered.decode()))
            }
            StoredEvent::Started => toolcall::Event::Started,
            StoredEvent::Progressed(progress) => toolcall::Event::Progressed(progress.decode()),
            StoredEvent::Showed(shown) => {
                toolcall::Event::Showed(content::decode_all(shown, blobs)?.into())
            }
            StoredEvent::Printed(printed) => toolcall::Event::Printed(printed),
            StoredEvent::Heartbeat(beat) => toolcall::Event::Heartbeat(beat),
            StoredEvent::Held(reason) => toolcall::Event::Held(reason),
            StoredEvent::Resumed => toolcall::Event::Resumed,
            StoredEvent::Planned(plan) => toolcall::Event::Planned(Arc::new(plan.decode())),
            StoredEvent::Noted { key, value } => toolcall::Event::Noted {
                key,
                value: value.decode(blobs)?,
            },
            StoredEvent::Located(locations) => {
                toolcall::Event::Located(intent::decode_locations(locations).into())
            }
            StoredEvent::Exited(exit) => toolcall::Event::Exited(exit),
            StoredEvent::Restated(restated) => {
                toolcall::Event::Restated(Arc::new(restated.decode(blobs)?))
            }
            StoredEvent::StatusUnknown(status) => toolcall::Event::StatusUnknown(status),
            StoredEvent::Finished(finish) => {
                toolcall::Event::Finished(Arc::new(finish.decode(blobs)?))
            }
        })
    }
}

/// Masks the value of a note whose key is the name of a secret.
fn named(key: &str, value: &Arc<serde_json::Value>) -> Arc<serde_json::Value> {
    if crate::redact::is_secret_name(key) && value.is_string() {
        Arc::new(crate::redact::MASK.into())
    } else {
        value.clone()
    }
}

impl StoredAnnounced {
    fn encode(announced: &toolcall::Announced, encoder: &mut Encoder<'_>) -> Self {
        let toolcall::Announced {
            tool,
            model_id,
            parent,
            input,
            outline: _,
        } = announced;
        Self {
            tool: encoder.redacted(tool),
            model_id: model_id.clone(),
            parent: parent.as_ref().map(|parent| parent.as_str().into()),
            input: input
                .as_ref()
                .map(|input| StoredInput::encode(input, encoder)),
            sketch: StoredSketch::encode(announced.sketch(), encoder),
        }
    }

    fn decode(self, blobs: &dyn BlobSource) -> Result<toolcall::Announced, DecodeError> {
        let input = self.input.map(|input| input.decode(blobs));
        Ok(toolcall::Announced {
            tool: self.tool,
            model_id: self.model_id,
            parent: self.parent.map(CallId::new),
            input: input.transpose()?,
            outline: self.sketch.decode().into(),
        })
    }
}

impl StoredQuestion {
    fn encode(question: &toolcall::Question, encoder: &mut Encoder<'_>) -> Self {
        let toolcall::Question {
            id,
            session,
            call,
            subject,
            offers,
            because,
        } = question;
        Self {
            id: id.as_str().into(),
            session: session.as_str().into(),
            call: call.as_str().into(),
            subject: StoredPrepared::encode(subject, encoder),
            offers: offers
                .iter()
                .map(|rule| StoredRule::encode(rule, encoder))
                .collect(),
            because: encoder.redacted_line(because.as_str()),
        }
    }

    fn decode(self, blobs: &dyn BlobSource) -> Result<toolcall::Question, DecodeError> {
        Ok(toolcall::Question {
            id: QuestionId::new(self.id),
            session: SessionId::new(self.session),
            call: CallId::new(self.call),
            subject: self.subject.decode(blobs)?,
            offers: self.offers.into_iter().map(StoredRule::decode).collect(),
            because: toolcall::RuleName::new(self.because.to_string()),
        })
    }
}

impl StoredRule {
    /// The text of an offered rule quotes the input, so it counts as content.
    fn encode(rule: &toolcall::Rule, encoder: &Encoder<'_>) -> Self {
        Self {
            text: encoder.content_line(&rule.text),
            lifetime: rule.lifetime,
        }
    }

    fn decode(self) -> toolcall::Rule {
        toolcall::Rule {
            text: self.text,
            lifetime: self.lifetime,
        }
    }
}

impl StoredDecision {
    fn encode(decision: &toolcall::Decision, encoder: &Encoder<'_>) -> Self {
        let toolcall::Decision {
            question,
            effect,
            by,
        } = decision;
        let by = match by {
            toolcall::Judge::Rule(name) => StoredJudge::Rule(encoder.redacted_line(name.as_str())),
            toolcall::Judge::Person(remembered) => {
                StoredJudge::Person(StoredRemembered::encode(remembered, encoder))
            }
            toolcall::Judge::Unseen => StoredJudge::Unseen,
        };
        Self {
            question: question.as_ref().map(|id| id.as_str().into()),
            effect: *effect,
            by,
        }
    }

    fn decode(self) -> toolcall::Decision {
        toolcall::Decision {
            question: self.question.map(QuestionId::new),
            effect: self.effect,
            by: match self.by {
                StoredJudge::Rule(name) => {
                    toolcall::Judge::Rule(toolcall::RuleName::new(name.to_string()))
                }
                StoredJudge::Person(remembered) => toolcall::Judge::Person(remembered.decode()),
                StoredJudge::Unseen => toolcall::Judge::Unseen,
            },
        }
    }
}

impl StoredRemembered {
    fn encode(remembered: &toolcall::Remembered, encoder: &Encoder<'_>) -> Self {
        match remembered {
            toolcall::Remembered::Once => StoredRemembered::Once,
            toolcall::Remembered::Kept(rule) => {
                StoredRemembered::Kept(StoredRule::encode(rule, encoder))
            }
            toolcall::Remembered::NotKept { rule, why } => StoredRemembered::NotKept {
                rule: StoredRule::encode(rule, encoder),
                why: encoder.redacted(why),
            },
        }
    }

    fn decode(self) -> toolcall::Remembered {
        match self {
            StoredRemembered::Once => toolcall::Remembered::Once,
            StoredRemembered::Kept(rule) => toolcall::Remembered::Kept(rule.decode()),
            StoredRemembered::NotKept { rule, why } => toolcall::Remembered::NotKept {
                rule: rule.decode(),
                why,
            },
        }
    }
}

impl StoredProgress {
    fn encode(progress: &toolcall::Progress, encoder: &Encoder<'_>) -> Self {
        Self {
            current: progress.current(),
            total: progress.total(),
            fraction: progress.fraction(),
            message: progress
                .message()
                .map(|message| encoder.content_line(message)),
        }
    }

    fn decode(self) -> toolcall::Progress {
        let mut progress = toolcall::Progress::at(self.current);
        if let Some(total) = self.total {
            progress = progress.of(total);
        }
        if let Some(fraction) = self.fraction {
            progress = progress.part(fraction);
        }
        match self.message {
            Some(message) => progress.saying(message),
            None => progress,
        }
    }
}

impl StoredRestatement {
    fn encode(restated: &toolcall::Restatement, encoder: &mut Encoder<'_>) -> Self {
        let toolcall::Restatement {
            tool,
            sketch,
            input,
            preview,
        } = restated;
        Self {
            tool: tool.as_ref().map(|tool| encoder.redacted(tool)),
            sketch: StoredSketch::encode(sketch, encoder),
            input: input
                .as_ref()
                .map(|input| StoredInput::encode(input, encoder)),
            preview: content::encode_all(preview, encoder),
        }
    }

    fn decode(self, blobs: &dyn BlobSource) -> Result<toolcall::Restatement, DecodeError> {
        let input = self.input.map(|input| input.decode(blobs));
        Ok(toolcall::Restatement {
            tool: self.tool,
            sketch: self.sketch.decode(),
            input: input.transpose()?,
            preview: content::decode_all(self.preview, blobs)?,
        })
    }
}
