//! The connection to a client: its name, its protocol version and its sessions.
//! It connects engines to the client, and leaves everything within a session to the session.

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
use crate::version::{NegotiatedVersion, before_initialize, negotiate};

/// An agent's connection to one client. Cheap to clone.
#[derive(Clone)]
pub struct ClientConnection(Arc<ConnectionInner>);

struct ConnectionInner {
    peer: Peer,
    /// The codec and the client's name, set by `initialize`.
    client: Mutex<Option<(Arc<dyn Codec>, Implementation)>>,
    sessions: Mutex<HashMap<Box<str>, Arc<Session>>>,
}

impl ClientConnection {
    /// Creates a connection to this peer. Until `initialize` the client offers nothing.
    pub fn new(peer: Peer) -> Self {
        Self(Arc::new(ConnectionInner {
            peer,
            client: Mutex::default(),
            sessions: Mutex::default(),
        }))
    }

    /// Handles the client's `initialize`, which may come once: chooses the protocol version, and uses
    /// what the client offers from now on. Returns the result to respond with.
    pub fn initialize(
        &self,
        params: Option<&RawValue>,
        info: &AgentInfo,
    ) -> Result<Box<RawValue>, RpcError> {
        let NegotiatedVersion {
            codec,
            client: info,
            response,
        } = negotiate(params, info)?;
        let mut client = self.0.client.lock();
        if client.is_some() {
            return Err(RpcError::invalid_request(
                "the connection is initialized already",
            ));
        }
        *client = Some((codec, info));
        Ok(response)
    }

    /// Returns the codec of the chosen version, after `initialize`.
    pub(crate) fn codec(&self) -> Option<Arc<dyn Codec>> {
        let client = self.0.client.lock();
        client.as_ref().map(|(codec, _)| codec.clone())
    }

    /// Returns the client's name and version; empty if it sent none.
    pub fn client_info(&self) -> Implementation {
        let client = self.0.client.lock();
        client
            .as_ref()
            .map(|(_, info)| info.clone())
            .unwrap_or_default()
    }

    /// Returns the peer, to send other messages to.
    pub fn peer(&self) -> &Peer {
        &self.0.peer
    }

    /// Returns how much was sent to the client so far.
    pub fn counters(&self) -> LaneCounters {
        self.0.peer.lane().counters()
    }

    /// Opens a session: its engine reports to this client, asks it for permission, and uses the files
    /// and the terminal that it offers. Respond to the client's request after this. If a session with
    /// the same id is open, it is cancelled and replaced.
    pub fn open(&self, engine: EngineBuilder) -> Arc<Session> {
        self.open_with(engine, CommandPlacement::InClient)
    }

    /// Like [`open`](Self::open), and chooses where commands run.
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

    /// Returns an open session by its id.
    pub fn session(&self, id: &str) -> Option<Arc<Session>> {
        self.0.sessions.lock().get(id).cloned()
    }

    /// Closes a session and cancels its prompts. Returns it if it was open.
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

    /// Shuts the connection down: cancels every prompt, reports how the calls ended, then stops reading.
    /// The transport must keep running meanwhile.
    pub async fn leave(&self) {
        let sessions: Vec<_> = self.0.sessions.lock().values().cloned().collect();
        sessions.iter().for_each(|session| session.cancel());
        join_all(sessions.iter().map(|session| session.end())).await;
        self.0.peer.stop_reading();
    }

    /// Ends every call of every session, after the client is gone. Waits until they have ended.
    pub async fn end(&self) {
        let sessions = std::mem::take(&mut *self.0.sessions.lock());
        join_all(sessions.values().map(|session| session.end())).await;
    }
}
