//! Errors in a file of URLs.

/// An error in a file of URLs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlsFault {
    /// There is no URL in it.
    #[error("there is no URL in it; write one a line, as: GET http://127.0.0.1:8080/")]
    Empty,
    /// There are too many URLs.
    #[error(
        "there are more than {most} URLs; for more, take paths from a data file in a scenario file (get: /${{paths.path}})"
    )]
    TooMany {
        /// [`crate::URLS_MAX`].
        most: usize,
    },
    /// A method without a URL.
    #[error("{method} is followed by no URL; write: {method} http://127.0.0.1:8080/")]
    NoUrl {
        /// As written.
        method: String,
    },
    /// A path without a base URL.
    #[error("'{path}' is a path; name the server too: onrush --urls FILE http://127.0.0.1:8080")]
    Relative {
        /// As written.
        path: String,
    },
    /// A word that may be a path or a server.
    #[error("'{word}' has no slash before it; write /{word} for a path of {base}, or http://{word} for another server")]
    NoSlash {
        /// As written.
        word: String,
        /// The server of all paths.
        base: String,
    },
    /// A URL of another protocol.
    #[error("'{url}' is no URL of HTTP; --urls takes http:// and https://")]
    NotHttp {
        /// As written, without a password.
        url: String,
    },
    /// The file is not text.
    #[error("it is not UTF-8 text; convert it with: iconv -t UTF-8")]
    NotText,
}
