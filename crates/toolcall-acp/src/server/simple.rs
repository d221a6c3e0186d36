//! The least agent: a [`Service`] made of two closures, one that opens sessions and one that answers.
//! It keeps no session and offers no options; an agent that does more is a service of its own.

use std::sync::Arc;

use toolcall::{BoxFuture, Content, EngineBuilder, SessionContext, SessionId};

use super::ClientConnection;
use crate::service::{
    AgentInfo, CommandPlacement, OpenSessionRequest, OpenedSession, Service, ServiceError,
    SessionSelector, StopReason,
};
use crate::session::{IntoStopReason, Prompt};

type Open = dyn Fn(SessionContext) -> EngineBuilder + Send + Sync;
type Answer = dyn Fn(Arc<Prompt>, Vec<Content>) -> BoxFuture<'static, Result<StopReason, ServiceError>>
    + Send
    + Sync;

/// The least agent. Everything about tool calls happens by itself.
pub struct SimpleAgent {
    client: ClientConnection,
    commands: CommandPlacement,
    open: Box<Open>,
    answer: Box<Answer>,
}

impl SimpleAgent {
    /// An agent for this client: `open` makes the engine of a new session, `answer` answers a
    /// prompt.
    pub fn new<O, A, F>(client: ClientConnection, open: O, answer: A) -> Self
    where
        O: Fn(SessionContext) -> EngineBuilder + Send + Sync + 'static,
        A: Fn(Arc<Prompt>, Vec<Content>) -> F + Send + Sync + 'static,
        F: Future + Send + 'static,
        F::Output: IntoStopReason,
    {
        let answer = Arc::new(answer);
        Self {
            client,
            commands: CommandPlacement::default(),
            open: Box::new(open),
            answer: Box::new(move |prompt, said| {
                let answer = answer.clone();
                Box::pin(async move { answer(prompt, said).await.into_stop() })
            }),
        }
    }

    /// The same agent, with commands that run here or in the client.
    pub fn commands(mut self, commands: CommandPlacement) -> Self {
        self.commands = commands;
        self
    }
}

impl Service for SimpleAgent {
    fn about(&self) -> AgentInfo {
        AgentInfo::default()
    }

    fn open(
        self: Arc<Self>,
        opening: OpenSessionRequest,
    ) -> BoxFuture<'static, Result<OpenedSession, ServiceError>> {
        Box::pin(async move {
            if opening.which != SessionSelector::New {
                return Err(ServiceError::Unsupported);
            }
            let mut setting = SessionContext::new(SessionId::random(), opening.cwd);
            setting.roots.extend(opening.additional_roots);
            let engine = (self.open)(setting);
            Ok(OpenedSession {
                session: self.client.open_with(engine, self.commands),
                choices: Vec::new(),
                commands: Vec::new(),
            })
        })
    }

    fn answer(
        self: Arc<Self>,
        prompt: Arc<Prompt>,
        said: Vec<Content>,
    ) -> BoxFuture<'static, Result<StopReason, ServiceError>> {
        (self.answer)(prompt, said)
    }
}

/// Returns the text of a prompt.
pub fn prompt_text(said: &[Content]) -> String {
    let texts = said.iter().filter_map(|content| match content {
        Content::Text(text) => Some(&**text),
        Content::Image(_)
        | Content::Audio(_)
        | Content::Resource(_)
        | Content::Link(_)
        | Content::Edit(_)
        | Content::Terminal(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
