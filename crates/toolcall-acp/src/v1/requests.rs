//! Decodes the client's requests and notifications of v1.
//! It decodes them only; the server and the service decide what to do.

use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1 as schema;
use agent_client_protocol_schema::v1::{
    AuthenticateRequest, CancelNotification, ClientCapabilities, CloseSessionRequest, ContentBlock,
    DeleteSessionRequest, EmbeddedResourceResource, InitializeRequest, LoadSessionRequest,
    McpServer, NewSessionRequest, PromptRequest, ResourceLink, ResumeSessionRequest,
    SessionConfigOptionValue, SetSessionConfigOptionRequest, SetSessionModeRequest,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolcall::{Blob, CallId, Content, Link, Resource, ResourceBody, SessionId};

use super::{Capabilities, V1, responses};
use crate::codec::{ClientNotification, ClientRequest};
use crate::meta;
use crate::peer::RpcError;
use crate::service::{
    AgentInfo, Implementation, ListSessionsRequest, McpServerConfig, OpenSessionRequest, Replay,
    ServiceError, SessionSelector,
};
use crate::trace::TraceContext;
use crate::version::NegotiatedVersion;

/// Handles `initialize`: decodes the request and encodes its response.
pub(crate) fn initialize(
    params: Option<&RawValue>,
    info: &AgentInfo,
) -> Result<NegotiatedVersion, RpcError> {
    let request: InitializeRequest = read(params)?;
    let client = request.client_info.map(|info| Implementation {
        name: info.name,
        version: info.version,
    });
    let codec = V1 {
        offers: Capabilities::from(&request.client_capabilities),
    };
    Ok(NegotiatedVersion {
        codec: std::sync::Arc::new(codec),
        client: client.unwrap_or_default(),
        response: responses::initialized(info),
    })
}

impl From<&ClientCapabilities> for Capabilities {
    fn from(offered: &ClientCapabilities) -> Self {
        let extension = offered
            .meta
            .as_ref()
            .and_then(|meta| meta.get(meta::TERMINAL_OUTPUT));
        Self {
            read_text: offered.fs.read_text_file,
            write_text: offered.fs.write_text_file,
            terminal: offered.terminal,
            terminal_output: extension == Some(&Value::Bool(true)),
            forms: offered
                .elicitation
                .as_ref()
                .is_some_and(|modes| modes.supports_form()),
        }
    }
}

/// Decodes a request.
pub(super) fn request(method: &str, params: Option<&RawValue>) -> Result<ClientRequest, RpcError> {
    Ok(match method {
        "authenticate" => ClientRequest::Authenticate {
            method: read::<AuthenticateRequest>(params)?.method_id.0.to_string(),
        },
        "session/new" => ClientRequest::Open(new_session(read(params)?)?),
        "session/load" => ClientRequest::Open(load(read(params)?)?),
        "session/resume" => ClientRequest::Open(resume(read(params)?)?),
        "session/list" => ClientRequest::List(page(read(params)?)),
        "session/close" => {
            ClientRequest::Close(session_id(read::<CloseSessionRequest>(params)?.session_id))
        }
        "session/delete" => {
            ClientRequest::Delete(session_id(read::<DeleteSessionRequest>(params)?.session_id))
        }
        "session/set_mode" => {
            let request: SetSessionModeRequest = read(params)?;
            ClientRequest::SetMode {
                session: session_id(request.session_id),
                mode: request.mode_id.0.to_string(),
            }
        }
        "session/set_config_option" => {
            let request: SetSessionConfigOptionRequest = read(params)?;
            ClientRequest::SetOption {
                session: session_id(request.session_id),
                option: request.config_id.0.to_string(),
                value: value(&request.value)?,
            }
        }
        "session/prompt" => prompt(read(params)?)?,
        meta::CANCEL_CALL => {
            let CancelCall {
                session_id: session,
                tool_call_id: call,
            } = read(params)?;
            ClientRequest::CancelCall {
                session: SessionId::new(session),
                call: CallId::new(call),
            }
        }
        _ => return Err(RpcError::method_not_found(method)),
    })
}

/// Decodes a notification.
pub(super) fn notification(method: &str, params: Option<&RawValue>) -> Option<ClientNotification> {
    match method {
        "session/cancel" => {
            let cancel: CancelNotification = read(params).ok()?;
            Some(ClientNotification::Cancel(session_id(cancel.session_id)))
        }
        meta::CANCEL_CALL => {
            let cancel: CancelCall = read(params).ok()?;
            Some(ClientNotification::CancelCall {
                session: SessionId::new(cancel.session_id),
                call: CallId::new(cancel.tool_call_id),
            })
        }
        _ => None,
    }
}

/// The parameters of our extension method that cancels one call.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelCall {
    session_id: String,
    tool_call_id: String,
}

/// Parses parameters. The error does not repeat them, because they may contain secrets.
fn read<'a, T: Deserialize<'a>>(params: Option<&'a RawValue>) -> Result<T, RpcError> {
    let params = params.map_or("{}", RawValue::get);
    serde_json::from_str(params).map_err(|error| RpcError::invalid_params(error.to_string()))
}

fn session_id(id: schema::SessionId) -> SessionId {
    SessionId::new(id.0.to_string())
}

