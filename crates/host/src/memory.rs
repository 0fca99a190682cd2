//! Memory of this machine, and the kernel's share of it for sockets.

use std::path::PathBuf;

/// Total and available memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Total memory for processes: of the machine, or of the control group that limits this process.
    pub total: u64,
    /// Memory that can still be allocated before the kernel kills a process.
    pub available: u64,
}

/// The memory available to this process; `None` where the system does not report it.
pub fn memory() -> Option<Memory> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let machine = Memory { total: kilobytes(&text, "MemTotal:")?, available: kilobytes(&text, "MemAvailable:")? };
    Some(match group() {
        Some(group) if group.total < machine.total => {
            Memory { total: group.total, available: group.available.min(machine.available) }
        }
        _ => machine,
    })
}

/// Kernel memory of sockets and of the structures around them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelMemory {
    /// All of its small objects, sockets among them.
    pub slab: u64,
    /// Bytes in the buffers of TCP.
    pub tcp_buffers: u64,
}

/// Current kernel memory; `None` where the system does not report it.
pub fn kernel_memory() -> Option<KernelMemory> {
    let slab = kilobytes(&std::fs::read_to_string("/proc/meminfo").ok()?, "Slab:")?;
    let sockets = std::fs::read_to_string("/proc/net/sockstat").ok()?;
    Some(KernelMemory { slab, tcp_buffers: tcp_pages(&sockets)? * PAGE_BYTES })
}

/// The kernel counts the buffers of sockets in pages.
pub const PAGE_BYTES: u64 = 4_096;

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|count| count * 1_024)
}

fn tcp_pages(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("TCP:"))?;
    let mut words = line.split_whitespace();
    words.find(|word| *word == "mem")?;
    words.next()?.parse().ok()
}

/// The tightest limit of the control groups around this process.
fn group() -> Option<Memory> {
    let text = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let number = |path: PathBuf| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let of = |dir: &PathBuf, limit: &str, used: &str| {
        let (total, used) = (number(dir.join(limit))?, number(dir.join(used))?);
        // Inactive file pages can be reclaimed.
        let statistics = std::fs::read_to_string(dir.join("memory.stat")).unwrap_or_default();
        let of_files = |line: &str| line.strip_prefix("inactive_file ").and_then(|count| count.trim().parse().ok());
        let files: u64 = statistics.lines().find_map(of_files).unwrap_or(0);
        Some(Memory { total, available: total.saturating_sub(used.saturating_sub(files)) })
    };
    let mut narrowest: Option<Memory> = None;
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(kinds), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, limit, used) = match kinds {
            "" => ("/sys/fs/cgroup", "memory.max", "memory.current"),
            "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
            _ => continue,
        };
        let mut dir = PathBuf::from(root).join(path.trim_start_matches('/'));
        while dir.starts_with(root) {
            if let Some(found) = of(&dir, limit, used)
                && narrowest.is_none_or(|known| found.available < known.available)
            {
                narrowest = Some(found);
            }
            if !dir.pop() {
                break;
            }
        }
    }
    narrowest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_tells() {
        let memory = memory().expect("a system with /proc");
        assert!(memory.available > 0 && memory.available <= memory.total, "{memory:?}");
        assert!(kernel_memory().expect("a system with /proc").slab > 0);
    }

    #[test]
    fn tables_are_read() {
        let sockets = "sockets: used 5\nTCP: inuse 7 orphan 0 tw 9 alloc 8 mem 61\nUDP: inuse 1 mem 3\n";
        assert_eq!(tcp_pages(sockets), Some(61));
        assert_eq!(kilobytes("MemTotal:  10 kB\nSlab:   3 kB\n", "Slab:"), Some(3_072));
    }
}
