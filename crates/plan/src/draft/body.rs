//! The body of a request, or the content of a message.

use crate::file::read_up_to;
use crate::{BodyBytes, PlanError, REQUEST_BODY_BYTES_MAX};

/// The body of a request, or the content of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// As it is.
    Bytes(BodyBytes),
    /// The same, where a message is not text even if it could be.
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
    /// The bytes that were written or named. Messages alone are random or numbered.
    pub(super) fn read(&self) -> Result<BodyBytes, PlanError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes.clone()),
            Self::Binary(bytes) => Ok(bytes.clone().into()),
            Self::File(path) => read_up_to("-d", path, REQUEST_BODY_BYTES_MAX).map(BodyBytes::from),
            Self::Random { .. } | Self::Numbered => Ok(BodyBytes::default()),
        }
    }
}
