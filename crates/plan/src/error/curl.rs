//! Errors in a curl command.

use super::PlanError;

/// An error in a curl command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CurlFault {
    /// An unterminated quote.
    #[error("the quote {quote} does not end; close it, or write it as \\{quote}")]
    Quote {
        /// The opening quote.
        quote: &'static str,
    },
    /// Syntax that needs a running shell.
    #[error("'{what}' needs a running shell, and nothing is run here; write what it stands for")]
    Shell {
        /// As written.
        what: String,
    },
    /// A command of another program.
    #[error("'{word}' is not curl; only curl commands are understood here, take the rest out")]
    NotCurl {
        /// Its name.
        word: String,
    },
    /// The command is empty.
    #[error("there is no curl command in it; write one for each line, like: curl http://127.0.0.1:8080/")]
    Empty,
    /// There are too many.
    #[error("there are more than {most} commands and URLs; take fewer")]
    TooMany {
        /// The limit.
        most: usize,
    },
    /// A flag that curl does not have, or that is not known here.
    #[error("the flag {flag} of curl is not known here; leave it out, or see the list in docs/come-as-you-are.md")]
    Unknown {
        /// As written.
        flag: String,
    },
    /// An ambiguous abbreviation of a flag.
    #[error("the flag {flag} may be {one} or {other}; write it out")]
    Ambiguous {
        /// As written.
        flag: String,
        /// One of them.
        one: &'static str,
        /// Another.
        other: &'static str,
    },
    /// A flag without its value.
    #[error("the flag {flag} of curl wants a value behind it; add it")]
    NoValue {
        /// As written.
        flag: String,
    },
    /// An invalid value.
    #[error("the flag {flag} of curl wants {wanted}, not '{value}'")]
    Value {
        /// The flag.
        flag: &'static str,
        /// As given.
        value: String,
        /// The expected form.
        wanted: &'static str,
    },
    /// A command without a URL.
    #[error("the curl command has no URL; add one, like: curl http://127.0.0.1:8080/")]
    NoUrl,
    /// A proxy.
    #[error("{flag}: a load does not go through a proxy yet; leave it out, and the load goes to the target itself")]
    Proxy {
        /// The flag.
        flag: &'static str,
    },
    /// A jar for cookies of responses.
    #[error("{flag}: cookies of answers are not kept yet; leave it out, and write cookies with -b 'name=value'")]
    Jar {
        /// The flag.
        flag: &'static str,
    },
    /// An unsupported authentication method.
    #[error("{flag}: this way of authentication is not known here; use -u name:password, --oauth2-bearer or -H")]
    Auth {
        /// The flag.
        flag: &'static str,
    },
    /// A flag without a meaning for a load that would change what is sent.
    #[error("{flag} of curl has no counterpart in a load; leave it out")]
    Refused {
        /// The flag.
        flag: &'static str,
    },
    /// Braces and brackets of which curl makes no URLs.
    #[error(
        "'{url}' has braces or brackets that cannot be read; write {{a,b}} or [1-9], or add -g to mean them as they are"
    )]
    Glob {
        /// As written.
        url: String,
    },
    /// Two ways to choose a method.
    #[error("{one} and {other} cannot both be there; leave one out")]
    Conflict {
        /// A flag.
        one: &'static str,
        /// Another.
        other: &'static str,
    },
    /// Bytes that are not text.
    #[error("the value of {flag} is no UTF-8; save the file as UTF-8")]
    NotText {
        /// The flag.
        flag: String,
    },
    /// Text that a browser copies for another program.
    #[error("this is {what}, not curl; choose \"Copy as cURL (bash)\" in the browser")]
    Foreign {
        /// The program.
        what: &'static str,
    },
    /// Text with two bytes per character.
    #[error(
        "the file is UTF-16; save it as UTF-8, or choose \"Copy as cURL (bash)\" in the browser and paste it into a new file"
    )]
    Wide,
    /// A body of unknown length with HTTP/1.0.
    #[error(
        "HTTP/1.0 knows no chunks, and no length is said; leave -0 out, or give -T a file and no Transfer-Encoding"
    )]
    Chunks10,
    /// What would be left out of a body is all of it.
    #[error("-C {from} leaves nothing of the {length} bytes that are to be sent; name fewer, or leave -C out")]
    Resumed {
        /// Bytes that are left out.
        from: u64,
        /// Bytes of the body.
        length: u64,
    },
    /// What onrush speaks, though not by a command of curl.
    #[error("a curl command is for http:// and https:// here; for {scheme}:// leave out the word curl: onrush {url}")]
    OtherLoad {
        /// As written, without secrets.
        url: String,
        /// Its scheme.
        scheme: String,
    },
    /// A password that would have to be asked for.
    #[error("-u wants name:password here, since nobody is asked; write name: for an empty password")]
    NoPassword,
}

/// A fault at its line.
pub(crate) fn at(line: usize, fault: CurlFault) -> PlanError {
    PlanError::Curl { line, fault: Box::new(fault) }
}

/// The position of an error, as the beginning of a message.
pub(super) fn line_before(line: usize) -> String {
    if line == 0 { "curl: ".to_owned() } else { format!("line {line}: ") }
}

impl PlanError {
    /// The same error at its line.
    #[must_use]
    pub fn at_line(self, line: usize) -> Self {
        match self {
            Self::Curl { .. } | Self::AtLine { .. } => self,
            inner => Self::AtLine { line, inner: Box::new(inner) },
        }
    }

    /// The same error in a file.
    #[must_use]
    pub fn in_file(self, path: &str) -> Self {
        Self::InFile { path: path.to_owned(), inner: Box::new(self) }
    }

    /// The same error for a form, where the user wrote no curl command.
    #[must_use]
    pub(crate) fn of_form(self) -> Self {
        match self {
            Self::AtLine { line: 0, inner } => *inner,
            Self::Curl { line: 0, fault } => match *fault {
                CurlFault::Value { value, wanted, .. } => Self::FormPart { value, wanted },
                fault => Self::Curl { line: 0, fault: Box::new(fault) },
            },
            other => other,
        }
    }
}
