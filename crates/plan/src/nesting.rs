//! Deserialization of recursive types with a limit of the nesting.

use std::cell::Cell;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};

/// The maximum nesting: deeper than that of programs and calls.
const NESTED_MAX: usize = 80;

/// Resets the depth of this thread.
pub(crate) fn begin() {
    DEPTH.set(0);
}

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Deserializes a nested value, up to the limit.
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
