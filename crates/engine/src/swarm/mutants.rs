//! Bugs that tests inject into the engine, to check that the checkers find them.

use std::cell::Cell;

/// An injected bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    /// The end of an exchange is counted nowhere, and its user is not notified.
    LostCompletion,
    /// The end of an exchange is counted twice.
    DoubleCount,
    /// An exchange ends, and its attempt stays in the slab.
    LeakedSlot,
    /// What a late shard saw is added to the interval that is shown next.
    LateSnapshotLast,
    /// The users of an interval are those of two.
    GaugeAdded,
    /// A stall is late for one tick only.
    StallOneTick,
    /// An incomplete exchange is counted, and has no time.
    UnfinishedHasNoTime,
    /// A request that the server has taken is sent again.
    RetriesWhatWasTaken,
}

thread_local! {
    static PLANTED: Cell<Option<(Bug, u32)>> = const { Cell::new(None) };
}

/// Injects a bug that strikes once, the `nth` time that its place is passed on this thread.
pub(crate) fn inject(bug: Option<Bug>, nth: u32) {
    PLANTED.set(bug.map(|bug| (bug, nth)));
}

/// Whether the bug strikes here and now.
pub(crate) fn fault_injected(bug: Bug) -> bool {
    match PLANTED.get() {
        Some((planted, 1)) if planted == bug => {
            PLANTED.set(None);
            true
        }
        Some((planted, left)) if planted == bug => {
            PLANTED.set(Some((planted, left - 1)));
            false
        }
        _ => false,
    }
}
