//! What can be wrong with names: of variables, data, columns, scenarios, steps.

use std::fmt;

use super::said_meant;

/// What is wrong with a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    /// It cannot be one.
    #[error("'{0}' cannot be a name here; use letters, digits and _, and no word of JavaScript")]
    Bad(String),
    /// It means something already.
    #[error("'env' is the environment of the process; choose another name")]
    Environment,
    /// Two things have it.
    #[error("'{name}' is the name of something else already, in line {line}; choose another one")]
    Twice {
        /// The name.
        name: String,
        /// Where the other is.
        line: usize,
    },
    /// A variable of all users is made of one that each user has for itself.
    #[error("'{0}' is another one for each user, and this variable is the same for all; move it to 'per_user'")]
    OfUser(String),
    /// Nobody gives it a value.
    #[error("nothing is called '{name}'{}", .near.as_ref().map_or_else(|| "; add it to vars or data, or take it from an answer".to_owned(), |near| format!("; did you mean '{near}'?")))]
    Unknown {
        /// The name.
        name: String,
        /// The one that is probably meant.
        near: Option<String>,
    },
    /// It gets its value too late.
    #[error("'{name}' has no value yet here; it is taken in line {line}, not before this step")]
    Later {
        /// The name.
        name: String,
        /// Where it is taken.
        line: usize,
    },
    /// Another scenario takes it.
    #[error(
        "'{name}' is taken in scenario '{scenario}', and users of another one do not have it; take it here, or in 'setup'"
    )]
    Elsewhere {
        /// The name.
        name: String,
        /// Who takes it.
        scenario: String,
    },
    /// No such column, and the file looks as if its fields were cut by something else.
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
        /// What it was cut at.
        cut: &'static str,
        /// What it is probably cut by.
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
        /// The one that is probably meant.
        near: Option<String>,
        /// Those that there are.
        known: String,
    },
    /// A whole row where one value belongs.
    #[error("'{0}' is a row of data; write which column, like ${{{0}.name}}")]
    Row(String),
    /// Variables that are made of each other.
    #[error("these variables are made of each other, so none has a value: {0}; give one of them a value of its own")]
    Cycle(String),
    /// A threshold of nothing.
    #[error("no transaction, step or scenario is called '{name}'{}", said_meant(.near.as_ref()))]
    Series {
        /// The name.
        name: String,
        /// The one that is probably meant.
        near: Option<String>,
    },
    /// Users that wait for different numbers of others at one place, or for different times.
    #[error("'{name}' has other 'users' or another 'within' in line {line}; write the same, or choose another name")]
    Barrier {
        /// The name.
        name: String,
        /// Where the other is.
        line: usize,
    },
}

/// A loop, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopWord {
    /// Its condition is looked at after its steps.
    Until,
    /// Its condition is looked at before its steps.
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
