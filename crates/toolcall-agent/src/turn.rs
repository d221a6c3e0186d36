//! The turn loop: the model answers, its calls run, their results go back, until it makes no more calls.
//! It runs no tool itself: calls belong to the engine, text to the model.

use std::collections::HashMap;
use std::sync::Arc;

use futures::StreamExt as _;
use futures::future::join_all;
use toolcall::{Advice, CallHandle, Content, InputStream, Kind, ModelResult, Outcome, ToolRequest};
use toolcall_acp::{Prompt, StopReason};
use toolcall_history::{SessionEvent, Speaker};

use crate::model::{Delta, MadeCall, Message, ModelError, Reply};
use crate::session::AgentSession;

/// The most rounds of calls in a turn; a model that makes more is going in circles.
const MOST_ROUNDS: usize = 200;

/// Runs a turn to its end.
pub(crate) async fn run(
    session: &Arc<AgentSession>,
    prompt: &Prompt,
) -> Result<StopReason, ModelError> {
    for _ in 0..MOST_ROUNDS {
        let mut round = Round::new(session, prompt);
        let mut answer = session.model().answer(session.conversation());
        while let Some(delta) = answer.next().await {
            round.take(delta?).await?;
        }
        drop(answer);
        let outcomes = round.finish().await;
        if outcomes.is_empty() {
            return Ok(StopReason::EndTurn);
        }
        let stop = outcomes.iter().find_map(|outcome| match &outcome.advice {
            Advice::Stop(words) => Some(words.clone()),
            Advice::None | Advice::Remind(_) => None,
        });
        if let Some(words) = stop {
            return Err(ModelError::new(words.to_string()));
        }
    }
    let said =
        format!("\n\nI stopped after {MOST_ROUNDS} rounds of calls; say so if I should go on.");
    session.say(said).await;
    Ok(StopReason::MaxTurnRequests)
}

/// One reply of the model and its calls. Dropped early, it still records the reply so far.
struct Round<'a> {
    session: &'a AgentSession,
    prompt: &'a Prompt,
    reply: Reply,
    /// How much of the text and the thoughts is recorded already.
    kept: Kept,
    writing: HashMap<Arc<str>, Writing>,
    running: Vec<CallHandle>,
}

#[derive(Default)]
struct Kept {
    text: usize,
    thoughts: usize,
}

/// A call whose input is still being written.
struct Writing {
    place: usize,
    request: ToolRequest,
    input: String,
    /// `None` until a second piece arrives: an input that arrives whole is announced whole.
    stream: Option<InputStream>,
}

impl<'a> Round<'a> {
    fn new(session: &'a AgentSession, prompt: &'a Prompt) -> Self {
        Self {
            session,
            prompt,
            reply: Reply::default(),
            kept: Kept::default(),
            writing: HashMap::new(),
            running: Vec::new(),
        }
    }

    async fn take(&mut self, delta: Delta) -> Result<(), ModelError> {
        match delta {
            Delta::Text(text) => {
                self.reply.text.push_str(&text);
                self.prompt.say(text).await;
            }
            Delta::Thought(text) => {
                self.reply.thoughts.push_str(&text);
                self.session.client_session.think(text).await;
            }
            Delta::CallBegan { id, tool } => self.begin(id, tool)?,
            Delta::CallGrew { id, text } => self.grow(&id, &text).await?,
            Delta::CallComplete { id } => self.complete(&id).await?,
            Delta::Used(usage) => {
                let session = &self.session.client_session;
                session.send_usage(usage.used, usage.window).await;
            }
        }
        Ok(())
    }

    fn begin(&mut self, id: Arc<str>, tool: Arc<str>) -> Result<(), ModelError> {
        if self.reply.calls.iter().any(|call| call.id == id) {
            return Err(ModelError::new(format!(
                "the model asked for two things under one id, `{id}`; ask again"
            )));
        }
        // In the history, too, the text before a call comes before the call.
        self.keep();
        let writing = Writing {
            place: self.reply.calls.len(),
            request: ToolRequest::from_text(tool.clone(), "").model_id(id.clone()),
            input: String::new(),
            stream: None,
        };
        self.reply.calls.push(MadeCall {
            id: id.clone(),
            tool,
            input: "".into(),
        });
        self.writing.insert(id, writing);
        Ok(())
    }

