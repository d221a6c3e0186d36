//! Stores of call records, and how calls are rebuilt from them.
//! A store never judges or changes a record.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use thiserror::Error;
use tokio::sync::oneshot;

use crate::call::ToolCall;
use crate::event::Event;
use crate::ids::{CallId, SessionId};
use crate::map::FastMap;
use crate::timestamp::Timestamp;

/// One event of one call, as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The session of the call.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub event: Event,
}

/// Stores records. `append` must not block: a slow store uses a bounded queue and reports through
/// the receipt when a record is stored.
pub trait Store: Send + Sync + 'static {
    /// Stores a record. The records of one call arrive in order.
    fn append(&self, record: Record) -> Receipt;

    /// Returns all records of a session, in order.
    fn load(&self, session: &SessionId) -> Result<Vec<Record>, StoreError>;
}

/// A record could not be stored or read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the history could not be used: {reason}")]
pub struct StoreError {
    /// Why.
    pub reason: Arc<str>,
}

/// Reports when a record is stored.
#[derive(Debug)]
pub struct Receipt(ReceiptState);

#[derive(Debug)]
enum ReceiptState {
    Ready(Result<(), StoreError>),
    Waiting(oneshot::Receiver<Result<(), StoreError>>),
}

impl Receipt {
    /// Creates a receipt for a record that is already stored.
    pub fn safe() -> Self {
        Self(ReceiptState::Ready(Ok(())))
    }

    /// Creates a receipt for a record that will not be stored.
    pub fn refused(reason: impl Into<Arc<str>>) -> Self {
        Self(ReceiptState::Ready(Err(StoreError {
            reason: reason.into(),
        })))
    }

    /// Creates a receipt that is resolved through this channel.
    pub fn later(receiver: oneshot::Receiver<Result<(), StoreError>>) -> Self {
        Self(ReceiptState::Waiting(receiver))
    }

    /// Returns the result if it is known already, or else the receipt to await.
    pub fn now(self) -> Result<Result<(), StoreError>, Self> {
        match self.0 {
            ReceiptState::Ready(result) => Ok(result),
            waiting @ ReceiptState::Waiting(_) => Err(Self(waiting)),
        }
    }

    /// Waits until the record is stored. It is an error if the store was dropped before.
    pub async fn wait(self) -> Result<(), StoreError> {
        match self.0 {
            ReceiptState::Ready(result) => result,
            ReceiptState::Waiting(receiver) => receiver.await.unwrap_or_else(|_| {
                Err(StoreError {
                    reason: "the store went away".into(),
                })
            }),
        }
    }
}

/// A store that discards records. An engine without a store uses it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStore;

impl Store for NoStore {
    fn append(&self, _record: Record) -> Receipt {
        Receipt::safe()
    }

    fn load(&self, _session: &SessionId) -> Result<Vec<Record>, StoreError> {
        Ok(Vec::new())
    }
}

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    sessions: Mutex<FastMap<SessionId, Vec<Vec<Record>>>>,
}

/// Records are held in chunks of this many, so that a long session is never reallocated as it
/// grows.
const PIECE: usize = 256;

impl Store for MemoryStore {
    fn append(&self, record: Record) -> Receipt {
        let mut sessions = self.sessions.lock();
        let pieces = match sessions.get_mut(&record.session) {
            Some(pieces) => pieces,
            None => sessions.entry(record.session.clone()).or_default(),
        };
        match pieces.last_mut().filter(|piece| piece.len() < PIECE) {
            Some(piece) => piece.push(record),
            None => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push(record);
                pieces.push(piece);
            }
        }
        Receipt::safe()
    }

    fn load(&self, session: &SessionId) -> Result<Vec<Record>, StoreError> {
        let sessions = self.sessions.lock();
        let pieces = sessions.get(session).into_iter().flatten();
        Ok(pieces.flatten().cloned().collect())
    }
}

impl<S: Store> Store for Arc<S> {
    fn append(&self, record: Record) -> Receipt {
        self.as_ref().append(record)
    }

    fn load(&self, session: &SessionId) -> Result<Vec<Record>, StoreError> {
        self.as_ref().load(session)
    }
}

/// Rebuilds calls from their records, in the order in which they were announced.
///
/// A record out of place is skipped; the journal stores only events that it has accepted.
pub fn replay(records: &[Record]) -> Vec<ToolCall> {
    let mut calls: Vec<ToolCall> = Vec::new();
    let mut indices: HashMap<&CallId, usize> = HashMap::new();
    for record in records {
        match (indices.get(&record.call), &record.event) {
            (Some(index), event) => {
                let _out_of_place = calls[*index].apply(event, record.at);
            }
            (None, Event::Announced(announced)) => {
                indices.insert(&record.call, calls.len());
                calls.push(ToolCall::announce(
                    record.call.clone(),
                    record.session.clone(),
                    announced.clone(),
                    Arc::default(),
                    record.at,
                ));
            }
            (None, _) => {}
        }
    }
    calls
}
