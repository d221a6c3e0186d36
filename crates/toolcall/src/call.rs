//! The state of a call, computed from its events.
//! The fold is total and pure: an event out of place changes nothing and is returned as an
//! [`Irregularity`].

mod forms;
mod timing;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::content::Content;
use crate::event::{
    Announced, Decision, Effect, Ending, Event, Exit, Finish, InputGrowth, Prepared, Printed,
    Question, Restatement,
};
use crate::ids::{CallId, QuestionId, SessionId};
use crate::intent::{Input, Kind, Location, Plan, Sketch};
use crate::irregularity::Irregularity;
use crate::output::Output;
use crate::progress::Progress;
use crate::timestamp::Timestamp;

pub use forms::AskedForm;
use timing::CallTimestamps;
pub use timing::Timing;

/// Everything known about one call, computed from its [`Event`]s.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    id: CallId,
    session: SessionId,
    announced: Arc<Announced>,
    growth: Option<InputGrowth>,
    input: Option<Input>,
    prepared: Option<Arc<Prepared>>,
    restated: Option<Arc<Restatement>>,
    questions: Vec<AskedQuestion>,
    forms: Vec<AskedForm>,
    decision: Option<Arc<Decision>>,
    foreign_status: Option<Arc<str>>,
    /// Whether it started, or once had a status that is not known here. Never unset.
    was_acting: bool,
    held: Option<Arc<str>>,
    progress: Option<Progress>,
    shown: Option<Arc<[Content]>>,
    plan: Option<Arc<Plan>>,
    located: Option<Arc<[Location]>>,
    exit: Option<Exit>,
    metadata: BTreeMap<Arc<str>, Arc<Value>>,
    output: Arc<Output>,
    finish: Option<Arc<Finish>>,
    timestamps: CallTimestamps,
}

/// A permission question with its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedQuestion {
    /// The question.
    pub question: Arc<Question>,
    /// The answer, once there is one.
    pub answer: Option<Arc<Decision>>,
}

/// The status of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The model is still writing its input.
    Streaming,
    /// The call was announced; nothing is prepared yet.
    Announced,
    /// The tool stated what it will do.
    Prepared,
    /// A question or a form is open.
    Asking,
    /// The call may start.
    Allowed,
    /// The call may not start.
    Refused,
    /// The tool is running.
    Running,
    /// The call is paused.
    Held,
    /// A foreign agent reported this status, which is not known here.
    Unknown(Arc<str>),
    /// The call has ended.
    Ended,
}

impl ToolCall {
    /// Creates a call from its announcement, with an empty output.
    pub fn announce(
        id: CallId,
        session: SessionId,
        announced: Arc<Announced>,
        output: Arc<Output>,
        at: Timestamp,
    ) -> Self {
        Self {
            id,
            session,
            growth: None,
            input: announced.input.clone(),
            announced,
            prepared: None,
            restated: None,
            questions: Vec::new(),
            forms: Vec::new(),
            decision: None,
            foreign_status: None,
            was_acting: false,
            held: None,
            progress: None,
            shown: None,
            plan: None,
            located: None,
            exit: None,
            metadata: BTreeMap::new(),
            output,
            finish: None,
            timestamps: CallTimestamps {
                announced: at,
                latest: at,
                ..CallTimestamps::default()
            },
        }
    }

    /// Applies one event, or returns why it is out of place and changes nothing.
    pub fn apply(&mut self, event: &Event, at: Timestamp) -> Result<(), Irregularity> {
        self.require_open(event)?;
        let at = at.max(self.timestamps.latest);
        match event {
            Event::Announced(_) => return Err(Irregularity::AnnouncedTwice),
            Event::InputGrew(growth) => self.input_grew(event, growth)?,
            Event::InputArrived(input) => self.input_arrived(event, input)?,
            Event::Prepared(prepared) => self.prepared(prepared)?,
            Event::Asked(question) => self.asked(question, at)?,
            Event::Decided(decision) => self.decided(decision, at)?,
            Event::Started => self.started(at)?,
            Event::FormAsked(question) => self.form_asked(event, question, at)?,
            Event::FormAnswered(answer) => self.form_answered(answer, at)?,
            Event::Progressed(progress) => self.progressed(event, progress)?,
            Event::Showed(content) => {
                self.require_running(event)?;
                self.shown = Some(content.clone());
            }
            Event::Printed(_) | Event::Heartbeat(_) => self.require_running(event)?,
            Event::Held(reason) => self.held(event, reason)?,
            Event::Resumed => self.resumed()?,
            Event::Planned(plan) => self.plan = Some(plan.clone()),
            Event::Noted { key, value } => {
                self.metadata.insert(key.clone(), value.clone());
            }
            Event::Located(locations) => {
                self.require_running(event)?;
                self.located = Some(locations.clone());
            }
            Event::Exited(exit) => {
                self.require_running(event)?;
                self.exit = Some(*exit);
            }
            Event::Restated(restated) => self.restated(restated),
            Event::StatusUnknown(status) => {
                self.was_acting = true;
                self.foreign_status = Some(status.clone());
            }
            Event::Finished(finish) => self.finished(finish, at)?,
        }
        self.timestamps.latest = at;
        Ok(())
    }

