//! Steps that several places share.

use super::{Json, Name, Step};

/// Steps that are done wherever they are called.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragment {
    /// Its name.
    pub name: Name,
    /// Its arguments, in order, with their defaults; `None`: each call gives it.
    pub args: Vec<(Name, Option<Json>)>,
    /// The steps in sequence.
    pub steps: Vec<Step>,
}
