//! What a step sets of a user's state: variables and cookies.

use serde::{Deserialize, Serialize};

use crate::ValuePattern;

/// A variable that is set, or another piece of a user's state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// What is set.
    pub to: AssignedTo,
    /// Its name: of a variable for messages, of a cookie as it is sent.
    pub name: String,
    /// Its value, with its type.
    pub value: ValuePattern,
}

impl Assignment {
    /// The number of the variable, if it sets one.
    pub fn variable(&self) -> Option<u32> {
        match self.to {
            AssignedTo::Variable(variable) => Some(variable),
            AssignedTo::Cookie { .. } | AssignedTo::NoCookies => None,
        }
    }
}

/// What an assignment sets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AssignedTo {
    /// The variable of this number.
    Variable(u32),
    /// A cookie, for all paths of a host.
    Cookie {
        /// The host in lower case, without a port.
        host: String,
        /// Whether it is reached by TLS.
        is_tls: bool,
    },
    /// No value is set: all cookies are removed.
    NoCookies,
}