    /// Adds printed bytes to the output and returns the matching event.
    pub fn print(&mut self, bytes: &[u8]) -> Result<Event, Irregularity> {
        let from = self.output.total();
        let to = from + bytes.len() as u64;
        let event = Event::Printed(Printed { from, to });
        self.require_open(&event)?;
        self.require_running(&event)?;
        Arc::make_mut(&mut self.output).push(bytes);
        Ok(event)
    }

    /// Returns the output, to set where the whole of it is stored.
    pub(crate) fn output_mut(&mut self) -> &mut Output {
        Arc::make_mut(&mut self.output)
    }

    fn require_open(&self, event: &Event) -> Result<(), Irregularity> {
        match self.finish {
            None => Ok(()),
            Some(_) => Err(Irregularity::AfterEnding {
                event: event.name(),
            }),
        }
    }

    /// An unknown foreign status counts as running: nothing better is known.
    fn require_running(&self, event: &Event) -> Result<(), Irregularity> {
        if self.was_acting {
            return Ok(());
        }
        Err(Irregularity::NotRunning {
            event: event.name(),
        })
    }

    fn require_streaming(&self, event: &Event) -> Result<(), Irregularity> {
        if self.input.is_none() && self.prepared.is_none() {
            return Ok(());
        }
        Err(Irregularity::InputComplete {
            event: event.name(),
        })
    }

    fn input_grew(&mut self, event: &Event, growth: &InputGrowth) -> Result<(), Irregularity> {
        self.require_streaming(event)?;
        self.growth = Some(growth.clone());
        Ok(())
    }

    fn input_arrived(&mut self, event: &Event, input: &Input) -> Result<(), Irregularity> {
        self.require_streaming(event)?;
        self.input = Some(input.clone());
        Ok(())
    }

    fn prepared(&mut self, prepared: &Arc<Prepared>) -> Result<(), Irregularity> {
        let undecided = self.decision.is_none() && self.questions.is_empty();
        if !undecided || self.prepared.is_some() || self.timestamps.started.is_some() {
            return Err(Irregularity::PreparedLate);
        }
        self.input
            .get_or_insert_with(|| Input::Json(prepared.input.clone()));
        self.prepared = Some(prepared.clone());
        Ok(())
    }

    /// Only a foreign agent changes an input that was complete.
    fn restated(&mut self, restated: &Arc<Restatement>) {
        self.input = restated.input.clone().or(self.input.take());
        self.restated = Some(restated.clone());
    }

    fn asked(&mut self, question: &Arc<Question>, at: Timestamp) -> Result<(), Irregularity> {
        self.require_new(&question.id)?;
        if self.decision.is_some() && self.timestamps.started.is_none() {
            return Err(Irregularity::AskedLate);
        }
        self.questions.push(AskedQuestion {
            question: question.clone(),
            answer: None,
        });
        self.timestamps.asking_since.get_or_insert(at);
        Ok(())
    }

    fn decided(&mut self, decision: &Arc<Decision>, at: Timestamp) -> Result<(), Irregularity> {
        match &decision.question {
            Some(id) => self.answer(id, decision)?,
            None if self.has_open_question() => return Err(Irregularity::QuestionOpen),
            None if self.decision.is_some() => return Err(Irregularity::DecidedTwice),
            None => {}
        }
        if !self.is_asking() {
            self.timestamps.stop_asking(at);
        }
        let refused = self.effect() == Some(Effect::Deny);
        if self.timestamps.started.is_none() && !refused {
            self.decision = Some(decision.clone());
        }
        Ok(())
    }

