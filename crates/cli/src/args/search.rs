//! Arguments of searches, sweeps, and capacity estimates.

use super::{FlagValues, KeepArgs, ViewArgs, WatchArgs};

/// The common arguments of searches and sweeps.
#[derive(Clone, Debug)]
pub(crate) struct WrapperArgs {
    /// The command line of the load.
    pub(crate) words: Vec<String>,
    pub(crate) keep: KeepArgs,
    pub(crate) watch: WatchArgs,
    pub(crate) view: ViewArgs,
    pub(crate) stop_file: Option<String>,
}

impl WrapperArgs {
    fn of(given: &FlagValues) -> Self {
        Self {
            words: given.list("words"),
            keep: KeepArgs::of(given),
            watch: WatchArgs::of(given),
            view: ViewArgs::of(given),
            stop_file: given.text("stop-file"),
        }
    }
}

/// The arguments of `onrush find-max`.
#[derive(Clone, Debug)]
pub(crate) struct FindMaxArgs {
    pub(crate) front: WrapperArgs,
    pub(crate) goals: Vec<String>,
    pub(crate) on: Option<String>,
    pub(crate) budget: Option<String>,
    pub(crate) trials: Option<String>,
    pub(crate) from: Option<String>,
    pub(crate) most: Option<String>,
}

impl FindMaxArgs {
    pub(super) fn of(given: &FlagValues) -> Self {
        Self {
            front: WrapperArgs::of(given),
            goals: given.list("goal"),
            on: given.text("vary"),
            budget: given.text("budget"),
            trials: given.text("trials"),
            from: given.text("start"),
            most: given.text("max"),
        }
    }
}

/// The arguments of `onrush sweep`.
#[derive(Clone, Debug)]
pub(crate) struct SweepArgs {
    pub(crate) front: WrapperArgs,
    pub(crate) vary: Vec<String>,
    pub(crate) repeat: Option<String>,
    pub(crate) best: Option<String>,
}

impl SweepArgs {
    pub(super) fn of(given: &FlagValues) -> Self {
        Self {
            front: WrapperArgs::of(given),
            vary: given.list("vary"),
            repeat: given.text("repeat"),
            best: given.text("best"),
        }
    }
}

/// The arguments of `onrush capacity`, by name.
#[derive(Clone, Debug)]
pub(crate) struct CapacityArgs {
    pub(crate) page_views: Option<String>,
    pub(crate) per_view: Option<String>,
    pub(crate) share: Option<String>,
    pub(crate) of_a_day: Option<String>,
    pub(crate) rate: Option<String>,
    pub(crate) per_machine: Option<String>,
    pub(crate) from: Option<String>,
    pub(crate) load: Option<String>,
    pub(crate) users: Option<String>,
    pub(crate) response: Option<String>,
    pub(crate) think: Option<String>,
    pub(crate) cores: Option<String>,
    pub(crate) wait: Option<String>,
    pub(crate) compute: Option<String>,
    pub(crate) response_bytes: Option<String>,
    pub(crate) connections: Option<String>,
    pub(crate) connection_bytes: Option<String>,
    pub(crate) ports: Option<String>,
    pub(crate) is_json: bool,
}

impl CapacityArgs {
    pub(super) fn of(given: &FlagValues) -> Self {
        Self {
            page_views: given.text("page-views"),
            per_view: given.text("requests-per-view"),
            share: given.text("peak"),
            of_a_day: given.text("period"),
            rate: given.text("rate"),
            per_machine: given.text("per-machine"),
            from: given.text("from"),
            load: given.text("max-utilization"),
            users: given.text("users"),
            response: given.text("response"),
            think: given.text("think"),
            cores: given.text("cores"),
            wait: given.text("wait-time"),
            compute: given.text("cpu-time"),
            response_bytes: given.text("response-bytes"),
            connections: given.text("connections"),
            connection_bytes: given.text("connection-bytes"),
            ports: given.text("ports"),
            is_json: given.has("json"),
        }
    }
}