    async fn grow(&mut self, id: &Arc<str>, text: &str) -> Result<(), ModelError> {
        let turn = self.prompt.turn();
        let writing = self.writing.get_mut(id).ok_or_else(|| astray(id))?;
        if writing.stream.is_none() && !writing.input.is_empty() {
            let mut stream = turn.open_as(writing.request.clone()).await;
            stream.grow(&writing.input);
            writing.stream = Some(stream);
        }
        if let Some(stream) = &mut writing.stream {
            stream.grow(text);
        }
        writing.input.push_str(text);
        Ok(())
    }

    async fn complete(&mut self, id: &Arc<str>) -> Result<(), ModelError> {
        let writing = self.writing.remove(id).ok_or_else(|| astray(id))?;
        let input: Arc<str> = writing.input.into();
        if let Some(call) = self.reply.calls.get_mut(writing.place) {
            call.input = input.clone();
        }
        let running = match writing.stream {
            Some(stream) => stream.complete(),
            None => self.prompt.begin(writing.request.text(input)).await,
        };
        self.running.push(running);
        Ok(())
    }

    /// Waits for the calls and adds the reply and their results to the conversation.
    async fn finish(mut self) -> Vec<Outcome> {
        // A call whose input was not completed is interrupted; the model gets no result for it.
        for id in std::mem::take(&mut self.writing).into_keys() {
            self.reply.calls.retain(|call| call.id != id);
        }
        let session = self.session;
        let running = std::mem::take(&mut self.running).into_iter();
        let outcomes = join_all(running.map(|call| ended(call, session))).await;
        self.settle(outcomes.iter().map(Outcome::for_model).collect());
        outcomes
    }

    fn settle(&mut self, results: Vec<ModelResult>) {
        self.keep();
        let reply = std::mem::take(&mut self.reply);
        self.kept = Kept::default();
        if reply != Reply::default() {
            self.session.add(Message::Model(reply));
        }
        if !results.is_empty() {
            self.session.add(Message::Results(results));
        }
    }

    /// Records text and thoughts since the last time.
    fn keep(&mut self) {
        let said = [
            (
                Speaker::Thought,
                &self.reply.thoughts,
                &mut self.kept.thoughts,
            ),
            (Speaker::Agent, &self.reply.text, &mut self.kept.text),
        ];
        for (by, all, kept) in said {
            let text = &all[*kept..];
            if !text.is_empty() {
                let text = text.into();
                self.session.keep(SessionEvent::Said { by, text });
            }
            *kept = all.len();
        }
    }
}

/// A reply that was cancelled stays in the conversation, with a result for each of its calls that says
/// so.
impl Drop for Round<'_> {
    fn drop(&mut self) {
        let unwritten = std::mem::take(&mut self.writing);
        let calls = &mut self.reply.calls;
        calls.retain(|call| !unwritten.contains_key(&call.id));
        let results = calls.iter().map(|call| ModelResult {
            id: call.id.clone(),
            content: vec![Content::text("broken off by the user")],
            is_error: true,
        });
        let results = results.collect();
        self.settle(results);
    }
}

/// Waits for a call. A switch of the mode is sent to the client at once.
async fn ended(call: CallHandle, session: &AgentSession) -> Outcome {
    let outcome = call.await;
    if outcome.call.kind() == Kind::SwitchMode {
        session
            .client_session
            .send_config_options(&session.choices())
            .await;
    }
    outcome
}

fn astray(id: &str) -> ModelError {
    ModelError::new(format!(
        "the model went on with a call that it did not begin, `{id}`; ask again"
    ))
}
