//! Errors of names: of variables, data, columns, scenarios, steps.

use std::fmt;

use super::said_meant;

/// An error of a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    /// An invalid name.
    #[error("'{0}' cannot be a name here; use letters, digits and _, and no word of JavaScript")]
    Bad(String),
    /// A reserved name.
    #[error("'env' is the environment of the process; choose another name")]
    Environment,
    /// A name that two things have.
    #[error("'{name}' is the name of something else already, in line {line}; choose another one")]
    Twice {
        /// The name.
        name: String,
        /// The line of the other.
        line: usize,
    },
    /// A variable common to all users depends on one that is per user.
    #[error("'{0}' is another one for each user, and this variable is the same for all; move it to 'per_user'")]
    OfUser(String),
    /// A name without a definition.
    #[error("nothing is called '{name}'{}", .near.as_ref().map_or_else(|| "; add it to vars or data, or take it from an answer".to_owned(), |near| format!("; did you mean '{near}'?")))]
    Unknown {
        /// The name.
        name: String,
        /// The name that is probably meant.
        near: Option<String>,
    },
    /// A name that is used before it has a value.
    #[error("'{name}' has no value yet here; it is taken in line {line}, not before this step")]
    Later {
        /// The name.
        name: String,
        /// The line in which it is extracted.
        line: usize,
    },
    /// A name that another scenario extracts.
    #[error(
        "'{name}' is taken in scenario '{scenario}', and users of another one do not have it; take it here, or in 'setup'"
    )]
    Elsewhere {
        /// The name.
        name: String,
        /// The scenario that extracts it.
        scenario: String,
    },
    /// No such column; the fields of the file seem to have another separator.
    #[error(
        "'{set}' has no column '{column}': its first line is '{line}', cut at {cut}; if its fields are cut by {sign}, say so: separator: \"{sign}\""
    )]
    Separator {
        /// The data.
        set: String,
        /// The column.
        column: String,
        /// The first line.
        line: String,
        /// The separator that was used.
        cut: &'static str,
        /// The separator that the file probably uses.
        sign: &'static str,
    },
    /// No such column, and the first line looks like a row.
    #[error(
        "'{set}' has no column '{column}': the first line of its file names its columns, and is: {line}; if that is a row already, name them: columns: [{column}, ...]"
    )]
    Headless {
        /// The data.
        set: String,
        /// The column.
        column: String,
        /// The first line.
        line: String,
    },
    /// No such column.
    #[error("'{set}' has no column '{column}'; it has: {known}{}", said_meant(.near.as_ref()))]
    Column {
        /// The data.
        set: String,
        /// The column.
        column: String,
        /// The column that is probably meant.
        near: Option<String>,
        /// The known columns.
        known: String,
    },
    /// A whole row in the place of a single value.
    #[error("'{0}' is a row of data; write which column, like ${{{0}.name}}")]
    Row(String),
    /// Variables that depend on each other in a cycle.
    #[error("these variables are made of each other, so none has a value: {0}; give one of them a value of its own")]
    Cycle(String),
    /// A threshold on an unknown name.
    #[error("no transaction, step or scenario is called '{name}'{}", said_meant(.near.as_ref()))]
    Series {
        /// The name.
        name: String,
        /// The name that is probably meant.
        near: Option<String>,
    },
    /// Barrier steps of one name with different numbers of users, or different times.
    #[error("'{name}' has other 'users' or another 'within' in line {line}; write the same, or choose another name")]
    Barrier {
        /// The name.
        name: String,
        /// The line of the other.
        line: usize,
    },
}

/// A loop, by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopWord {
    /// The condition is checked after the steps.
    Until,
    /// The condition is checked before the steps.
    While,
}

impl fmt::Display for LoopWord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Until => "'until'",
            Self::While => "'while'",
        })
    }
}
