//! Errors of the engine.

/// Why a run could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The kernel provides no poller, no thread or no memory.
    #[error("the engine cannot work on this system: {0}; raise its limits (ulimit -n, memory) or lower --threads")]
    System(#[from] std::io::Error),
    /// Addresses of the load cannot be used.
    #[error(transparent)]
    Places(#[from] crate::PlacesError),
    /// A thread could not be bound to a core.
    #[error("a thread could not be pinned to core {core}: {reason}; run without --pin-threads")]
    Pin {
        /// Index of the core.
        core: usize,
        /// Error of the system.
        reason: std::io::Error,
    },
    /// A plan has expressions, and there is no evaluator.
    #[error("the plan has expressions, and this build has no JavaScript; build it with --features script")]
    NoInterpreter,
    /// An expression is invalid.
    #[error("an expression cannot be used: {reason}")]
    Expression {
        /// Error of the interpreter.
        reason: String,
    },
    /// The remote workers cannot carry it out.
    #[error(transparent)]
    RemoteBackend(#[from] BackendFault),
}

/// Why remote workers cannot carry out a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackendFault {
    /// Too few workers joined.
    #[error(
        "{there} of {wanted} workers are there after {waited_s} s; start more of them, or ask for fewer with --workers"
    )]
    TooFew {
        /// Workers that joined.
        there: usize,
        /// Workers required.
        wanted: usize,
        /// How long the run waited for them.
        waited_s: u64,
    },
    /// Some workers did not become ready.
    #[error("{unready} of {of} workers did not get ready in time; look at what they print, and start them again")]
    Unready {
        /// Workers that did not become ready.
        unready: usize,
        /// All workers.
        of: usize,
    },
    /// A worker has another version.
    #[error("worker {worker} is onrush {theirs} and this one is {ours}; use the same version everywhere")]
    Version {
        /// Name of the worker.
        worker: String,
        /// Version of the worker.
        theirs: String,
        /// Version of this program.
        ours: String,
    },
    /// A worker is not allowed to load the target.
    #[error("worker {worker} may not load {target}, only {allowed}; start it with --allow-host {target} if it should")]
    Target {
        /// Name of the worker.
        worker: String,
        /// The target that it may not load.
        target: String,
        /// Targets that it allows.
        allowed: String,
    },
    /// A worker has another plan than it should.
    #[error("worker {worker} cannot use the plan: {reason}; run it again, with the same version everywhere")]
    Plan {
        /// Name of the worker.
        worker: String,
        /// Reason given by the worker.
        reason: String,
    },
    /// A worker cannot get the plan.
    #[error(
        "worker {worker} cannot get the plan: it is not on the bus, or cannot be read there; run it again, and leave what the cluster keeps there alone"
    )]
    Missing {
        /// Name of the worker.
        worker: String,
    },
    /// A worker received a different plan.
    #[error(
        "worker {worker} got something else than this plan: its hash is another; run it again, and look who else writes to the bus"
    )]
    Damaged {
        /// Name of the worker.
        worker: String,
    },
    /// The clock offset of a worker could not be measured.
    #[error("worker {worker} got too few answers to tell the time; look at the network between it and the bus")]
    Clock {
        /// Name of the worker.
        worker: String,
    },
    /// The machine of a worker refuses what the load needs.
    #[error("worker {worker} cannot carry out its part: {reason}")]
    System {
        /// Name of the worker.
        worker: String,
        /// Error of the worker.
        reason: String,
    },
    /// Workers do not support this.
    #[error("{what} cannot be divided over workers; run it without --workers")]
    Undivided {
        /// Name of the feature.
        what: &'static str,
    },
    /// The bus cannot be used.
    #[error("the bus of the workers cannot be used: {reason}")]
    Bus {
        /// Reason.
        reason: String,
    },
    /// There is no leader of a run that could be taken over.
    #[error(
        "after {waited_s} s nobody on the bus leads a run of this load; start it there with the same command, without --standby"
    )]
    NoRun {
        /// How long the standby waited.
        waited_s: u64,
    },
    /// Another leader has taken the run over.
    #[error("this one was out of reach, and another onrush has taken the run over (--standby); the report is there")]
    Replaced,
    /// The run that was to be taken over is over.
    #[error("the leader has ended the run, and has its report")]
    Elsewhere,
    /// It was stopped before it began.
    #[error("stopped before the load began, so nothing was measured")]
    Stopped,
}
