//! Values with slots, for variables that are made from others.

use serde::{Deserialize, Serialize};

use super::{NotFilled, Rendering, Scope};
use crate::Value;

/// A value that is computed on demand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ValuePattern {
    /// A constant.
    Constant(Value),
    /// One slot: its value, with its type.
    Slot(Rendering),
    /// Any other value with slots, written as JSON.
    Json(Rendering),
}

impl ValuePattern {
    /// The current value.
    ///
    /// # Errors
    /// As [`Rendering::fill`].
    pub fn value(&self, scope: &mut impl Scope) -> Result<Value, NotFilled> {
        match self {
            Self::Constant(value) => Ok(value.clone()),
            Self::Slot(rendering) => rendering.value(scope),
            Self::Json(rendering) => {
                let mut text = Vec::new();
                rendering.fill(scope, &mut text)?;
                Value::from_json_text(&text).map_err(|error| NotFilled::Expression { reason: error.to_string() })
            }
        }
    }

    /// Its rendering, if it has one.
    #[inline]
    pub(crate) fn rendering(&self) -> Option<&Rendering> {
        match self {
            Self::Constant(_) => None,
            Self::Slot(rendering) | Self::Json(rendering) => Some(rendering),
        }
    }
}
