//! The smallest agent: a [`Service`] made of two closures, one that opens sessions, one that answers prompts.
//! It stores no session and has no options; an agent that needs them implements [`Service`] itself.

use std::sync::Arc;

use toolcall::{BoxFuture, Content, EngineBuilder, SessionContext, SessionId};

use super::ClientConnection;
use crate::service::{
    AgentInfo, CommandPlacement, OpenSessionRequest, OpenedSession, Service, ServiceError,
    SessionSelector, StopReason,
};
use crate::session::{IntoStopReason, Prompt};

type OpenEngine = dyn Fn(SessionContext) -> EngineBuilder + Send + Sync;
type PromptHandler = dyn Fn(Arc<Prompt>, Vec<Content>) -> BoxFuture<'static, Result<StopReason, ServiceError>>
    + Send
    + Sync;

/// The smallest agent: two closures. The engine and the session handle everything about tool calls.
///
/// The [crate's documentation](crate) shows a whole program.
pub struct SimpleAgent {
    client: ClientConnection,
    commands: CommandPlacement,
    open: Box<OpenEngine>,
    answer: Box<PromptHandler>,
}

impl SimpleAgent {
    /// Creates an agent for this client: `open` builds the engine of a new session, `answer` handles a
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
            answer: Box::new(move |prompt, content| {
                let answer = answer.clone();
                Box::pin(async move { answer(prompt, content).await.into_stop_reason() })
            }),
        }
    }

    /// Sets where commands run: in the agent or in the client's terminal.
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
            let mut context = SessionContext::new(SessionId::random(), opening.cwd);
            context.roots.extend(opening.additional_roots);
            let engine = (self.open)(context);
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
        content: Vec<Content>,
    ) -> BoxFuture<'static, Result<StopReason, ServiceError>> {
        (self.answer)(prompt, content)
    }
}

/// Returns the text blocks of a prompt, joined by newlines.
///
/// ```
/// use toolcall::Content;
///
/// let content = [Content::text("count"), Content::text("one two")];
/// assert_eq!(toolcall_acp::prompt_text(&content), "count\none two");
/// ```
pub fn prompt_text(content: &[Content]) -> String {
    let texts = content.iter().filter_map(|block| match block {
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
