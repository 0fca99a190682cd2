//! Arguments of `onrush worker` and `onrush bus`.

use super::EngineArgs;
use plan::options;

options! {
    /// The arguments of `onrush worker`.
    #[derive(Debug)]
    pub(crate) struct WorkerArgs {
        join: Option<String> = "join";
        name: Option<String> = "name";
        allow: Vec<String> = "allow-host";
        is_quiet: bool = "quiet";
        engine: EngineArgs;
    }
}

options! {
    /// The arguments of `onrush bus`.
    #[derive(Debug, Default)]
    pub(crate) struct BusArgs {
        listen: Option<String> = "listen";
        name: Option<String> = "name";
        dir: Option<String> = "dir";
        cert: Option<String> = "cert";
        key: Option<String> = "key";
        cacert: Option<String> = "cacert";
    }
}
