//! Plans as bytes: for whoever carries out a part of a load somewhere else. What is read may come from anywhere, so nothing is believed
//! that cannot be.

mod validate;

use serde::{Deserialize, Serialize};

use crate::{Hold, Plan, nesting};

/// What is to be done, by somebody else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Carried {
    /// A load.
    Load(Box<Plan>),
    /// Connections that are held.
    Hold(Box<Hold>),
}

/// The version of the bytes. They are read by the same version of onrush alone.
const VERSION: u8 = 1;
/// The most bytes of a plan: as many as the largest body with all around it.
pub const CARRIED_BYTES_MAX: usize = 2 << 30;

/// Why bytes are no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CarriedError {
    /// They were written by another version.
    #[error("this plan was written by another version of onrush; use the same version everywhere")]
    Version,
    /// They are none, or say what cannot be.
    #[error("this plan is damaged ({reason}); send it again")]
    Damaged {
        /// What was found.
        reason: String,
    },
    /// It cannot be written.
    #[error("this plan cannot be sent to others: {reason}")]
    Unwritten {
        /// Why.
        reason: String,
    },
}

impl Carried {
    /// As bytes. The same plan is the same bytes.
    ///
    /// # Errors
    /// A path in it is no UTF-8.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CarriedError> {
        let wrong = |error: postcard::Error| CarriedError::Unwritten { reason: error.to_string() };
        postcard::to_extend(self, vec![VERSION]).map_err(wrong)
    }

    /// Reads it, and looks whether it is one that flags or a file could have made.
    ///
    /// # Errors
    /// The bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CarriedError> {
        let damaged = |reason: String| CarriedError::Damaged { reason };
        let (version, rest) = bytes.split_first().ok_or_else(|| damaged("it is empty".to_owned()))?;
        if *version != VERSION {
            return Err(CarriedError::Version);
        }
        nesting::begin();
        let (carried, left): (Self, _) = postcard::take_from_bytes(rest).map_err(|error| damaged(error.to_string()))?;
        if !left.is_empty() {
            return Err(damaged(format!("{} bytes too many", left.len())));
        }
        validate::look_at(&carried).map_err(|reason| damaged(reason.to_owned()))?;
        Ok(carried)
    }
}

#[cfg(test)]
mod tests;
