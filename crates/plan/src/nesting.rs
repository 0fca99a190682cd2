//! What lies in something of its own kind, read from bytes: not without end.

use std::cell::Cell;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};

/// How deep anything may lie in itself: deeper than programs and calls may.
const NESTED_MAX: usize = 80;

/// Nothing was read yet on this thread.
pub(crate) fn begin() {
    DEPTH.set(0);
}

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Reads what lies in something of its own kind, which may not go on without end.
pub(crate) fn deeper<'de, D: Deserializer<'de>, T: DeserializeOwned>(reader: D) -> Result<Vec<T>, D::Error> {
    let depth = DEPTH.get();
    if depth > NESTED_MAX {
        return Err(D::Error::custom("it goes too deep"));
    }
    DEPTH.set(depth + 1);
    let read = Vec::deserialize(reader);
    DEPTH.set(depth);
    read
}
