//! The encoding of plans as bytes, for workers. The input may come from anywhere, so every value is validated.

mod validate;

use serde::{Deserialize, Serialize};

use crate::{Hold, Plan, nesting};

/// The work of a remote worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum EncodedPlan {
    /// A load.
    Load(Box<Plan>),
    /// A hold.
    Hold(Box<Hold>),
}

/// The version of the encoding. It is read by the same version of onrush alone.
const VERSION: u8 = 1;
/// The most bytes of a plan: enough for the largest body and everything else.
pub const ENCODED_PLAN_BYTES_MAX: usize = 2 << 30;

/// The reason why bytes are no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodedPlanError {
    /// They were written by another version.
    #[error("this plan was written by another version of onrush; use the same version everywhere")]
    Version,
    /// They are invalid.
    #[error("this plan is damaged ({reason}); send it again")]
    Damaged {
        /// The reason.
        reason: String,
    },
    /// The plan cannot be encoded.
    #[error("this plan cannot be sent to others: {reason}")]
    Unwritten {
        /// The reason.
        reason: String,
    },
}

impl EncodedPlan {
    /// Encodes it. The same plan gives the same bytes.
    ///
    /// # Errors
    /// A path in it is not UTF-8.
    pub fn to_bytes(&self) -> Result<Vec<u8>, EncodedPlanError> {
        let wrong = |error: postcard::Error| EncodedPlanError::Unwritten { reason: error.to_string() };
        postcard::to_extend(self, vec![VERSION]).map_err(wrong)
    }

    /// Decodes it, and validates that flags or a file could have made it.
    ///
    /// # Errors
    /// The bytes are no plan.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, EncodedPlanError> {
        let damaged = |reason: String| EncodedPlanError::Damaged { reason };
        let (version, rest) = bytes.split_first().ok_or_else(|| damaged("it is empty".to_owned()))?;
        if *version != VERSION {
            return Err(EncodedPlanError::Version);
        }
        nesting::begin();
        let (encoded_plan, left): (Self, _) =
            postcard::take_from_bytes(rest).map_err(|error| damaged(error.to_string()))?;
        if !left.is_empty() {
            return Err(damaged(format!("{} bytes too many", left.len())));
        }
        validate::validate(&encoded_plan).map_err(|reason| damaged(reason.to_owned()))?;
        Ok(encoded_plan)
    }
}

#[cfg(test)]
mod tests;
