//! Arguments of searches, sweeps, and capacity estimates.

use super::{KeepArgs, ViewArgs, WatchArgs};
use plan::options;

options! {
    /// The common arguments of searches and sweeps.
    #[derive(Clone, Debug)]
    pub(crate) struct WrapperArgs {
        /// The command line of the load.
        words: Vec<String> = "words";
        keep: KeepArgs;
        watch: WatchArgs;
        view: ViewArgs;
        stop_file: Option<String> = "stop-file";
    }
}

options! {
    /// The arguments of `onrush find-max`.
    #[derive(Clone, Debug)]
    pub(crate) struct FindMaxArgs {
        front: WrapperArgs;
        goals: Vec<String> = "goal";
        vary: Option<String> = "vary";
        budget: Option<String> = "budget";
        trials: Option<String> = "trials";
        from: Option<String> = "start";
        most: Option<String> = "max";
    }
}

options! {
    /// The arguments of `onrush sweep`.
    #[derive(Clone, Debug)]
    pub(crate) struct SweepArgs {
        front: WrapperArgs;
        vary: Vec<String> = "vary";
        repeat: Option<String> = "repeat";
        best: Option<String> = "best";
    }
}

options! {
    /// The arguments of `onrush capacity`, by name.
    #[derive(Clone, Debug)]
    pub(crate) struct CapacityArgs {
        page_views: Option<String> = "page-views";
        per_view: Option<String> = "requests-per-view";
        share: Option<String> = "peak";
        of_a_day: Option<String> = "period";
        rate: Option<String> = "rate";
        per_machine: Option<String> = "per-machine";
        from: Option<String> = "from";
        load: Option<String> = "max-utilization";
        users: Option<String> = "users";
        response: Option<String> = "response";
        think: Option<String> = "think";
        cores: Option<String> = "cores";
        wait: Option<String> = "wait-time";
        compute: Option<String> = "cpu-time";
        response_bytes: Option<String> = "response-bytes";
        connections: Option<String> = "connections";
        connection_bytes: Option<String> = "connection-bytes";
        ports: Option<String> = "ports";
        is_json: bool = "json";
    }
}