fn prompt(request: PromptRequest) -> Result<ClientRequest, ServiceError> {
    let content = request.prompt.into_iter().map(content);
    Ok(ClientRequest::Prompt {
        session: session_id(request.session_id),
        content: content.collect::<Result<_, _>>()?,
        trace: TraceContext::from_meta(request.meta.as_ref()),
    })
}

fn new_session(request: NewSessionRequest) -> Result<OpenSessionRequest, ServiceError> {
    let roots = request.additional_directories;
    opening(
        SessionSelector::New,
        request.cwd,
        roots,
        request.mcp_servers,
    )
}

fn load(request: LoadSessionRequest) -> Result<OpenSessionRequest, ServiceError> {
    let which = SessionSelector::Stored {
        id: session_id(request.session_id),
        replay: Replay::Full,
    };
    let roots = request.additional_directories;
    opening(which, request.cwd, roots, request.mcp_servers)
}

fn resume(request: ResumeSessionRequest) -> Result<OpenSessionRequest, ServiceError> {
    let which = SessionSelector::Stored {
        id: session_id(request.session_id),
        replay: Replay::None,
    };
    let roots = request.additional_directories;
    opening(which, request.cwd, roots, request.mcp_servers)
}

/// Builds the request to open a session. Relative directories are refused: their meaning depends on
/// where this process was started.
fn opening(
    which: SessionSelector,
    cwd: PathBuf,
    additional_roots: Vec<PathBuf>,
    servers: Vec<McpServer>,
) -> Result<OpenSessionRequest, ServiceError> {
    absolute("cwd", &cwd)?;
    for root in &additional_roots {
        absolute("additionalDirectories", root)?;
    }
    Ok(OpenSessionRequest {
        which,
        cwd,
        additional_roots,
        servers: servers.into_iter().map(server).collect(),
    })
}

fn absolute(member: &str, path: &Path) -> Result<(), ServiceError> {
    if path.is_absolute() {
        return Ok(());
    }
    Err(ServiceError::InvalidParams(format!(
        "`{member}` takes absolute paths, and `{}` is none",
        path.display()
    )))
}

fn server(server: McpServer) -> McpServerConfig {
    match server {
        McpServer::Stdio(program) => McpServerConfig::Program {
            name: program.name,
            command: program.command,
            args: program.args,
            env: program
                .env
                .into_iter()
                .map(|variable| (variable.name, variable.value))
                .collect(),
        },
        McpServer::Http(address) => McpServerConfig::Http {
            name: address.name,
            url: address.url,
            headers: address
                .headers
                .into_iter()
                .map(|header| (header.name, header.value))
                .collect(),
        },
        McpServer::Sse(_) => McpServerConfig::Other { kind: "sse".into() },
        // The schema may add transports.
        _ => McpServerConfig::Other {
            kind: "unknown".into(),
        },
    }
}

fn page(request: schema::ListSessionsRequest) -> ListSessionsRequest {
    ListSessionsRequest {
        cwd: request.cwd,
        after: request.cursor,
    }
}

fn value(value: &SessionConfigOptionValue) -> Result<String, ServiceError> {
    match value {
        SessionConfigOptionValue::ValueId { value } => Ok(value.0.to_string()),
        // The schema may add kinds of values.
        _ => Err(ServiceError::InvalidParams(
            "this option takes one of its values".into(),
        )),
    }
}

fn content(block: ContentBlock) -> Result<Content, ServiceError> {
    Ok(match block {
        ContentBlock::Text(text) => Content::text(text.text),
        ContentBlock::Image(image) => Content::Image(Blob {
            mime: image.mime_type.into(),
            base64: image.data.into(),
        }),
        ContentBlock::Audio(audio) => Content::Audio(Blob {
            mime: audio.mime_type.into(),
            base64: audio.data.into(),
        }),
        ContentBlock::ResourceLink(link) => Content::Link(named(link)),
        ContentBlock::Resource(embedded) => Content::Resource(resource(embedded.resource)?),
        // The schema may add kinds of blocks.
        _ => {
            return Err(ServiceError::InvalidParams(
                "a block of the prompt is of no known type".into(),
            ));
        }
    })
}

fn named(link: ResourceLink) -> Link {
    Link {
        uri: link.uri.into(),
        name: link.name.into(),
        title: link.title.map(Into::into),
        description: link.description.map(Into::into),
        mime: link.mime_type.map(Into::into),
        size: link.size.and_then(|size| u64::try_from(size).ok()),
    }
}

fn resource(resource: EmbeddedResourceResource) -> Result<Resource, ServiceError> {
    Ok(match resource {
        EmbeddedResourceResource::TextResourceContents(text) => Resource {
            uri: text.uri.into(),
            mime: text.mime_type.map(Into::into),
            body: ResourceBody::Text(text.text.into()),
        },
        EmbeddedResourceResource::BlobResourceContents(blob) => Resource {
            uri: blob.uri.into(),
            mime: blob.mime_type.map(Into::into),
            body: ResourceBody::Base64(blob.blob.into()),
        },
        _ => {
            return Err(ServiceError::InvalidParams(
                "a resource of the prompt has no known body".into(),
            ));
        }
    })
}
