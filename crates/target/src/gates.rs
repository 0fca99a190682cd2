//! Gates: a request for `/gate/NAME` waits until a client opens the gate with `POST /gate/NAME/open`.
//!
//! All threads of a server share them. A thread takes the lock for requests of gates only; for all others it reads one
//! number, [`Gates::openings`], which shows whether there are requests to answer.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// The longest name of a gate.
pub(crate) const GATE_NAME_BYTES_MAX: usize = 32;
/// Maximum number of known gates: those that are open, and those with waiting requests.
const GATES_MAX: usize = 1_024;

/// The name of a gate: letters, digits, `-`, `_` and `.`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GateName {
    /// The name, padded with zeros.
    bytes: [u8; GATE_NAME_BYTES_MAX],
}

impl GateName {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if text.is_empty() || !text.bytes().all(is_plain) {
            return None;
        }
        let mut bytes = [0; GATE_NAME_BYTES_MAX];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Self { bytes })
    }
}

/// The operation of a request on a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GateAction {
    /// Waits until it is open.
    Pass,
    /// Opens it. It stays open.
    Open,
    /// Returns the number of waiting requests.
    Count,
}

#[derive(Debug, Default)]
struct GateState {
    is_open: AtomicBool,
    /// Requests that were not answered yet.
    waiting: AtomicU64,
}

/// A request that waits at a gate. It is counted as long as this value exists, so a closed connection is no longer
/// counted.
#[derive(Debug)]
pub(crate) struct GateWaiter(Arc<GateState>);

impl GateWaiter {
    fn new(gate: &Arc<GateState>) -> Self {
        gate.waiting.fetch_add(1, Ordering::Relaxed);
        Self(gate.clone())
    }

    /// Whether the gate is open.
    pub(crate) fn is_over(&self) -> bool {
        self.0.is_open.load(Ordering::Acquire)
    }
}

impl Drop for GateWaiter {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The result of entering a gate.
#[derive(Debug)]
pub(crate) enum GateEntry {
    IsOpen,
    Waits(GateWaiter),
    /// The server has [`GATES_MAX`] other gates.
    NoRoom,
}

/// The gates of a server.
#[derive(Default)]
pub(crate) struct Gates {
    known: Mutex<BTreeMap<GateName, Arc<GateState>>>,
    openings: AtomicU64,
}

impl Gates {
    /// Enters a request at a gate.
    pub(crate) fn enter(&self, name: GateName) -> GateEntry {
        match gate_of(&mut self.lock(), name) {
            Some(gate) if gate.is_open.load(Ordering::Relaxed) => GateEntry::IsOpen,
            Some(gate) => GateEntry::Waits(GateWaiter::new(gate)),
            None => GateEntry::NoRoom,
        }
    }

    /// Opens a gate: returns how many requests waited; `None` when there is no room for it. The caller then wakes the
    /// threads.
    pub(crate) fn open(&self, name: GateName) -> Option<u64> {
        let mut known = self.lock();
        let gate = gate_of(&mut known, name)?;
        // Under the lock: later requests find it open, earlier ones are found by the number of openings.
        let was_open = gate.is_open.swap(true, Ordering::Release);
        let waiting = if was_open { 0 } else { gate.waiting.load(Ordering::Relaxed) };
        self.openings.fetch_add(1, Ordering::Release);
        Some(waiting)
    }

    /// Number of waiting requests; zero at an open gate.
    pub(crate) fn waiting(&self, name: GateName) -> u64 {
        let known = self.lock();
        let closed = known.get(&name).filter(|gate| !gate.is_open.load(Ordering::Relaxed));
        closed.map_or(0, |gate| gate.waiting.load(Ordering::Relaxed))
    }

    /// Number of gate openings so far. When it has changed, each thread looks for waiting requests that it can answer.
    #[inline]
    pub(crate) fn openings(&self) -> u64 {
        self.openings.load(Ordering::Acquire)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<GateName, Arc<GateState>>> {
        self.known.lock().expect("no holder of the lock panics")
    }
}

/// The gate of a name, created if it is new and there is room.
fn gate_of(known: &mut BTreeMap<GateName, Arc<GateState>>, name: GateName) -> Option<&Arc<GateState>> {
    if known.len() >= GATES_MAX && !known.contains_key(&name) {
        // Closed gates without waiting requests are equivalent to new ones.
        known.retain(|_, gate| gate.is_open.load(Ordering::Relaxed) || gate.waiting.load(Ordering::Relaxed) > 0);
        if known.len() >= GATES_MAX {
            return None;
        }
    }
    Some(known.entry(name).or_default())
}

#[cfg(test)]
mod tests;
