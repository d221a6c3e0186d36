//! What an agent is, offers and keeps, as v1 writes it.
//! It translates values; nothing is decided here.

use agent_client_protocol::v1::schema::{
    AgentCapabilities, AuthMethod, AuthMethodAgent, AvailableCommand, AvailableCommandInput,
    Implementation, InitializeResponse, ListSessionsResponse, LoadSessionResponse, McpCapabilities,
    NewSessionResponse, PromptCapabilities, ResumeSessionResponse,
    SessionAdditionalDirectoriesCapabilities, SessionCapabilities, SessionCloseCapabilities,
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOption,
    SessionDeleteCapabilities, SessionInfo, SessionListCapabilities, SessionMode, SessionModeState,
    SessionResumeCapabilities, UnstructuredCommandInput,
};

use crate::service::{About, Choice, Listed, Opened, SignIn, Skills, SlashCommand, Sort};

/// Adds what the agent is and can do to what every agent answers.
pub(super) fn introduce(about: &About, mut answer: InitializeResponse) -> InitializeResponse {
    let party = &about.party;
    if !party.name.is_empty() {
        let name = Implementation::new(party.name.clone(), party.version.clone());
        answer = answer.agent_info(name.title(about.title.clone()));
    }
    let base = std::mem::take(&mut answer.agent_capabilities);
    answer
        .agent_capabilities(capabilities(about.skills, base))
        .auth_methods(about.sign_in.iter().map(auth_method).collect())
}

fn capabilities(skills: Skills, base: AgentCapabilities) -> AgentCapabilities {
    let prompts = PromptCapabilities::new()
        .image(skills.images)
        .embedded_context(skills.resources);
    let sessions = SessionCapabilities::new().close(SessionCloseCapabilities::new());
    let sessions = match skills.keeps_sessions {
        true => sessions
            .list(SessionListCapabilities::new())
            .resume(SessionResumeCapabilities::new())
            .delete(SessionDeleteCapabilities::new()),
        false => sessions,
    };
    let sessions = match skills.several_roots {
        true => sessions.additional_directories(SessionAdditionalDirectoriesCapabilities::new()),
        false => sessions,
    };
    base.load_session(skills.keeps_sessions)
        .prompt_capabilities(prompts)
        .mcp_capabilities(McpCapabilities::new().http(skills.mcp_over_http))
        .session_capabilities(sessions)
}

fn auth_method(way: &SignIn) -> AuthMethod {
    let method = AuthMethodAgent::new(way.id.clone(), way.name.clone());
    AuthMethod::Agent(method.description(way.description.clone()))
}

pub(super) fn new_session(opened: &Opened) -> NewSessionResponse {
    NewSessionResponse::new(opened.session.id().as_str().to_owned())
        .modes(modes(&opened.choices))
        .config_options(options(&opened.choices))
}

pub(super) fn loaded_session(opened: &Opened) -> LoadSessionResponse {
    LoadSessionResponse::new()
        .modes(modes(&opened.choices))
        .config_options(options(&opened.choices))
}

pub(super) fn resumed_session(opened: &Opened) -> ResumeSessionResponse {
    ResumeSessionResponse::new()
        .modes(modes(&opened.choices))
        .config_options(options(&opened.choices))
}

/// The choice of a mode, for clients that know no options.
fn modes(choices: &[Choice]) -> Option<SessionModeState> {
    let choice = choices.iter().find(|choice| choice.sort == Sort::Mode)?;
    let values = choice.values.iter().map(|value| {
        SessionMode::new(value.id.clone(), value.name.clone())
            .description(value.description.clone())
    });
    Some(SessionModeState::new(
        choice.current.clone(),
        values.collect::<Vec<_>>(),
    ))
}

pub(super) fn options(choices: &[Choice]) -> Vec<SessionConfigOption> {
    choices.iter().map(option).collect()
}

fn option(choice: &Choice) -> SessionConfigOption {
    let values = choice.values.iter().map(|value| {
        SessionConfigSelectOption::new(value.id.clone(), value.name.clone())
            .description(value.description.clone())
    });
    let (id, name, current) = (
        choice.id.clone(),
        choice.name.clone(),
        choice.current.clone(),
    );
    SessionConfigOption::select(id, name, current, values.collect::<Vec<_>>())
        .description(choice.description.clone())
        .category(match choice.sort {
            Sort::Mode => SessionConfigOptionCategory::Mode,
            Sort::Model => SessionConfigOptionCategory::Model,
        })
}

pub(super) fn commands(commands: &[SlashCommand]) -> Vec<AvailableCommand> {
    let known = commands.iter().map(|command| {
        let known = AvailableCommand::new(command.name.clone(), command.description.clone());
        match &command.hint {
            Some(hint) => known.input(AvailableCommandInput::Unstructured(
                UnstructuredCommandInput::new(hint.clone()),
            )),
            None => known,
        }
    });
    known.collect()
}

pub(super) fn sessions(listed: Listed) -> ListSessionsResponse {
    let sessions = listed.sessions.into_iter().map(|session| {
        SessionInfo::new(session.id.as_str().to_owned(), session.cwd)
            .title(session.title)
            .updated_at(session.updated)
    });
    ListSessionsResponse::new(sessions.collect()).next_cursor(listed.next)
}
