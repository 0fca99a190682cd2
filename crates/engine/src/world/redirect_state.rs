//! What a step knows of the redirects that led to it, and of those that it follows.

use pacing::Nanos;
use plan::{At, Follow};

/// What a step needs to follow an answer.
pub(crate) struct RedirectState {
    pub(super) follow: Follow,
    /// Where it is.
    pub(super) at: At,
    /// Hops before it.
    pub(super) hops: u32,
    /// When the first was intended; never, of that one.
    pub(super) began: Nanos,
    /// The answers that led here, one line each, where they are shown: the last ones.
    pub(super) way: Vec<String>,
}

impl RedirectState {
    /// The way to this request, and the request; nothing of one that no redirect led to.
    pub(super) fn reported(&self) -> Vec<String> {
        if self.hops == 0 {
            return Vec::new();
        }
        self.way.iter().cloned().chain([self.at.reported().chars().take(WAY_LINE_CHARS_MAX).collect()]).collect()
    }
}

/// Lines of a way that are kept.
pub(super) const WAY_MAX: usize = 50;
/// The longest line of a way.
pub(super) const WAY_LINE_CHARS_MAX: usize = 1_000;
