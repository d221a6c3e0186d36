//! The chain of a session's records: each hash covers the record and the hash before it.
//! It shows what was changed or is missing; it holds no key, so that whoever rewrites all of it is not seen.

use sha2::{Digest as _, Sha256};

use crate::stored::Hash;

/// The hash before the first record of a session.
pub(crate) fn root(session: &str) -> Hash {
    let mut hash = Sha256::new();
    hash.update(b"toolcall history 1\0");
    hash.update(session);
    hash.finalize().into()
}

/// One link: what is covered besides the hash before it.
pub(crate) struct Link<'a> {
    pub(crate) seq: i64,
    pub(crate) at: i64,
    pub(crate) sort: &'a str,
    /// The call, or nothing for the session itself.
    pub(crate) call: &'a str,
    pub(crate) body: &'a str,
}

impl Link<'_> {
    /// The hash of this record behind that one.
    pub(crate) fn after(&self, before: &Hash) -> Hash {
        let mut hash = Sha256::new();
        hash.update(before);
        hash.update(self.seq.to_le_bytes());
        hash.update(self.at.to_le_bytes());
        for text in [self.sort, self.call, self.body] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        hash.finalize().into()
    }
}
