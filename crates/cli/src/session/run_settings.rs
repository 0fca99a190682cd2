//! The settings of a load besides its plan.

use engine::ProbeOption;
use metrics::Threshold;
use plan::{Plan, TargetPolicy};

use crate::options::args::WatchArgs;
use crate::session::artifacts::ArtifactOptions;
use crate::session::dashboards;
use crate::session::exporting::ExportOptions;
use crate::session::recovered_run::RecoveredRun;
use crate::session::request_log::Tracing;

/// The settings of a load besides its plan.
#[derive(Default)]
pub(crate) struct RunSettings {
    pub(crate) thresholds: Vec<Threshold>,
    pub(crate) is_strict: bool,
    pub(crate) hdr_file: Option<String>,
    pub(crate) keep: ArtifactOptions,
    pub(crate) exports: ExportOptions,
    /// Whether one exchange is shown, without a load.
    pub(crate) is_debug: bool,
    pub(crate) shows_failures: bool,
    pub(crate) with_secrets: bool,
    /// The file that ends the load when it appears.
    pub(crate) stop_file: Option<String>,
    /// The options of the request log.
    pub(crate) tracing: Tracing,
    /// Whether each request has a `traceparent` header.
    pub(crate) names_traces: bool,
    /// The scenario file, as it was read.
    pub(crate) file: Option<String>,
    pub(crate) watch: WatchArgs,
    /// Whether the load grows as far as its target sustains it.
    pub(crate) grows: bool,
    /// Hosts with the user's consent.
    pub(crate) consents: Vec<String>,
    /// Whether half of the users go on when a load is over.
    pub(crate) probe: ProbeOption,
    /// A recovered run.
    pub(crate) past: Option<RecoveredRun>,
}

impl RunSettings {
    /// Adds thresholds of a file to those of the command line.
    pub(crate) fn add_thresholds(&mut self, more: impl IntoIterator<Item = Threshold>) {
        self.thresholds.extend(more);
    }

    /// Sets the scenario file that is kept with the run. `hide`: redacts secrets by name.
    pub(crate) fn apply_file(&mut self, text: &str, hide: impl Fn(&str) -> String) {
        self.file = Some(if self.with_secrets { text.to_owned() } else { hide(text) });
    }

    /// Adds hosts that a file consents to.
    pub(crate) fn consents(&mut self, hosts: &[String]) {
        self.consents.extend_from_slice(hosts);
    }

    /// The plan for the consent question: a load that can be changed while it runs counts as a large one.
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

    /// The settings of a load without outputs, and of a debug exchange.
    pub(crate) fn for_debug(is_debug: bool) -> Self {
        Self { is_debug, ..Self::default() }
    }
}
