//! Bugs that tests plant into the engine, to see that the checkers find them.

use std::cell::Cell;

/// A bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    /// The end of an exchange is counted nowhere, and its user hears nothing.
    LostCompletion,
    /// The end of an exchange is counted twice.
    DoubleCount,
    /// An exchange ends, and its attempt stays in the slab.
    LeakedSlot,
    /// What a late shard saw goes to the interval that is shown next.
    LateSnapshotLast,
    /// The users of an interval are those of two.
    GaugeAdded,
    /// A stall is late to one tick.
    StallOneTick,
    /// What did not end is counted, and has no time.
    UnfinishedHasNoTime,
    /// A request that the server took goes out again.
    RetriesWhatWasTaken,
}

thread_local! {
    static PLANTED: Cell<Option<(Bug, u32)>> = const { Cell::new(None) };
}

/// The bug strikes once, the `nth` time that its place is passed on this thread.
pub(crate) fn plant(bug: Option<Bug>, nth: u32) {
    PLANTED.set(bug.map(|bug| (bug, nth)));
}

/// Whether the bug strikes here and now.
pub(crate) fn strikes(bug: Bug) -> bool {
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
