//! Who carries a load out, as the command line has it.

use super::{DriverArgs, FlagValues};

/// Who carries a load out.
#[derive(Clone, Debug, Default)]
pub(crate) struct EngineArgs {
    pub(crate) threads: Option<String>,
    pub(crate) pin_threads: bool,
    pub(crate) driver: DriverArgs,
    /// Processes that carry out the load together, and what becomes of it when some are lost.
    pub(crate) workers: Option<String>,
    /// The bus of workers on other machines.
    pub(crate) cluster: Option<String>,
    /// Machines where workers are started, and how one gets there.
    pub(crate) hosts: Option<String>,
    pub(crate) ssh: Option<String>,
    pub(crate) on_worker_loss: Option<String>,
    pub(crate) min_workers: Option<String>,
    /// It takes over what somebody else leads.
    pub(crate) standby: bool,
    /// Where what is told on a bus is kept.
    pub(crate) journal: Option<String>,
}

impl EngineArgs {
    pub(super) fn of(given: &FlagValues) -> Self {
        Self {
            threads: given.text("threads"),
            pin_threads: given.has("pin-threads"),
            driver: DriverArgs::of(given),
            workers: given.text("workers"),
            cluster: given.text("cluster"),
            hosts: given.text("hosts"),
            ssh: given.text("ssh"),
            on_worker_loss: given.text("on-worker-loss"),
            min_workers: given.text("min-workers"),
            standby: given.has("standby"),
            journal: given.text("journal"),
        }
    }
}
