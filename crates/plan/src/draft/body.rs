//! What a request carries, or a message is.

use crate::file::read_up_to;
use crate::{PlanError, REQUEST_BODY_BYTES_MAX};

/// What a request carries, or a message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// As it is.
    Bytes(Vec<u8>),
    /// The same, where a message is not text even if it could be.
    Binary(Vec<u8>),
    /// The content of a file; `-` is the standard input.
    File(String),
    /// Random bytes of a message.
    Random {
        /// How many.
        count: u64,
        /// The same seed gives the same bytes.
        seed: u64,
    },
    /// A message of WebSocket that is numbered.
    Numbered,
}

impl Body {
    /// The bytes that were written or named. Messages alone are random or numbered.
    pub(super) fn read(&self) -> Result<Vec<u8>, PlanError> {
        match self {
            Self::Bytes(bytes) | Self::Binary(bytes) => Ok(bytes.clone()),
            Self::File(path) => read_up_to("-d", path, REQUEST_BODY_BYTES_MAX),
            Self::Random { .. } | Self::Numbered => Ok(Vec::new()),
        }
    }
}
