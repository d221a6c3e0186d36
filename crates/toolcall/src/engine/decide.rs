//! Decides whether a call may run: the rulebook judges it, and the approver answers what it asks.
//! Only an explicit yes is a yes.

use std::sync::Arc;

use super::call_task::{CallEnd, CallTask, StepResult, internal};
use crate::approver::{Answer, Approver};
use crate::event::{
    Canceller, Decision, Effect, Ending, Event, Judge, Prepared, Question, Remembered, Rule,
    RuleName,
};
use crate::ids::QuestionId;
use crate::policy::{AnswerContext, Verdict};
use crate::stop::StopCause;
use crate::store::Receipt;
use crate::text::{LONGEST_REASON, clean_line};

impl CallTask {
    /// Returns `Ok` only if the call may run and the decision is stored.
    pub(super) async fn decide(&self, prepared: &Arc<Prepared>) -> StepResult<()> {
        let decision = match self.judge(prepared) {
            Verdict::Allow { rule } => PendingDecision::allowed_by(rule),
            Verdict::Deny { rule, reason } => PendingDecision::denied_by(rule, reason),
            Verdict::Ask { rule, offers } => match self.core.approver.clone() {
                Some(approver) => Box::pin(self.ask(&*approver, prepared, rule, offers)).await?,
                None => self.deny_without_approver(),
            },
        };
        let recorded = match self.record(prepared, decision)?.now() {
            Ok(recorded) => recorded,
            Err(receipt) => Box::pin(self.live.stop.race(receipt.wait())).await?,
        };
        recorded.map_err(|error| Box::<CallEnd>::from(Ending::failed(error.to_string())))
    }

    fn write_both(&self, events: [Event; 2]) -> StepResult<Receipt> {
        self.core
            .journal
            .write_both(self.id(), events)
            .map_err(internal)
    }

    fn judge(&self, prepared: &Prepared) -> Verdict {
        self.core
            .rulebook
            .policy()
            .judge(&prepared.intent, &self.core.session_context)
    }

    fn deny_without_approver(&self) -> PendingDecision {
        let reason = "nobody can be asked; give the engine `.approver(…)`, or allow everything with `.policy(AllowAll)`";
        PendingDecision::denied_by(RuleName::new("no-approver"), reason.into())
    }

    async fn ask(
        &self,
        approver: &dyn Approver,
        prepared: &Arc<Prepared>,
        because: RuleName,
        offers: Vec<Rule>,
    ) -> StepResult<PendingDecision> {
        let mut changes = self.core.rulebook.changes();
        let question = Arc::new(Question {
            id: QuestionId::new(format!("{}?", self.id())),
            session: self.core.session_context.session.clone(),
            call: self.id().clone(),
            subject: prepared.clone(),
            offers,
            because,
        });
        let prepared_first = Event::Prepared(prepared.clone());
        self.write_both([prepared_first, Event::Asked(question.clone())])?;
        let mut answering = approver.ask(&question);
        // A rule may have been added between the first verdict and the subscription.
        let mut judge_again = true;
        let decision = loop {
            if judge_again && let Some(decision) = self.judge_waiting(prepared) {
                break decision;
            }
            tokio::select! {
                biased;
                cause = self.live.stop.stopped() => return Err(cause.into()),
                changed = changes.changed(), if judge_again => judge_again = changed.is_ok(),
                answer = &mut answering => break self.apply_answer(&question, answer)?,
            }
        };
        drop(answering);
        Ok(decision.with_question(question.id.clone()))
    }

    /// Judges a waiting call again after the rules changed.
    fn judge_waiting(&self, prepared: &Prepared) -> Option<PendingDecision> {
        match self.judge(prepared) {
            Verdict::Ask { .. } => None,
            Verdict::Allow { rule } => Some(PendingDecision::allowed_by(rule)),
            Verdict::Deny { rule, reason } => Some(PendingDecision::denied_by(rule, reason)),
        }
    }

    fn apply_answer(&self, question: &Question, answer: Answer) -> StepResult<PendingDecision> {
        let (effect, rule, reason) = match answer {
            Answer::Cancelled => return Err(StopCause::Cancelled(Canceller::Person).into()),
            Answer::Unanswered { reason } => {
                return Ok(PendingDecision::denied_by(
                    RuleName::new("no-answer"),
                    reason,
                ));
            }
            Answer::AllowOnce => (Effect::Allow, None, None),
            Answer::AllowAlways(rule) => (Effect::Allow, Some(rule), None),
            Answer::RejectOnce { reason } => (Effect::Deny, None, reason),
            Answer::RejectAlways { rule, reason } => (Effect::Deny, Some(rule), reason),
        };
        if let Some(rule) = rule.as_ref().filter(|rule| !question.offers.contains(rule)) {
            let reason = format!("the answer kept a rule that was not offered: {}", rule.text);
            return Ok(PendingDecision::denied_by(
                RuleName::new("not-offered"),
                reason.into(),
            ));
        }
        Ok(PendingDecision {
            question: None,
            effect,
            by: Judge::Person(self.remember(rule, effect, &question.subject)),
            reason: Some(rejection(reason.as_deref())),
        })
    }

    fn remember(&self, rule: Option<Rule>, effect: Effect, subject: &Prepared) -> Remembered {
        let Some(rule) = rule else {
            return Remembered::Once;
        };
        let answer_context = AnswerContext {
            when: self.core.journal.now(),
            session: self.core.session_context.session.clone(),
            call: self.id().clone(),
            title: subject.intent.title.as_str().into(),
        };
        match self.core.rulebook.remember(&rule, effect, &answer_context) {
            Ok(()) => Remembered::Kept(rule),
            Err(error) => Remembered::NotKept {
                rule,
                why: error.to_string().into(),
            },
        }
    }

    /// Writes the decision, and before it the prepared intent unless a question has recorded that.
    /// A call starts only after the receipt confirms it.
    fn record(&self, prepared: &Arc<Prepared>, decision: PendingDecision) -> StepResult<Receipt> {
        let was_asked = decision.question.is_some();
        let decided = Event::Decided(Arc::new(Decision {
            question: decision.question,
            effect: decision.effect,
            by: decision.by,
        }));
        let receipt = if was_asked {
            self.write(decided)?
        } else {
            self.write_both([Event::Prepared(prepared.clone()), decided])?
        };
        match decision.effect {
            Effect::Allow => Ok(receipt),
            Effect::Deny => {
                let reason = decision.reason.unwrap_or_else(|| "it was refused".into());
                Err(Ending::denied(clean_line(&reason, LONGEST_REASON)).into())
            }
        }
    }
}

fn rejection(reason: Option<&str>) -> Arc<str> {
    match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!(
            "the user rejected it and said: {}",
            clean_line(reason, LONGEST_REASON)
        )
        .into(),
        None => "the user rejected it".into(),
    }
}

/// A decision that is not written yet.
struct PendingDecision {
    question: Option<QuestionId>,
    effect: Effect,
    by: Judge,
    /// Why it was denied.
    reason: Option<Arc<str>>,
}

impl PendingDecision {
    fn allowed_by(rule: RuleName) -> Self {
        Self {
            question: None,
            effect: Effect::Allow,
            by: Judge::Rule(rule),
            reason: None,
        }
    }

    fn denied_by(rule: RuleName, reason: Arc<str>) -> Self {
        Self {
            question: None,
            effect: Effect::Deny,
            by: Judge::Rule(rule),
            reason: Some(reason),
        }
    }

    fn with_question(mut self, question: QuestionId) -> Self {
        self.question = Some(question);
        self
    }
}
