//! Memory use of the connections, and the end of opening before memory runs out.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use host::KernelMemory;

use super::{HoldAggregator, MemoryUse, PartMemory, StoppedOpening};

/// Memory left to other processes: a twentieth, but no more than this.
const RESERVE_SHARE: u64 = 20;
const RESERVE_MAX: u64 = 512 * 1024 * 1024;

/// Fluctuation of kernel memory that any machine may have.
const REST_MIN: u64 = 1024 * 1024;
/// Kernel memory of connections is reported when it is this many times the fluctuation.
const REST_TIMES: u64 = 3;

/// Fluctuation of the kernel memory of the whole machine while no connection opens or closes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AtRest {
    /// Connections at the last check, and the kernel memory then.
    last: Option<(u64, u64)>,
    moved: u64,
}

impl AtRest {
    pub(super) fn see(&mut self, open: u64, kernel: Option<u64>) {
        let now = kernel.map(|kernel| (open, kernel));
        if let (Some((was, before)), Some((is, now))) = (self.last, now)
            && was == is
        {
            self.moved = self.moved.max(before.abs_diff(now));
        }
        self.last = now;
    }

    /// The additional kernel memory, unless it is within the fluctuation of the machine at rest.
    pub(super) fn reported(&self, more: Option<u64>) -> Option<u64> {
        more.filter(|more| *more > REST_TIMES * self.moved.max(REST_MIN))
    }
}

/// Memory left to other processes.
pub(super) fn reserve() -> u64 {
    host::memory().map_or(0, |memory| (memory.total / RESERVE_SHARE).min(RESERVE_MAX))
}

impl HoldAggregator {
    /// Checks the machine with `open` connections.
    pub(super) fn look_at_rest(&mut self, open: u64) {
        if !self.is_remote() {
            self.rest.see(open, host::kernel_memory().map(|memory| memory.slab + memory.tcp_buffers));
        }
    }

    pub(super) fn memory_now(&self) -> MemoryUse {
        if self.is_remote() {
            return together(&self.parts);
        }
        let (resident_before, kernel_before) = self.setting.before;
        let more = |now: KernelMemory, before: KernelMemory| {
            (now.slab + now.tcp_buffers).saturating_sub(before.slab + before.tcp_buffers)
        };
        MemoryUse {
            resident: host::resident_bytes().unwrap_or(0),
            resident_before,
            kernel: self.rest.reported(host::kernel_memory().zip(kernel_before).map(|(now, before)| more(now, before))),
            available: host::memory().map(|memory| memory.available),
        }
    }

    /// Stops opening before the kernel would have to kill a process.
    pub(super) fn watch_memory(&mut self) {
        if self.is_remote() || self.opened_after.is_some() || self.stopped_opening.is_some() {
            return;
        }
        let Some(memory) = host::memory() else { return };
        if memory.available < self.reserve {
            self.setting.orders.stops_opening.store(true, Ordering::Relaxed);
            self.setting.stop.wake_all();
            let tried = self.merger.total().counts.tried();
            self.stopped_opening = Some(StoppedOpening { available: memory.available, reserve: self.reserve, tried });
        }
    }
}

/// Memory of the partitions together: each process by itself, the kernel of a machine once.
fn together(parts: &[PartMemory]) -> MemoryUse {
    let mut all = MemoryUse::default();
    let mut machines: BTreeMap<&str, MemoryUse> = BTreeMap::new();
    for PartMemory { memory, machine } in parts {
        all.resident += memory.resident;
        all.resident_before += memory.resident_before;
        let known = machines.entry(machine).or_insert(*memory);
        known.kernel = known.kernel.max(memory.kernel);
        known.available = known.available.min(memory.available);
    }
    let add = |of: fn(&MemoryUse) -> Option<u64>| machines.values().filter_map(of).reduce(|sum, more| sum + more);
    MemoryUse { kernel: add(|memory| memory.kernel), available: add(|memory| memory.available), ..all }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1024 * 1024;

    /// The fluctuation of a machine is no figure of connections.
    #[test]
    fn what_the_machine_does_at_rest_is_not_reported() {
        // Samples: connections and kernel memory; then the additional memory, and whether that is reported.
        type Case<'a> = (&'a [(u64, u64)], u64, bool);
        let cases: [Case<'_>; 9] = [
            (&[], 2 * MIB, false),
            (&[], 4 * MIB, true),
            (&[(0, 100 * MIB), (100, 102 * MIB)], 2 * MIB, false),
            // A hundred connections on a machine whose kernel memory moves by 2 MiB: 25,661 bytes for each would be its
            // figure.
            (&[(100, 100 * MIB), (100, 102 * MIB), (100, 101 * MIB)], 2_566_100, false),
            (&[(100, 100 * MIB), (100, 102 * MIB)], 6 * MIB, false),
            (&[(100, 100 * MIB), (100, 102 * MIB)], 7 * MIB, true),
            // While connections are opened, the change is theirs.
            (&[(0, 100 * MIB), (1_000, 110 * MIB), (2_000, 120 * MIB)], 20 * MIB, true),
            (&[(2_000, 120 * MIB), (2_000, 110 * MIB), (2_000, 110 * MIB)], 20 * MIB, false),
            (&[(1_000_000, 9_000 * MIB), (1_000_000, 9_040 * MIB)], 9_000 * MIB, true),
        ];
        for (looks, more, is_reported) in cases {
            let mut rest = AtRest::default();
            looks.iter().for_each(|(open, kernel)| rest.see(*open, Some(*kernel)));
            assert_eq!(rest.reported(Some(more)), is_reported.then_some(more), "{looks:?} {more}");
            assert_eq!(rest.reported(None), None);
        }
        // A single missing kernel figure is no change.
        let mut rest = AtRest::default();
        [Some(100 * MIB), None, Some(200 * MIB)].into_iter().for_each(|kernel| rest.see(5, kernel));
        assert_eq!(rest.reported(Some(4 * MIB)), Some(4 * MIB));
    }
}
