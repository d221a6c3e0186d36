//! The client at the other end: what it offers, and the sessions it has open.
//! It connects engines to the client; what a session does is the session's business.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, ClientCapabilities, InitializeRequest, InitializeResponse, Meta,
};
use futures::future::join_all;
use parking_lot::Mutex;
use serde_json::{Value, json};
use toolcall::{CallId, EngineBuilder};

use super::ask::{Asker, Forms};
use super::host::{ClientHost, Commands};
use super::session::Session;
use super::{Printing, Reporter};
use crate::lane::Counters;
use crate::meta;
use crate::peer::{Peer, PeerError};
use crate::service::Party;

/// The extension method that stops one call.
pub const CANCEL_CALL: &str = "_toolcall/cancel";

/// A connected client. Cheap to clone.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    peer: Peer,
    offers: Mutex<Capabilities>,
    who: Mutex<Party>,
    sessions: Mutex<HashMap<Box<str>, Arc<Session>>>,
}

/// What a client offers, as far as tool calls use it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// `fs/read_text_file`.
    pub read_text: bool,
    /// `fs/write_text_file`.
    pub write_text: bool,
    /// `terminal/*`.
    pub terminal: bool,
    /// Zed's extension for the output of commands.
    pub terminal_output: bool,
    /// `elicitation/create` in its form mode.
    pub forms: bool,
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

impl Client {
    /// The client behind this connection. Until it says what it offers it offers nothing.
    pub fn new(peer: Peer) -> Self {
        let client = Self(Arc::new(Inner {
            peer,
            offers: Mutex::default(),
            who: Mutex::default(),
            sessions: Mutex::default(),
        }));
        let inner = Arc::downgrade(&client.0);
        client.0.peer.serve(CANCEL_CALL, move |params| {
            let inner = inner.upgrade().ok_or(PeerError::Gone)?;
            let cancelled = inner.cancel_call(&params).ok_or(PeerError::Malformed)?;
            Ok(json!({"cancelled": cancelled}))
        });
        client
    }

    /// Learns what the client offers, and answers that this agent speaks v1 and can stop one call.
    /// Add to the answer what else the agent can do.
    pub fn initialize(&self, request: &InitializeRequest) -> InitializeResponse {
        *self.0.offers.lock() = Capabilities::from(&request.client_capabilities);
        if let Some(info) = &request.client_info {
            *self.0.who.lock() = Party {
                name: info.name.clone(),
                version: info.version.clone(),
            };
        }
        let cancel = json!({"method": CANCEL_CALL});
        let meta = Meta::from_iter([(meta::CANCEL.to_owned(), cancel)]);
        InitializeResponse::new(ProtocolVersion::V1)
            .agent_capabilities(AgentCapabilities::new().meta(meta))
    }

    /// What the client offers.
    pub fn capabilities(&self) -> Capabilities {
        *self.0.offers.lock()
    }

    /// The client's name and version, if it said so.
    pub fn who(&self) -> Party {
        self.0.who.lock().clone()
    }

    /// The connection.
    pub fn peer(&self) -> &Peer {
        &self.0.peer
    }

    /// What went to the client so far.
    pub fn counters(&self) -> Counters {
        self.0.peer.lane().counters()
    }

    /// Opens a session: its engine reports to this client, asks it, and uses the files and the
    /// terminal it offers. Answer the request that asked for it after this. A session of the same
    /// id that is open is closed.
    pub fn open(&self, engine: EngineBuilder) -> Arc<Session> {
        self.open_with(engine, Commands::InClient)
    }

    /// Like [`Client::open`], with a say in where commands run.
    pub fn open_with(&self, engine: EngineBuilder, commands: Commands) -> Arc<Session> {
        let id = engine.session().clone();
        let (peer, offers) = (self.0.peer.clone(), self.capabilities());
        let printing = match offers.terminal_output {
            true => Printing::Terminal,
            false => Printing::Text,
        };
        let reporter = Reporter::new(id.clone(), peer.lane().clone(), printing);
        let reports = reporter.reports();
        let opened = Arc::new(OnceLock::new());
        let asker = Asker {
            peer: peer.clone(),
            reports: reports.clone(),
            forms: match offers.forms {
                true => Forms::Shown,
                false => Forms::Unknown,
            },
            session: opened.clone(),
        };
        let host = |local| -> Arc<dyn toolcall::Host> {
            Arc::new(ClientHost {
                session: id.clone(),
                peer: peer.clone(),
                offers,
                commands,
                local,
            })
        };
        let engine = engine
            .reader(reporter)
            .approver(asker)
            .host_around(host)
            .build();
        let session = Arc::new(Session::new(id.clone(), engine, peer, reports, self.who()));
        let _first = opened.set(Arc::downgrade(&session));
        let replaced = self
            .0
            .sessions
            .lock()
            .insert(id.as_str().into(), session.clone());
        if let Some(replaced) = replaced {
            replaced.cancel();
        }
        session
    }

    /// An open session.
    pub fn session(&self, id: &str) -> Option<Arc<Session>> {
        self.0.sessions.lock().get(id).cloned()
    }

    /// Closes a session: what is being answered there is cancelled.
    pub fn close(&self, id: &str) -> Option<Arc<Session>> {
        let session = self.0.sessions.lock().remove(id)?;
        session.cancel();
        Some(session)
    }

    /// Takes leave of the client: what is being answered is cancelled and told, then nothing more is
    /// heard. The connection must go on meanwhile.
    pub async fn leave(&self) {
        let sessions: Vec<_> = self.0.sessions.lock().values().cloned().collect();
        sessions.iter().for_each(|session| session.cancel());
        join_all(sessions.iter().map(|session| session.end())).await;
        self.0.peer.hang_up();
    }

    /// The client is gone: ends every call of every session, and waits for that.
    pub async fn end(&self) {
        let sessions = std::mem::take(&mut *self.0.sessions.lock());
        join_all(sessions.values().map(|session| session.end())).await;
    }
}

impl Inner {
    /// Whether the call was open; nothing if the parameters name none.
    fn cancel_call(&self, params: &Value) -> Option<bool> {
        let session = params["sessionId"].as_str()?;
        let call = CallId::new(params["toolCallId"].as_str()?);
        let session = self.sessions.lock().get(session).cloned();
        Some(session.is_some_and(|session| session.engine().cancel(&call)))
    }
}
