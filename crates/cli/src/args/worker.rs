//! Arguments of `onrush worker` and `onrush bus`.

use super::{EngineArgs, FlagValues};

/// The arguments of `onrush worker`.
#[derive(Debug)]
pub(crate) struct WorkerArgs {
    pub(crate) join: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) allow: Vec<String>,
    pub(crate) is_quiet: bool,
    pub(crate) engine: EngineArgs,
}

impl WorkerArgs {
    pub(super) fn of(given: &FlagValues) -> Self {
        Self {
            join: given.text("join"),
            name: given.text("name"),
            allow: given.list("allow-host"),
            is_quiet: given.has("quiet"),
            engine: EngineArgs::of(given),
        }
    }
}

/// The arguments of `onrush bus`.
#[derive(Debug, Default)]
pub(crate) struct BusArgs {
    pub(crate) listen: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) dir: Option<String>,
    pub(crate) cert: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) cacert: Option<String>,
}

impl BusArgs {
    pub(super) fn of(given: &FlagValues) -> Self {
        Self {
            listen: given.text("listen"),
            name: given.text("name"),
            dir: given.text("dir"),
            cert: given.text("cert"),
            key: given.text("key"),
            cacert: given.text("cacert"),
        }
    }
}