    fn answer(&mut self, id: &QuestionId, decision: &Arc<Decision>) -> Result<(), Irregularity> {
        let asking = self
            .questions
            .iter_mut()
            .find(|asking| asking.question.id == *id)
            .ok_or_else(|| Irregularity::NeverAsked(id.clone()))?;
        if asking.answer.is_some() {
            return Err(Irregularity::AnsweredTwice(id.clone()));
        }
        asking.answer = Some(decision.clone());
        Ok(())
    }

    fn require_new(&self, id: &QuestionId) -> Result<(), Irregularity> {
        let mut questions = self.questions.iter().map(|asking| &asking.question.id);
        let mut forms = self.forms.iter().map(|asking| &asking.question.id);
        if questions.any(|known| known == id) || forms.any(|known| known == id) {
            return Err(Irregularity::AskedTwice(id.clone()));
        }
        Ok(())
    }

    fn has_open_question(&self) -> bool {
        self.questions.iter().any(|asking| asking.answer.is_none())
    }

    fn started(&mut self, at: Timestamp) -> Result<(), Irregularity> {
        if self.timestamps.started.is_some() {
            return Err(Irregularity::StartedTwice);
        }
        match self.effect() {
            None => return Err(Irregularity::StartedUndecided),
            Some(Effect::Deny) => return Err(Irregularity::StartedRefused),
            Some(Effect::Allow) if self.has_open_question() => {
                return Err(Irregularity::StartedUndecided);
            }
            Some(Effect::Allow) => {}
        }
        self.foreign_status = None;
        self.was_acting = true;
        self.timestamps.started = Some(at);
        Ok(())
    }

    fn progressed(&mut self, event: &Event, progress: &Progress) -> Result<(), Irregularity> {
        self.require_running(event)?;
        let progress = progress.clone();
        self.progress = Some(match &self.progress {
            Some(earlier) => progress.after(earlier),
            None => progress,
        });
        Ok(())
    }

    fn held(&mut self, event: &Event, reason: &Arc<str>) -> Result<(), Irregularity> {
        self.require_running(event)?;
        self.foreign_status = None;
        self.held = Some(reason.clone());
        Ok(())
    }

    fn resumed(&mut self) -> Result<(), Irregularity> {
        self.held.take().map(drop).ok_or(Irregularity::NotHeld)
    }

    fn finished(&mut self, finish: &Arc<Finish>, at: Timestamp) -> Result<(), Irregularity> {
        if finish.ending == Ending::Completed && self.timestamps.started.is_none() {
            return Err(Irregularity::CompletedUnstarted);
        }
        self.timestamps.stop_asking(at);
        self.timestamps.ended = Some(at);
        self.output = finish.output.clone();
        self.finish = Some(finish.clone());
        Ok(())
    }
}

/// Getters.
impl ToolCall {
    /// Returns the unique id of the call.
    pub fn id(&self) -> &CallId {
        &self.id
    }

    /// Returns the session that the call belongs to.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns the announcement.
    pub fn announced(&self) -> &Arc<Announced> {
        &self.announced
    }

    /// Returns the tool's name: as the model wrote it until the call is prepared, the registered
    /// one after.
    pub fn tool(&self) -> &Arc<str> {
        if let Some(tool) = self
            .restated
            .as_ref()
            .and_then(|restated| restated.tool.as_ref())
        {
            return tool;
        }
        match &self.prepared {
            Some(prepared) if !prepared.intent.tool.name.is_empty() => &prepared.intent.tool.name,
            Some(_) | None => &self.announced.tool,
        }
    }

    /// Returns the id that the model gave the call.
    pub fn model_id(&self) -> Option<&Arc<str>> {
        self.announced.model_id.as_ref()
    }

    /// Returns the call on whose behalf this one runs.
    pub fn parent(&self) -> Option<&CallId> {
        self.announced.parent.as_ref()
    }

    /// Returns the input as the model wrote it, once it is complete.
    pub fn input(&self) -> Option<&Input> {
        self.input.as_ref()
    }

    /// Returns the stated intent and the checked input.
    pub fn prepared_as(&self) -> Option<&Arc<Prepared>> {
        self.prepared.as_ref()
    }

    /// Returns what was known about the call before it was prepared.
    pub fn sketch(&self) -> &Sketch {
        match &self.growth {
            Some(growth) => &growth.sketch,
            None => self.announced.sketch(),
        }
    }

    /// Returns how much of a streamed input the model has written.
    pub fn input_growth(&self) -> Option<&InputGrowth> {
        self.growth.as_ref()
    }

    /// Returns the latest description by a foreign agent, if there is one.
    pub fn restated_as(&self) -> Option<&Arc<Restatement>> {
        self.restated.as_ref()
    }

