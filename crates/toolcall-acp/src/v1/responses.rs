//! Encodes the agent's responses to requests of v1.
//! It translates values and decides nothing.

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1 as schema;
use agent_client_protocol_schema::v1::{
    AuthMethodAgent, AuthenticateResponse, CloseSessionResponse, DeleteSessionResponse,
    InitializeResponse, ListSessionsResponse, LoadSessionResponse, McpCapabilities, Meta,
    NewSessionResponse, PromptCapabilities, PromptResponse, ResumeSessionResponse,
    SessionAdditionalDirectoriesCapabilities, SessionCapabilities, SessionCloseCapabilities,
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOption,
    SessionDeleteCapabilities, SessionListCapabilities, SessionMode, SessionModeState,
    SessionResumeCapabilities, SetSessionConfigOptionResponse, SetSessionModeResponse,
};
use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::codec::Response;
use crate::meta;
use crate::service::{
    AgentCapabilities, AgentInfo, AuthMethod, ConfigOption, ConfigOptionCategory, OpenedSession,
    SessionPage, StopReason,
};

/// Encodes the result of a request.
pub(super) fn response(response: &Response) -> Box<RawValue> {
    match response {
        Response::Authenticated => raw(&AuthenticateResponse::new()),
        Response::New(opened) => raw(&new_session(opened)),
        Response::Loaded(opened) => raw(&loaded_session(opened)),
        Response::Resumed(opened) => raw(&resumed_session(opened)),
        Response::Sessions(listed) => raw(&sessions(listed)),
        Response::Closed => raw(&CloseSessionResponse::new()),
        Response::Deleted => raw(&DeleteSessionResponse::new()),
        Response::ModeSet => raw(&SetSessionModeResponse::new()),
        Response::Options(choices) => raw(&SetSessionConfigOptionResponse::new(options(choices))),
        Response::Stopped(stop) => raw(&PromptResponse::new(stop_reason(*stop))),
        Response::CallCancelled(cancelled) => raw(&json!({"cancelled": cancelled})),
    }
}

/// Serializes a type of the schema, which cannot fail.
fn raw(result: &impl Serialize) -> Box<RawValue> {
    to_raw_value(result).unwrap_or_else(|error| {
        tracing::error!(%error, "a result cannot be serialized");
        RawValue::NULL.to_owned()
    })
}

fn stop_reason(stop: StopReason) -> schema::StopReason {
    match stop {
        StopReason::EndTurn => schema::StopReason::EndTurn,
        StopReason::MaxTokens => schema::StopReason::MaxTokens,
        StopReason::MaxTurnRequests => schema::StopReason::MaxTurnRequests,
        StopReason::Refusal => schema::StopReason::Refusal,
        StopReason::Cancelled => schema::StopReason::Cancelled,
    }
}

/// Encodes the response to `initialize`: version 1, the agent's name and its capabilities.
pub(super) fn initialized(info: &AgentInfo) -> Box<RawValue> {
    let mut response = InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities(info.skills))
        .auth_methods(
            info.authenticate
                .iter()
                .map(auth_method)
                .collect::<Vec<_>>(),
        );
    let party = &info.party;
    if !party.name.is_empty() {
        let name = schema::Implementation::new(party.name.clone(), party.version.clone());
        response = response.agent_info(name.title(info.title.clone()));
    }
    raw(&response)
}

fn capabilities(skills: AgentCapabilities) -> schema::AgentCapabilities {
    let cancel = json!({"method": meta::CANCEL_CALL});
    let prompts = PromptCapabilities::new()
        .image(skills.images)
        .embedded_context(skills.resources);
    schema::AgentCapabilities::new()
        .load_session(skills.stores_sessions)
        .prompt_capabilities(prompts)
        .mcp_capabilities(McpCapabilities::new().http(skills.mcp_over_http))
        .session_capabilities(session_capabilities(skills))
        .meta(Meta::from_iter([(meta::CANCEL.to_owned(), cancel)]))
}

fn session_capabilities(skills: AgentCapabilities) -> SessionCapabilities {
    let mut sessions = SessionCapabilities::new();
    if skills.closes_sessions {
        sessions = sessions.close(SessionCloseCapabilities::new());
    }
    if skills.stores_sessions {
        sessions = sessions
            .list(SessionListCapabilities::new())
            .resume(SessionResumeCapabilities::new())
            .delete(SessionDeleteCapabilities::new());
    }
    if skills.several_roots {
        sessions = sessions.additional_directories(SessionAdditionalDirectoriesCapabilities::new());
    }
    sessions
}

fn auth_method(way: &AuthMethod) -> schema::AuthMethod {
    let method = AuthMethodAgent::new(way.id.clone(), way.name.clone());
    schema::AuthMethod::Agent(method.description(way.description.clone()))
}

fn new_session(opened: &OpenedSession) -> NewSessionResponse {
    NewSessionResponse::new(opened.session.id().as_str().to_owned())
        .modes(modes(&opened.choices))
        .config_options(some_options(&opened.choices))
}

fn loaded_session(opened: &OpenedSession) -> LoadSessionResponse {
    LoadSessionResponse::new()
        .modes(modes(&opened.choices))
        .config_options(some_options(&opened.choices))
}

fn resumed_session(opened: &OpenedSession) -> ResumeSessionResponse {
    ResumeSessionResponse::new()
        .modes(modes(&opened.choices))
        .config_options(some_options(&opened.choices))
}

/// Encodes the mode option as modes, for clients that do not know options.
fn modes(choices: &[ConfigOption]) -> Option<SessionModeState> {
    let choice = choices
        .iter()
        .find(|choice| choice.sort == ConfigOptionCategory::Mode)?;
    let values = choice.values.iter().map(|value| {
        SessionMode::new(value.id.clone(), value.name.clone())
            .description(value.description.clone())
    });
    Some(SessionModeState::new(
        choice.current.clone(),
        values.collect::<Vec<_>>(),
    ))
}

/// Encodes the options; `None` if there are none.
fn some_options(choices: &[ConfigOption]) -> Option<Vec<SessionConfigOption>> {
    (!choices.is_empty()).then(|| options(choices))
}

pub(super) fn options(choices: &[ConfigOption]) -> Vec<SessionConfigOption> {
    choices.iter().map(option).collect()
}

fn option(choice: &ConfigOption) -> SessionConfigOption {
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
            ConfigOptionCategory::Mode => SessionConfigOptionCategory::Mode,
            ConfigOptionCategory::Model => SessionConfigOptionCategory::Model,
        })
}

fn sessions(listed: &SessionPage) -> ListSessionsResponse {
    let sessions = listed.sessions.iter().map(|session| {
        schema::SessionInfo::new(session.id.as_str().to_owned(), session.cwd.clone())
            .title(session.title.clone())
            .updated_at(session.updated.clone())
    });
    ListSessionsResponse::new(sessions.collect()).next_cursor(listed.next.clone())
}
