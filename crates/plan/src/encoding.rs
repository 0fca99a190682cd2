//! The encoding of plans as bytes, for workers. The input may come from anywhere, so every value is validated.

mod validate;

use serde::{Deserialize, Serialize};

use crate::{Hold, Plan, Step, Target, nesting, protocol_named};

/// The work of a remote worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum EncodedPlan {
    /// A load.
    Load(Box<Plan>),
    /// A hold.
    Hold(Box<Hold>),
}

/// The version of the encoding. It is read by the same version of onrush alone.
const VERSION: u8 = 3;
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
    /// It needs a protocol that this program does not have.
    #[error("this onrush does not have the protocol '{name}'; start the worker with a program that has it")]
    Protocol {
        /// The name of the protocol.
        name: String,
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

    /// The custom protocols that it needs.
    fn custom_protocols(&self) -> impl Iterator<Item = &str> {
        let (targets, steps): (Vec<&Target>, Vec<&Step>) = match self {
            Self::Load(plan) => (
                plan.scenarios.iter().flat_map(|scenario| &scenario.targets).collect(),
                plan.scenarios.iter().flat_map(|scenario| &scenario.steps).collect(),
            ),
            Self::Hold(hold) => (vec![&hold.target], vec![&hold.step]),
        };
        let of_targets = targets.into_iter().filter_map(|target| target.custom.as_deref());
        let of_steps = steps.into_iter().filter_map(|step| step.messaging.as_ref()?.custom.as_deref());
        let of_targets = of_targets.map(|endpoint| endpoint.protocol.as_str());
        of_targets.chain(of_steps.map(|request| request.protocol.as_str()))
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
        if let Some(name) = encoded_plan.custom_protocols().find(|name| protocol_named(name).is_none()) {
            return Err(EncodedPlanError::Protocol { name: name.to_owned() });
        }
        validate::validate(&encoded_plan).map_err(|reason| damaged(reason.to_owned()))?;
        Ok(encoded_plan)
    }
}

#[cfg(test)]
mod tests;
