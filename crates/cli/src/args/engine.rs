//! Arguments of the engine: threads and workers of a load.

use super::{DriverArgs, FlagValues};

/// The arguments of the engine.
#[derive(Clone, Debug, Default)]
pub(crate) struct EngineArgs {
    pub(crate) threads: Option<String>,
    pub(crate) pin_threads: bool,
    pub(crate) driver: DriverArgs,
    /// The number of local worker processes, and what happens when some are lost.
    pub(crate) workers: Option<String>,
    /// The bus of workers on other machines.
    pub(crate) cluster: Option<String>,
    /// Machines where workers are started, and the ssh command.
    pub(crate) hosts: Option<String>,
    pub(crate) ssh: Option<String>,
    pub(crate) on_worker_loss: Option<String>,
    pub(crate) min_workers: Option<String>,
    /// Whether to stand by and take over another leader's load.
    pub(crate) standby: bool,
    /// The folder of journals.
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