    /// Returns the title: one line for users.
    pub fn title(&self) -> &str {
        match (&self.restated, &self.prepared) {
            (Some(restated), _) => &restated.sketch.title,
            (None, Some(prepared)) => &prepared.intent.title,
            (None, None) => &self.sketch().title,
        }
    }

    /// Returns the category that editors show.
    pub fn kind(&self) -> Kind {
        match (&self.restated, &self.prepared) {
            (Some(restated), _) => restated.sketch.kind,
            (None, Some(prepared)) => prepared.intent.kind,
            (None, None) => self
                .growth
                .as_ref()
                .map_or(self.announced.kind(), |growth| growth.sketch.kind),
        }
    }

    /// Returns the files that an editor may follow.
    pub fn locations(&self) -> &[Location] {
        match (&self.restated, &self.located, &self.prepared) {
            (Some(restated), _, _) => &restated.sketch.locations,
            (None, Some(located), _) => located,
            (None, None, Some(prepared)) => &prepared.intent.locations,
            (None, None, None) => &self.sketch().locations,
        }
    }

    /// Returns what was shown before the call ran, such as diffs.
    pub fn preview(&self) -> &[Content] {
        match (&self.restated, &self.prepared) {
            (Some(restated), _) => &restated.preview,
            (None, Some(prepared)) => &prepared.intent.preview,
            (None, None) => &[],
        }
    }

    /// Returns the permission questions, oldest first.
    pub fn questions(&self) -> &[AskedQuestion] {
        &self.questions
    }

    /// Returns whether a question or a form is open.
    pub fn is_asking(&self) -> bool {
        self.has_open_question() || self.has_open_form()
    }

    /// Returns the decision, and who made it.
    pub fn decision(&self) -> Option<&Arc<Decision>> {
        self.decision.as_ref()
    }

    fn effect(&self) -> Option<Effect> {
        self.decision.as_ref().map(|decision| decision.effect)
    }

    /// Returns the latest progress.
    pub fn progress(&self) -> Option<&Progress> {
        self.progress.as_ref()
    }

    /// Returns what the tool currently shows.
    pub fn shown(&self) -> Option<&Arc<[Content]>> {
        self.shown.as_ref()
    }

    /// Returns the latest plan that the tool made.
    pub fn plan(&self) -> Option<&Arc<Plan>> {
        self.plan.as_ref()
    }

    /// Returns the metadata that the tool attached, by key.
    pub fn metadata(&self) -> &BTreeMap<Arc<str>, Arc<Value>> {
        &self.metadata
    }

    /// Returns what the tool printed.
    pub fn output(&self) -> &Arc<Output> {
        &self.output
    }

    /// Returns how the last command of the tool ended.
    pub fn exit(&self) -> Option<Exit> {
        self.exit
    }

    /// Returns why the call is paused, if it is.
    pub fn hold_reason(&self) -> Option<&str> {
        self.held.as_deref()
    }

    /// Returns how the call ended, with its result and output.
    pub fn finish(&self) -> Option<&Arc<Finish>> {
        self.finish.as_ref()
    }

    /// Returns how the call ended.
    pub fn ending(&self) -> Option<&Ending> {
        self.finish.as_ref().map(|finish| &finish.ending)
    }

    /// Returns whether the tool began to run.
    pub fn has_started(&self) -> bool {
        self.timestamps.started.is_some()
    }

    /// Returns when the call was announced.
    pub fn announced_at(&self) -> Timestamp {
        self.timestamps.announced
    }

    /// Returns how long each phase took; for an open call, until `now`.
    pub fn timing(&self, now: Timestamp) -> Timing {
        self.timestamps.timing(now)
    }

    /// Returns the status.
    pub fn status(&self) -> Status {
        if self.finish.is_some() {
            return Status::Ended;
        }
        if let Some(status) = &self.foreign_status {
            return Status::Unknown(status.clone());
        }
        if self.is_asking() {
            return Status::Asking;
        }
        if self.held.is_some() {
            return Status::Held;
        }
        if self.timestamps.started.is_some() {
            return Status::Running;
        }
        match (self.effect(), &self.prepared, &self.input) {
            (Some(Effect::Allow), _, _) => Status::Allowed,
            (Some(Effect::Deny), _, _) => Status::Refused,
            (None, Some(_), _) => Status::Prepared,
            (None, None, Some(_)) => Status::Announced,
            (None, None, None) => Status::Streaming,
        }
    }
}
