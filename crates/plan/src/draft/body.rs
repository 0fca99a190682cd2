//! The body of a request, or the content of a message.

use crate::file::read_up_to;
use crate::{PlanError, REQUEST_BODY_BYTES_MAX};

/// The body of a request, or the content of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The same for a message that is not text even if it could be.
    Binary(Vec<u8>),
    /// The content of a file; `-` is the standard input.
    File(String),
    /// Random bytes of a message.
    Random {
        /// The number of bytes.
        count: u64,
        /// The seed; the same seed gives the same bytes.
        seed: u64,
    },
    /// A numbered WebSocket message.
    Numbered,
}

impl Body {
    /// The given bytes, or those of the named file. Only messages can be random or numbered.
    pub(super) fn read(&self) -> Result<Vec<u8>, PlanError> {
        match self {
            Self::Bytes(bytes) | Self::Binary(bytes) => Ok(bytes.clone()),
            Self::File(path) => read_up_to("-d", path, REQUEST_BODY_BYTES_MAX),
            Self::Random { .. } | Self::Numbered => Ok(Vec::new()),
        }
    }
}
