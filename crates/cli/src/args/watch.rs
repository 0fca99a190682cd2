//! Arguments for watching and controlling a run.

use super::FlagValues;

/// Where a run is watched.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchArgs {
    pub(crate) web: bool,
    /// Whether to use the whole terminal.
    pub(crate) screen: bool,
    pub(crate) listen: Option<String>,
}

impl WatchArgs {
    pub(super) fn of(given: &FlagValues) -> Self {
        Self { web: given.has("web"), screen: given.has("screen"), listen: given.text("web-listen") }
    }

    /// Whether the run can be changed while it goes on.
    pub(crate) fn can_change(&self) -> bool {
        self.web || self.screen
    }
}

/// The arguments of `onrush ctl`.
#[derive(Debug)]
pub(crate) struct CtlArgs {
    /// The command, and its values.
    pub(crate) words: Vec<String>,
    /// The URL of the page.
    pub(crate) page: Option<String>,
    pub(crate) over: Option<String>,
    pub(crate) scenario: Option<String>,
    pub(crate) at_once: bool,
}

impl CtlArgs {
    pub(super) fn of(given: &FlagValues) -> Self {
        Self {
            words: given.list("do"),
            page: given.text("page"),
            over: given.text("over"),
            scenario: given.text("scenario"),
            at_once: given.has("at-once"),
        }
    }
}
