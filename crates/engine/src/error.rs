//! Why the engine cannot work.

/// Why a run could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The kernel gives no poller, no thread or no memory.
    #[error("the engine cannot work on this system: {0}; raise its limits (ulimit -n, memory) or lower --threads")]
    System(#[from] std::io::Error),
    /// Connections cannot come from where they should.
    #[error(transparent)]
    Places(#[from] crate::PlacesError),
    /// A thread could not be bound to a core.
    #[error("a thread could not be pinned to core {core}: {reason}; run without --pin-threads")]
    Pin {
        /// The core.
        core: usize,
        /// What the system says.
        reason: std::io::Error,
    },
    /// A plan has expressions, and nobody evaluates them.
    #[error("the plan has expressions, and this build has no JavaScript; build it with --features script")]
    NoInterpreter,
    /// An expression is none.
    #[error("an expression cannot be used: {reason}")]
    Expression {
        /// What the interpreter says.
        reason: String,
    },
    /// Those who should carry it out do not.
    #[error(transparent)]
    RemoteBackend(#[from] BackendFault),
}

/// Why those who should carry out a run do not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackendFault {
    /// Too few are there.
    #[error(
        "{there} of {wanted} workers are there after {waited_s} s; start more of them, or ask for fewer with --workers"
    )]
    TooFew {
        /// So many.
        there: usize,
        /// So many are wanted.
        wanted: usize,
        /// How long they were waited for.
        waited_s: u64,
    },
    /// Some did not get ready.
    #[error("{unready} of {of} workers did not get ready in time; look at what they print, and start them again")]
    Unready {
        /// So many.
        unready: usize,
        /// Of so many.
        of: usize,
    },
    /// One is of another version.
    #[error("worker {worker} is onrush {theirs} and this one is {ours}; use the same version everywhere")]
    Version {
        /// What it is called.
        worker: String,
        /// Its version.
        theirs: String,
        /// Ours.
        ours: String,
    },
    /// One may not load the target.
    #[error("worker {worker} may not load {target}, only {allowed}; start it with --allow-host {target} if it should")]
    Target {
        /// What it is called.
        worker: String,
        /// The target.
        target: String,
        /// What it may load.
        allowed: String,
    },
    /// One has another plan than it should.
    #[error("worker {worker} cannot use the plan: {reason}; run it again, with the same version everywhere")]
    Plan {
        /// What it is called.
        worker: String,
        /// What it found.
        reason: String,
    },
    /// One cannot get the plan.
    #[error(
        "worker {worker} cannot get the plan: it is not on the bus, or cannot be read there; run it again, and leave what the cluster keeps there alone"
    )]
    Missing {
        /// What it is called.
        worker: String,
    },
    /// One got another plan.
    #[error(
        "worker {worker} got something else than this plan: its hash is another; run it again, and look who else writes to the bus"
    )]
    Damaged {
        /// What it is called.
        worker: String,
    },
    /// One could not tell the time.
    #[error("worker {worker} got too few answers to tell the time; look at the network between it and the bus")]
    Clock {
        /// What it is called.
        worker: String,
    },
    /// The machine of one refuses what the load needs.
    #[error("worker {worker} cannot carry out its part: {reason}")]
    System {
        /// What it is called.
        worker: String,
        /// What it says.
        reason: String,
    },
    /// Workers cannot do this.
    #[error("{what} cannot be divided over workers; run it without --workers")]
    Undivided {
        /// What.
        what: &'static str,
    },
    /// The bus cannot be used.
    #[error("the bus of the workers cannot be used: {reason}")]
    Bus {
        /// Why.
        reason: String,
    },
    /// Nobody leads a run that could be taken over.
    #[error(
        "after {waited_s} s nobody on the bus leads a run of this load; start it there with the same command, without --standby"
    )]
    NoRun {
        /// How long it was waited for.
        waited_s: u64,
    },
    /// Somebody else has taken the run over.
    #[error("this one was out of reach, and another onrush has taken the run over (--standby); the report is there")]
    Replaced,
    /// The run that was to be taken over is over.
    #[error("whoever led the run has ended it, and has its report")]
    Elsewhere,
    /// It was stopped before it began.
    #[error("stopped before the load began, so nothing was measured")]
    Stopped,
}
