//! Arguments for watching and controlling a run.

use plan::options;

options! {
    /// Where a run is watched.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct WatchArgs {
        web: bool = "web";
        /// Whether to use the whole terminal.
        screen: bool = "screen";
        listen: Option<String> = "web-listen";
    }
}

impl WatchArgs {
    /// Whether the run can be changed while it goes on.
    pub(crate) fn can_change(&self) -> bool {
        self.web || self.screen
    }
}

options! {
    /// The arguments of `onrush ctl`.
    #[derive(Debug)]
    pub(crate) struct CtlArgs {
        /// The command, and its values.
        words: Vec<String> = "do";
        /// The URL of the page.
        page: Option<String> = "page";
        over: Option<String> = "over";
        scenario: Option<String> = "scenario";
        at_once: bool = "at-once";
    }
}
