//! Redirect state of a step: the redirects that led to it, and those that it follows.

use pacing::Nanos;
use plan::{ChainPosition, Follow};

/// What a step needs to follow a response.
pub(crate) struct RedirectState {
    pub(in crate::scenario_runtime) follow: Follow,
    /// Its location.
    pub(in crate::scenario_runtime) at: ChainPosition,
    /// Hops before this one.
    pub(in crate::scenario_runtime) hops: u32,
    /// When the first was intended; never, for the first itself.
    pub(in crate::scenario_runtime) began: Nanos,
    /// The responses that led here, one line each, where they are shown: the last ones.
    pub(in crate::scenario_runtime) way: Vec<String>,
}

impl RedirectState {
    /// The responses that led to this request, and the request; empty when no redirect led to it.
    pub(in crate::scenario_runtime) fn reported(&self) -> Vec<String> {
        if self.hops == 0 {
            return Vec::new();
        }
        self.way.iter().cloned().chain([self.at.reported().chars().take(WAY_LINE_CHARS_MAX).collect()]).collect()
    }
}

/// Most lines of a redirect chain that are kept.
pub(in crate::scenario_runtime) const WAY_MAX: usize = 50;
/// The longest line of a redirect chain.
pub(in crate::scenario_runtime) const WAY_LINE_CHARS_MAX: usize = 1_000;
