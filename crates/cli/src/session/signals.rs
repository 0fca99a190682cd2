//! Ctrl-C, SIGTERM and SIGHUP: the first requests a stop, a second Ctrl-C or SIGTERM forces it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Whether the user requested a stop.
#[derive(Clone, Default)]
pub(crate) struct StopRequest(Arc<AtomicBool>);

impl StopRequest {
    pub(crate) fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Calls `first` at the first signal and `again` at each later one, from a thread of its own. A closing terminal sends
/// SIGHUP more than once (from the shell, and then from the kernel), so SIGHUP requests and never forces.
///
/// # Errors
/// The system refuses the handler.
pub(crate) fn watch(
    first: impl FnOnce() + Send + 'static,
    again: impl Fn() + Send + 'static,
) -> Result<StopRequest, std::io::Error> {
    let mut ends = vec![SIGINT, SIGTERM];
    // With `nohup`, the program is meant to outlive the terminal.
    if !is_ignored(SIGHUP) {
        ends.push(SIGHUP);
    }
    let mut signals = Signals::new(ends)?;
    let requested = StopRequest::default();
    let notify = requested.clone();
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut first = Some(first);
        while !signals.is_closed() {
            // Simultaneous signals are delivered in the order of their numbers: they count as one request.
            let came: Vec<i32> = signals.wait().collect();
            if came.is_empty() {
                continue;
            }
            notify.0.store(true, Ordering::Relaxed);
            match first.take() {
                Some(first) => first(),
                None if came.iter().all(|signal| *signal == SIGHUP) => {}
                None => again(),
            }
        }
    })?;
    Ok(requested)
}

/// Raises the signal of Ctrl-C.
///
/// # Errors
/// The system refuses the signal.
pub(crate) fn interrupt() -> Result<(), std::io::Error> {
    signal_hook::low_level::raise(SIGINT)
}

/// Whether the process was started with this signal ignored.
fn is_ignored(signal: i32) -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| is_in_mask(&status, signal))
}

/// The line `SigIgn` of a status has one bit for each signal, in hexadecimal; the lowest is that of signal 1.
fn is_in_mask(status: &str, signal: i32) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::{SIGHUP, SIGINT, SIGTERM, is_in_mask};

    #[test]
    fn ignored_signals_are_read_from_the_mask() {
        let status = |mask: &str| format!("Name:\tonrush\nSigBlk:\tffffffffffffffff\nSigIgn:\t{mask}\nSigCgt:\t0\n");
        for (mask, hangup, interrupt, terminate) in [
            ("0000000000000000", false, false, false),
            ("0000000000000001", true, false, false),
            ("0000000000001000", false, false, false),
            ("0000000000001001", true, false, false),
            ("0000000000000003", true, true, false),
            ("0000000000004002", false, true, true),
            ("fffffffffffffffe", false, true, true),
            ("", false, false, false),
            ("no mask", false, false, false),
        ] {
            let status = status(mask);
            let seen = [SIGHUP, SIGINT, SIGTERM].map(|signal| is_in_mask(&status, signal));
            assert_eq!(seen, [hangup, interrupt, terminate], "{mask}");
        }
        assert!(!is_in_mask("", SIGHUP));
    }
}
