//! What clients of v1 ask for, in no version's words.
//! It takes what it is given; whether that can be had is not decided here.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{
    ContentBlock, EmbeddedResourceResource, ListSessionsRequest, LoadSessionRequest, McpServer,
    NewSessionRequest, ResourceLink, ResumeSessionRequest, SessionConfigOptionValue,
};
use toolcall::{Blob, Content, Link, Resource, ResourceBody, SessionId};

use crate::service::{Opening, Page, Party, Refusal, Replay, ServerWish, Which};

type Wish = Result<Opening, Refusal>;

pub(super) fn new_session(request: NewSessionRequest, client: Party) -> Wish {
    let roots = request.additional_directories;
    opening(Which::New, request.cwd, roots, request.mcp_servers, client)
}

pub(super) fn load(request: LoadSessionRequest, client: Party) -> Wish {
    let which = Which::Kept {
        id: SessionId::new(request.session_id.0.to_string()),
        replay: Replay::Whole,
    };
    let roots = request.additional_directories;
    opening(which, request.cwd, roots, request.mcp_servers, client)
}

pub(super) fn resume(request: ResumeSessionRequest, client: Party) -> Wish {
    let which = Which::Kept {
        id: SessionId::new(request.session_id.0.to_string()),
        replay: Replay::Nothing,
    };
    let roots = request.additional_directories;
    opening(which, request.cwd, roots, request.mcp_servers, client)
}

/// Relative folders are refused: what they mean depends on where this program was started.
fn opening(
    which: Which,
    cwd: PathBuf,
    more_roots: Vec<PathBuf>,
    servers: Vec<McpServer>,
    client: Party,
) -> Wish {
    absolute("cwd", &cwd)?;
    for root in &more_roots {
        absolute("additionalDirectories", root)?;
    }
    Ok(Opening {
        which,
        cwd,
        more_roots,
        servers: servers.into_iter().map(server).collect(),
        client,
    })
}

fn absolute(member: &str, path: &Path) -> Result<(), Refusal> {
    match path.is_absolute() {
        true => Ok(()),
        false => Err(Refusal::Wrong(format!(
            "`{member}` takes absolute paths, and `{}` is none",
            path.display()
        ))),
    }
}

fn server(server: McpServer) -> ServerWish {
    match server {
        McpServer::Stdio(program) => ServerWish::Program {
            name: program.name,
            command: program.command,
            args: program.args,
            env: program
                .env
                .into_iter()
                .map(|variable| (variable.name, variable.value))
                .collect(),
        },
        McpServer::Http(address) => ServerWish::Http {
            name: address.name,
            url: address.url,
            headers: address
                .headers
                .into_iter()
                .map(|header| (header.name, header.value))
                .collect(),
        },
        McpServer::Sse(_) => ServerWish::Other { kind: "sse".into() },
        // Ways are the protocol's, and it may add some.
        _ => ServerWish::Other {
            kind: "unknown".into(),
        },
    }
}

pub(super) fn page(request: ListSessionsRequest) -> Page {
    Page {
        cwd: request.cwd,
        after: request.cursor,
    }
}

pub(super) fn value(value: &SessionConfigOptionValue) -> Result<String, Refusal> {
    match value {
        SessionConfigOptionValue::ValueId { value } => Ok(value.0.to_string()),
        // Values are the protocol's, and it may add sorts of them.
        _ => Err(Refusal::Wrong("this option takes one of its values".into())),
    }
}

pub(super) fn contents(blocks: Vec<ContentBlock>) -> Result<Vec<Content>, Refusal> {
    blocks.into_iter().map(content).collect()
}

fn content(block: ContentBlock) -> Result<Content, Refusal> {
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
        // Blocks are the protocol's, and it may add some.
        _ => {
            return Err(Refusal::Wrong(
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

fn resource(resource: EmbeddedResourceResource) -> Result<Resource, Refusal> {
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
            return Err(Refusal::Wrong(
                "a resource of the prompt has no known body".into(),
            ));
        }
    })
}
