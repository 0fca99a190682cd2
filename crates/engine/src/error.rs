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
    Afar(Box<dyn std::error::Error + Send + Sync>),
}
