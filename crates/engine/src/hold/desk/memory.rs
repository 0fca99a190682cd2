//! What the connections take of memory, and the end of opening before it runs out.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use host::KernelMemory;

use super::{HoldDesk, MemoryUse, PartMemory, StoppedOpening};

/// So much of the memory is left to others: a twentieth, but no more than this.
const RESERVE_SHARE: u64 = 20;
const RESERVE_MAX: u64 = 512 * 1024 * 1024;

/// What is left to others.
pub(super) fn reserve() -> u64 {
    host::memory().map_or(0, |memory| (memory.total / RESERVE_SHARE).min(RESERVE_MAX))
}

impl HoldDesk {
    pub(super) fn memory_now(&self) -> MemoryUse {
        if self.is_afar() {
            return together(&self.parts);
        }
        let (resident_before, kernel_before) = self.setting.before;
        let more = |now: KernelMemory, before: KernelMemory| {
            (now.slab + now.tcp_buffers).saturating_sub(before.slab + before.tcp_buffers)
        };
        MemoryUse {
            resident: host::resident_bytes().unwrap_or(0),
            resident_before,
            kernel: host::kernel_memory().zip(kernel_before).map(|(now, before)| more(now, before)),
            available: host::memory().map(|memory| memory.available),
        }
    }

    /// Stops opening before the kernel would have to kill somebody.
    pub(super) fn watch_memory(&mut self) {
        if self.is_afar() || self.opened_after.is_some() || self.stopped_opening.is_some() {
            return;
        }
        let Some(memory) = host::memory() else { return };
        if memory.available < self.reserve {
            self.setting.orders.stops_opening.store(true, Ordering::Relaxed);
            self.setting.stop.wake_all();
            let tried = self.total.counts.tried();
            self.stopped_opening = Some(StoppedOpening { available: memory.available, reserve: self.reserve, tried });
        }
    }
}

/// What parts take together: processes each for itself, the kernel of a machine once.
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
