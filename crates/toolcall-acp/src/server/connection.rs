//! The client at the other end of a connection: who it is, how it is spoken with, its sessions.
//! It connects engines to the client; what a session does is the session's business.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use futures::future::join_all;
use serde_json::value::RawValue;
use toolcall::{CallId, EngineBuilder, SessionId};

use crate::codec::Codec;
use crate::lane::LaneCounters;
use crate::peer::{Peer, RpcError};
use crate::service::{AgentInfo, CommandPlacement, Implementation};
use crate::session::Session;
use crate::version::{Negotiated, before_initialize, negotiate};

/// A connection to a client, as an agent has it. Cheap to clone.
#[derive(Clone)]
pub struct ClientConnection(Arc<Inner>);

struct Inner {
    peer: Peer,
    /// How the client is spoken with and who it is, once it said so.
    client: Mutex<Option<(Arc<dyn Codec>, Implementation)>>,
    sessions: Mutex<HashMap<Box<str>, Arc<Session>>>,
}

impl ClientConnection {
    /// The client behind this connection. Until it says what it offers it offers nothing.
    pub fn new(peer: Peer) -> Self {
        Self(Arc::new(Inner {
            peer,
            client: Mutex::default(),
            sessions: Mutex::default(),
        }))
    }

    /// Takes the parameters of the client's `initialize`, which it sends once: the version is
    /// chosen, and what the client offers is used from now on. Returns the result to answer with.
    pub fn initialize(
        &self,
        params: Option<&RawValue>,
        about: &AgentInfo,
    ) -> Result<Box<RawValue>, RpcError> {
        let Negotiated {
            codec,
            client: who,
            response,
        } = negotiate(params, about)?;
        let mut client = self.0.client.lock();
        if client.is_some() {
            return Err(RpcError::invalid_request(
                "the connection is initialized already",
            ));
        }
        *client = Some((codec, who));
        Ok(response)
    }

    /// How the client is spoken with, once it is initialized.
    pub(crate) fn codec(&self) -> Option<Arc<dyn Codec>> {
        let client = self.0.client.lock();
        client.as_ref().map(|(codec, _)| codec.clone())
    }

    /// The client's name and version, if it said so.
    pub fn client_info(&self) -> Implementation {
        let client = self.0.client.lock();
        client
            .as_ref()
            .map(|(_, who)| who.clone())
            .unwrap_or_default()
    }

    /// The peer.
    pub fn peer(&self) -> &Peer {
        &self.0.peer
    }

    /// What went to the client so far.
    pub fn counters(&self) -> LaneCounters {
        self.0.peer.lane().counters()
    }

    /// Opens a session: its engine reports to this client, asks it, and uses the files and the
    /// terminal it offers. Answer the request that asked for it after this. A session of the same
    /// id that is open is closed.
    pub fn open(&self, engine: EngineBuilder) -> Arc<Session> {
        self.open_with(engine, CommandPlacement::InClient)
    }

    /// Like [`open`](Self::open), with a say in where commands run.
    pub fn open_with(&self, engine: EngineBuilder, commands: CommandPlacement) -> Arc<Session> {
        let peer = self.0.peer.clone();
        let codec = self.codec().unwrap_or_else(before_initialize);
        let session = Session::open(engine, peer, codec, self.client_info(), commands);
        let id = session.id().as_str().into();
        let replaced = self.0.sessions.lock().insert(id, session.clone());
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

    /// Cancels one call. Returns whether it was open.
    pub(crate) fn cancel_call(&self, session: &SessionId, call: &CallId) -> bool {
        let session = self.session(session.as_str());
        session.is_some_and(|session| session.engine().cancel(call))
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
