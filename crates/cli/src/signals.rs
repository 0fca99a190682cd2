//! Ctrl-C and SIGTERM: the first asks, the second insists.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Whether the user asked for the end.
#[derive(Clone, Default)]
pub(crate) struct Asked(Arc<AtomicBool>);

impl Asked {
    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Calls `first` at the first signal and `again` at each later one, from a thread of its own.
///
/// # Errors
/// The system refuses the handler.
pub(crate) fn watch(
    first: impl FnOnce() + Send + 'static,
    again: impl Fn() + Send + 'static,
) -> Result<Asked, std::io::Error> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let asked = Asked::default();
    let tell = asked.clone();
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut first = Some(first);
        for _ in signals.forever() {
            tell.0.store(true, Ordering::Relaxed);
            match first.take() {
                Some(first) => first(),
                None => again(),
            }
        }
    })?;
    Ok(asked)
}
