//! The hash chain of a session: each hash covers a record and the hash before it.
//! It reveals changed and missing records. It has no key, so it cannot reveal a complete rewrite.

use sha2::{Digest as _, Sha256};

use crate::stored::Hash;

/// Returns the hash that precedes the first record of a session.
pub(crate) fn root(session: &str) -> Hash {
    let mut hash = Sha256::new();
    hash.update(b"toolcall history 1\0");
    hash.update(session);
    hash.finalize().into()
}

/// A record as the chain covers it.
pub(crate) struct ChainLink<'a> {
    pub(crate) seq: i64,
    pub(crate) at: i64,
    pub(crate) event_name: &'a str,
    /// The id of the call; empty for an event of the session itself.
    pub(crate) call: &'a str,
    pub(crate) body: &'a str,
}

impl ChainLink<'_> {
    /// Returns the hash of this record after the given one.
    pub(crate) fn after(&self, before: &Hash) -> Hash {
        let mut hash = Sha256::new();
        hash.update(before);
        hash.update(self.seq.to_le_bytes());
        hash.update(self.at.to_le_bytes());
        for text in [self.event_name, self.call, self.body] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        hash.finalize().into()
    }
}
