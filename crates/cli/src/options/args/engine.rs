//! Arguments of the engine: threads and workers of a load.

use super::DriverArgs;
use plan::options;

options! {
    /// The arguments of the engine.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct EngineArgs {
        threads: Option<String> = "threads";
        pin_threads: bool = "pin-threads";
        driver: DriverArgs;
        /// The number of local worker processes, and what happens when some are lost.
        workers: Option<String> = "workers";
        /// The bus of workers on other machines.
        cluster: Option<String> = "cluster";
        /// Machines where workers are started, and the ssh command.
        hosts: Option<String> = "hosts";
        ssh: Option<String> = "ssh";
        on_worker_loss: Option<String> = "on-worker-loss";
        min_workers: Option<String> = "min-workers";
        /// Whether to stand by and take over another leader's load.
        standby: bool = "standby";
        /// The folder of journals.
        journal: Option<String> = "journal";
    }
}
