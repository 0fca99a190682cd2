//! Values with slots: what a variable becomes when its value is made of others.

use serde::{Deserialize, Serialize};

use super::{NotFilled, Rendering, Scope};
use crate::Value;

/// A value that is made when it is wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ValuePattern {
    /// It is always the same.
    Constant(Value),
    /// One slot: its value, with its type.
    Slot(Rendering),
    /// Anything else with slots in it, written as JSON.
    Json(Rendering),
}

impl ValuePattern {
    /// The value of the moment.
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
                Value::of_json_text(&text).map_err(|error| NotFilled::Expression { reason: error.to_string() })
            }
        }
    }

    /// What it is made of, where it is made of something.
    pub(crate) fn rendering(&self) -> Option<&Rendering> {
        match self {
            Self::Constant(_) => None,
            Self::Slot(rendering) | Self::Json(rendering) => Some(rendering),
        }
    }
}
