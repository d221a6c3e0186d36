//! Where records of calls are kept, and how they are folded back.
//! A store keeps what it is given; it never judges or changes a record.

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

/// One thing that happened to one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// When.
    pub at: Timestamp,
    /// What.
    pub event: Event,
}

/// Keeps records. `append` must not block: a store with slow media queues within a bound and
/// tells by the receipt when a record is safe.
pub trait Store: Send + Sync + 'static {
    /// FieldType a record. Records of one call arrive in order.
    fn append(&self, record: Record) -> Receipt;

    /// Every record of a session, in order.
    fn load(&self, session: &SessionId) -> Result<Vec<Record>, StoreError>;
}

/// A record could not be kept or read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the history could not be used: {reason}")]
pub struct StoreError {
    /// Why.
    pub reason: Arc<str>,
}

/// Tells when a record is safe.
#[derive(Debug)]
pub struct Receipt(ReceiptState);

#[derive(Debug)]
enum ReceiptState {
    Ready(Result<(), StoreError>),
    Waiting(oneshot::Receiver<Result<(), StoreError>>),
}

impl Receipt {
    /// It is safe already.
    pub fn safe() -> Self {
        Self(ReceiptState::Ready(Ok(())))
    }

    /// It will not be kept.
    pub fn refused(reason: impl Into<Arc<str>>) -> Self {
        Self(ReceiptState::Ready(Err(StoreError {
            reason: reason.into(),
        })))
    }

    /// The store will say so on this channel.
    pub fn later(receiver: oneshot::Receiver<Result<(), StoreError>>) -> Self {
        Self(ReceiptState::Waiting(receiver))
    }

    /// What is known already, or the receipt to wait for.
    pub fn now(self) -> Result<Result<(), StoreError>, Self> {
        match self.0 {
            ReceiptState::Ready(result) => Ok(result),
            waiting @ ReceiptState::Waiting(_) => Err(Self(waiting)),
        }
    }

    /// Waits until the record is safe. A store that went away did not keep it.
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

/// Keeps nothing. What an engine uses when it is given no store.
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

/// Keeps everything in memory, until it is dropped.
#[derive(Debug, Default)]
pub struct MemoryStore {
    sessions: Mutex<FastMap<SessionId, Vec<Vec<Record>>>>,
}

/// Records are kept in pieces of this many, so that a long session is never moved as it grows.
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

/// Folds records back into calls, in the order the calls were announced.
///
/// A record without a place is skipped: what the store holds was folded once already.
pub fn replay(records: &[Record]) -> Vec<ToolCall> {
    let mut calls: Vec<ToolCall> = Vec::new();
    let mut places: HashMap<&CallId, usize> = HashMap::new();
    for record in records {
        match (places.get(&record.call), &record.event) {
            (Some(place), event) => {
                let _out_of_place = calls[*place].apply(event, record.at);
            }
            (None, Event::Announced(announced)) => {
                places.insert(&record.call, calls.len());
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
