//! What is wanted of a load beside its plan.

use engine::ProbeOption;
use metrics::Threshold;
use plan::{Plan, TargetPolicy};

use crate::args::WatchArgs;
use crate::artifacts::ArtifactOptions;
use crate::dashboards;
use crate::exporting::ExportOptions;
use crate::recovered_run::RecoveredRun;
use crate::request_log::Tracing;

/// What is wanted of a load beside its plan.
#[derive(Default)]
pub(crate) struct RunSettings {
    pub(crate) thresholds: Vec<Threshold>,
    pub(crate) is_strict: bool,
    pub(crate) hdr_file: Option<String>,
    pub(crate) keep: ArtifactOptions,
    pub(crate) exports: ExportOptions,
    /// One exchange is shown, and no load follows.
    pub(crate) is_debug: bool,
    pub(crate) shows_failures: bool,
    pub(crate) with_secrets: bool,
    /// The load ends when it comes.
    pub(crate) stop_file: Option<String>,
    /// Exchanges that are shown one by one.
    pub(crate) tracing: Tracing,
    /// Each request names a trace.
    pub(crate) names_traces: bool,
    /// The scenario file, as it was read.
    pub(crate) file: Option<String>,
    pub(crate) watch: WatchArgs,
    /// The load grows as far as its target follows.
    pub(crate) grows: bool,
    /// Whom somebody has consented to load.
    pub(crate) consents: Vec<String>,
    /// Whether half of the users go on when a load is over.
    pub(crate) probe: ProbeOption,
    /// The run is over, and is put together again.
    pub(crate) past: Option<RecoveredRun>,
}

impl RunSettings {
    /// Thresholds of a file beside those of the command line.
    pub(crate) fn add_thresholds(&mut self, more: impl IntoIterator<Item = Threshold>) {
        self.thresholds.extend(more);
    }

    /// The scenario file that is kept with the run. `hide`: of what is secret by its name.
    pub(crate) fn of_file(&mut self, text: &str, hide: impl Fn(&str) -> String) {
        self.file = Some(if self.with_secrets { text.to_owned() } else { hide(text) });
    }

    /// Hosts that a file names as consented to.
    pub(crate) fn consents(&mut self, hosts: &[String]) {
        self.consents.extend_from_slice(hosts);
    }

    /// A load that can be made larger while it runs is asked for as a large one.
    pub(crate) fn requested_for(&self, plan: Plan) -> Plan {
        let can_grow = (self.grows || self.watch.can_change() || dashboards::is_shown()) && !self.is_debug;
        if !can_grow || plan.wants_consent() {
            return plan;
        }
        plan.reaching(&TargetPolicy::Near(self.consents.clone().into()))
    }

    pub(crate) fn is_debug(&self) -> bool {
        self.is_debug
    }

    /// Nothing but, perhaps, one exchange to look at.
    pub(crate) fn of_debug(is_debug: bool) -> Self {
        Self { is_debug, ..Self::default() }
    }
}
