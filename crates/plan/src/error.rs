//! What can be wrong with a plan: what, where, and the remedy.

/// The user's words do not make a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// There is no URL.
    #[error("no URL given; try: onrush http://127.0.0.1:8080/ (or: onrush demo)")]
    NoUrl,
    /// The URL cannot be understood.
    #[error("'{url}' is not a URL ({reason}); write it like http://127.0.0.1:8080/path")]
    Url {
        /// As given.
        url: String,
        /// What the parser says.
        reason: String,
    },
    /// The scheme is none that is known.
    #[error("'{url}' has the unknown scheme '{scheme}'; use http://")]
    Scheme {
        /// As given.
        url: String,
        /// The part before the colon.
        scheme: String,
    },
    /// A scheme that is understood but not built in.
    #[error("{scheme}:// is not built into this version; only http:// is")]
    SchemeNotBuilt {
        /// The part before the colon.
        scheme: String,
    },
    /// The URL holds a name and a password.
    #[error("'{url}' holds a name or password; send them with -H 'Authorization: ...' instead")]
    Credentials {
        /// Without the password.
        url: String,
    },
    /// A header without a colon.
    #[error("the header '{header}' has no colon; write it like -H 'Name: value'")]
    HeaderColon {
        /// As given.
        header: String,
    },
    /// A header whose name is no token.
    #[error("the header '{header}' has no valid name before its colon; write it like -H 'Name: value'")]
    HeaderName {
        /// As given.
        header: String,
    },
    /// A header value with a control character.
    #[error("the value of the header '{header}' holds a line end or another control character; remove it")]
    HeaderValue {
        /// As given, made visible.
        header: String,
    },
    /// A body of which the head says another length, or that HTTP/1.0 or chunks would frame differently.
    #[error("the header '{header}' would contradict the body; leave it out, onrush writes it")]
    HeaderFraming {
        /// As given.
        header: String,
    },
    /// A method that is no token.
    #[error("'{method}' is not a method; write a word like GET or POST after -X")]
    Method {
        /// As given.
        method: String,
    },
    /// A file that cannot be read.
    #[error("cannot read the file '{path}' given to {flag}: {reason}; check the path after the @")]
    File {
        /// The flag that names it.
        flag: &'static str,
        /// As given.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// A file that is larger than a request body may be.
    #[error("the file '{path}' is larger than {limit} bytes, the most that a request carries")]
    FileTooLarge {
        /// As given.
        path: String,
        /// [`crate::REQUEST_BODY_BYTES_MAX`].
        limit: u64,
    },
    /// Not a whole number, or out of its range.
    #[error("{flag} wants a whole number from {least} to {most}, not '{value}'")]
    Number {
        /// The flag.
        flag: &'static str,
        /// As given.
        value: String,
        /// The smallest that makes sense.
        least: u64,
        /// The largest that is supported.
        most: u64,
    },
    /// Not a span of time.
    #[error("{flag} wants a time like 500ms, 10s, 2m or 1h30m, at most 3650d, not '{value}'")]
    Duration {
        /// The flag.
        flag: &'static str,
        /// As given.
        value: String,
    },
    /// A span of time below its least.
    #[error("{flag} wants at least {least}, not '{value}'")]
    DurationTooShort {
        /// The flag.
        flag: &'static str,
        /// As given.
        value: String,
        /// The smallest that makes sense.
        least: &'static str,
    },
    /// Not a set of statuses.
    #[error("--expect-status wants statuses and ranges like 200,300-399, not '{value}'")]
    Statuses {
        /// As given.
        value: String,
    },
}
