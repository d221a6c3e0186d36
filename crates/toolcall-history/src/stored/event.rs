//! Events in the stored form, every sort of them.
//! It adds nothing to what happened; what it leaves out is in the written list of losses.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolcall::serde_forms::{EffectForm, ExitForm, HeartbeatForm, LifetimeForm, PrintedForm};
use toolcall::{
    self as heart, CallId, Effect, Exit, Heartbeat, Lifetime, Printed, QuestionId, SessionId,
};

use super::asked::{FormAnswered, FormQuestion};
use super::content::{self, Content};
use super::finish::Finish;
use super::intent::{self, Input, Location, Plan, Prepared, Sketch};
use super::text::{Blobs, Json};
use super::{DecodeError, Packer};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    Announced(Announced),
    InputGrew {
        bytes: u64,
        sketch: Sketch,
    },
    InputArrived(Input),
    Prepared(Prepared),
    Asked(Box<Question>),
    Decided(Decision),
    FormAsked(Box<FormQuestion>),
    FormAnswered(FormAnswered),
    Started,
    Progressed(Progress),
    Showed(Vec<Content>),
    #[serde(with = "PrintedForm")]
    Printed(Printed),
    #[serde(with = "HeartbeatForm")]
    #[serde(rename = "beat")]
    Heartbeat(Heartbeat),
    Held(Arc<str>),
    Resumed,
    Planned(Plan),
    Noted {
        key: Arc<str>,
        value: Json,
    },
    Located(Vec<Location>),
    #[serde(with = "ExitForm")]
    Exited(Exit),
    Restated(Box<Restatement>),
    StatusUnknown(Arc<str>),
    Finished(Box<Finish>),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Announced {
    tool: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model_id: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<Input>,
    sketch: Sketch,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    id: Arc<str>,
    session: Arc<str>,
    call: Arc<str>,
    subject: Prepared,
    offers: Vec<Rule>,
    because: Arc<str>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Rule {
    text: Arc<str>,
    #[serde(with = "LifetimeForm")]
    lifetime: Lifetime,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Decision {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    question: Option<Arc<str>>,
    #[serde(with = "EffectForm")]
    effect: Effect,
    by: Judge,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Judge {
    Rule(Arc<str>),
    Person(Remembered),
    Unseen,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Remembered {
    Once,
    Kept(Rule),
    NotKept { rule: Rule, why: Arc<str> },
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Progress {
    current: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    total: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fraction: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<Arc<str>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Restatement {
    tool: Option<Arc<str>>,
    sketch: Sketch,
    input: Option<Input>,
    preview: Vec<Content>,
}

impl Event {
    pub(crate) fn pack(event: &heart::Event, packer: &mut Packer<'_>) -> Self {
        match event {
            heart::Event::Announced(announced) => {
                Event::Announced(Announced::pack(announced, packer))
            }
            heart::Event::InputGrew(growth) => Event::InputGrew {
                bytes: growth.bytes,
                sketch: Sketch::pack(&growth.sketch, packer),
            },
            heart::Event::InputArrived(input) => Event::InputArrived(Input::pack(input, packer)),
            heart::Event::Prepared(prepared) => Event::Prepared(Prepared::pack(prepared, packer)),
            heart::Event::Asked(question) => {
                Event::Asked(Box::new(Question::pack(question, packer)))
            }
            heart::Event::Decided(decision) => Event::Decided(Decision::pack(decision, packer)),
            heart::Event::FormAsked(question) => {
                Event::FormAsked(Box::new(FormQuestion::pack(question, packer)))
            }
            heart::Event::FormAnswered(answered) => {
                Event::FormAnswered(FormAnswered::pack(answered, packer))
            }
            heart::Event::Started => Event::Started,
            heart::Event::Progressed(progress) => {
                Event::Progressed(Progress::pack(progress, packer))
            }
            heart::Event::Showed(shown) => Event::Showed(content::pack_all(shown, packer)),
            heart::Event::Printed(printed) => Event::Printed(*printed),
            heart::Event::Heartbeat(beat) => Event::Heartbeat(*beat),
            heart::Event::Held(reason) => Event::Held(packer.shared(reason)),
            heart::Event::Resumed => Event::Resumed,
            heart::Event::Planned(plan) => Event::Planned(Plan::pack(plan, packer)),
            heart::Event::Noted { key, value } => Event::Noted {
                key: packer.shared(key),
                value: packer.json(&named(key, value)),
            },
            heart::Event::Located(locations) => {
                Event::Located(intent::pack_locations(locations, packer))
            }
            heart::Event::Exited(exit) => Event::Exited(*exit),
            heart::Event::Restated(restated) => {
                Event::Restated(Box::new(Restatement::pack(restated, packer)))
            }
            heart::Event::StatusUnknown(status) => Event::StatusUnknown(packer.shared(status)),
            heart::Event::Finished(finish) => {
                Event::Finished(Box::new(Finish::pack(finish, packer)))
            }
        }
    }

    pub(crate) fn unpack(self, blobs: &dyn Blobs) -> Result<heart::Event, DecodeError> {
        Ok(match self {
            Event::Announced(announced) => {
                heart::Event::Announced(Arc::new(announced.unpack(blobs)?))
            }
            Event::InputGrew { bytes, sketch } => heart::Event::InputGrew(heart::InputGrowth {
                bytes,
                sketch: Arc::new(sketch.unpack()),
            }),
            Event::InputArrived(input) => heart::Event::InputArrived(input.unpack(blobs)?),
            Event::Prepared(prepared) => heart::Event::Prepared(prepared.unpack(blobs)?),
            Event::Asked(question) => heart::Event::Asked(Arc::new(question.unpack(blobs)?)),
            Event::Decided(decision) => heart::Event::Decided(Arc::new(decision.unpack())),
            Event::FormAsked(question) => {
                heart::Event::FormAsked(Arc::new(question.unpack(blobs)?))
            }
            Event::FormAnswered(answered) => {
                heart::Event::FormAnswered(Arc::new(answered.unpack()))
            }
            Event::Started => heart::Event::Started,
            Event::Progressed(progress) => heart::Event::Progressed(progress.unpack()),
            Event::Showed(shown) => heart::Event::Showed(content::unpack_all(shown, blobs)?.into()),
            Event::Printed(printed) => heart::Event::Printed(printed),
            Event::Heartbeat(beat) => heart::Event::Heartbeat(beat),
            Event::Held(reason) => heart::Event::Held(reason),
            Event::Resumed => heart::Event::Resumed,
            Event::Planned(plan) => heart::Event::Planned(Arc::new(plan.unpack())),
            Event::Noted { key, value } => heart::Event::Noted {
                key,
                value: value.unpack(blobs)?,
            },
            Event::Located(locations) => {
                heart::Event::Located(intent::unpack_locations(locations).into())
            }
            Event::Exited(exit) => heart::Event::Exited(exit),
            Event::Restated(restated) => heart::Event::Restated(Arc::new(restated.unpack(blobs)?)),
            Event::StatusUnknown(status) => heart::Event::StatusUnknown(status),
            Event::Finished(finish) => heart::Event::Finished(Arc::new(finish.unpack(blobs)?)),
        })
    }
}

/// The key of a note says what its value is, as a member's name does.
fn named(key: &str, value: &Arc<serde_json::Value>) -> Arc<serde_json::Value> {
    if crate::redact::is_secret_name(key) && value.is_string() {
        Arc::new(crate::redact::MASK.into())
    } else {
        value.clone()
    }
}

impl Announced {
    fn pack(announced: &heart::Announced, packer: &mut Packer<'_>) -> Self {
        let heart::Announced {
            tool,
            model_id,
            parent,
            input,
            outline: _,
        } = announced;
        Self {
            tool: packer.shared(tool),
            model_id: model_id.clone(),
            parent: parent.as_ref().map(|parent| parent.as_str().into()),
            input: input.as_ref().map(|input| Input::pack(input, packer)),
            sketch: Sketch::pack(announced.sketch(), packer),
        }
    }

    fn unpack(self, blobs: &dyn Blobs) -> Result<heart::Announced, DecodeError> {
        let input = self.input.map(|input| input.unpack(blobs));
        Ok(heart::Announced {
            tool: self.tool,
            model_id: self.model_id,
            parent: self.parent.map(CallId::new),
            input: input.transpose()?,
            outline: self.sketch.unpack().into(),
        })
    }
}

impl Question {
    fn pack(question: &heart::Question, packer: &mut Packer<'_>) -> Self {
        let heart::Question {
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
            subject: Prepared::pack(subject, packer),
            offers: offers.iter().map(|rule| Rule::pack(rule, packer)).collect(),
            because: packer.line(because.as_str()),
        }
    }

    fn unpack(self, blobs: &dyn Blobs) -> Result<heart::Question, DecodeError> {
        Ok(heart::Question {
            id: QuestionId::new(self.id),
            session: SessionId::new(self.session),
            call: CallId::new(self.call),
            subject: self.subject.unpack(blobs)?,
            offers: self.offers.into_iter().map(Rule::unpack).collect(),
            because: heart::RuleName::new(self.because.to_string()),
        })
    }
}

impl Rule {
    /// The text of a rule that was offered holds what it covers, which is the input.
    fn pack(rule: &heart::Rule, packer: &Packer<'_>) -> Self {
        Self {
            text: packer.told(&rule.text),
            lifetime: rule.lifetime,
        }
    }

    fn unpack(self) -> heart::Rule {
        heart::Rule {
            text: self.text,
            lifetime: self.lifetime,
        }
    }
}

impl Decision {
    fn pack(decision: &heart::Decision, packer: &Packer<'_>) -> Self {
        let heart::Decision {
            question,
            effect,
            by,
        } = decision;
        let by = match by {
            heart::Judge::Rule(name) => Judge::Rule(packer.line(name.as_str())),
            heart::Judge::Person(remembered) => Judge::Person(Remembered::pack(remembered, packer)),
            heart::Judge::Unseen => Judge::Unseen,
        };
        Self {
            question: question.as_ref().map(|id| id.as_str().into()),
            effect: *effect,
            by,
        }
    }

    fn unpack(self) -> heart::Decision {
        heart::Decision {
            question: self.question.map(QuestionId::new),
            effect: self.effect,
            by: match self.by {
                Judge::Rule(name) => heart::Judge::Rule(heart::RuleName::new(name.to_string())),
                Judge::Person(remembered) => heart::Judge::Person(remembered.unpack()),
                Judge::Unseen => heart::Judge::Unseen,
            },
        }
    }
}

impl Remembered {
    fn pack(remembered: &heart::Remembered, packer: &Packer<'_>) -> Self {
        match remembered {
            heart::Remembered::Once => Remembered::Once,
            heart::Remembered::Kept(rule) => Remembered::Kept(Rule::pack(rule, packer)),
            heart::Remembered::NotKept { rule, why } => Remembered::NotKept {
                rule: Rule::pack(rule, packer),
                why: packer.shared(why),
            },
        }
    }

    fn unpack(self) -> heart::Remembered {
        match self {
            Remembered::Once => heart::Remembered::Once,
            Remembered::Kept(rule) => heart::Remembered::Kept(rule.unpack()),
            Remembered::NotKept { rule, why } => heart::Remembered::NotKept {
                rule: rule.unpack(),
                why,
            },
        }
    }
}

impl Progress {
    fn pack(progress: &heart::Progress, packer: &Packer<'_>) -> Self {
        Self {
            current: progress.current(),
            total: progress.total(),
            fraction: progress.fraction(),
            message: progress.message().map(|message| packer.told(message)),
        }
    }

    fn unpack(self) -> heart::Progress {
        let mut progress = heart::Progress::at(self.current);
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

impl Restatement {
    fn pack(restated: &heart::Restatement, packer: &mut Packer<'_>) -> Self {
        let heart::Restatement {
            tool,
            sketch,
            input,
            preview,
        } = restated;
        Self {
            tool: tool.as_ref().map(|tool| packer.shared(tool)),
            sketch: Sketch::pack(sketch, packer),
            input: input.as_ref().map(|input| Input::pack(input, packer)),
            preview: content::pack_all(preview, packer),
        }
    }

    fn unpack(self, blobs: &dyn Blobs) -> Result<heart::Restatement, DecodeError> {
        let input = self.input.map(|input| input.unpack(blobs));
        Ok(heart::Restatement {
            tool: self.tool,
            sketch: self.sketch.unpack(),
            input: input.transpose()?,
            preview: content::unpack_all(self.preview, blobs)?,
        })
    }
}
