//! CPU time and memory used by this process.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTime {
    /// In user code.
    pub user_ns: u64,
    /// In the kernel on our behalf.
    pub system_ns: u64,
}

impl CpuTime {
    /// The sum of both.
    pub fn total_ns(self) -> u64 {
        self.user_ns + self.system_ns
    }

    /// The sum of two CPU times.
    pub fn plus(self, other: Self) -> Self {
        Self { user_ns: self.user_ns + other.user_ns, system_ns: self.system_ns + other.system_ns }
    }

    /// The CPU time since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
        }
    }
}

/// CPU time of the whole process until now. The split into user and system is as coarse as the kernel's tick.
pub fn process_cpu_time() -> CpuTime {
    let total_ns = read_clock(ClockId::ProcessCPUTime);
    let user_share = user_share().unwrap_or(1.0);
    let user_ns = (total_ns as f64 * user_share) as u64;
    CpuTime { user_ns, system_ns: total_ns - user_ns.min(total_ns) }
}

/// CPU ticks of all programs together on the cores that this process may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineTime {
    /// Busy ticks of the cores, for any program.
    busy: u64,
    /// All ticks.
    all: u64,
}

impl MachineTime {
    /// The busy share of the cores since `earlier`; `None` where no tick has passed.
    pub fn busy_share_since(self, earlier: Self) -> Option<f64> {
        let all = self.all.saturating_sub(earlier.all);
        (all > 0).then(|| self.busy.saturating_sub(earlier.busy) as f64 / all as f64)
    }
}

/// CPU ticks until now; `None` where the kernel does not report them.
pub fn machine_time() -> Option<MachineTime> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    machine_time_of(&text, &crate::allowed_cores())
}

/// CPU ticks from the kernel's lines, which count user, nice, system, idle, iowait, irq, softirq and steal.
fn machine_time_of(text: &str, cores: &[usize]) -> Option<MachineTime> {
    let of_core = |line: &str| {
        let mut fields = line.strip_prefix("cpu")?.split_whitespace();
        let core: usize = fields.next()?.parse().ok()?;
        let ticks: Vec<u64> = fields.take(8).map_while(|field| field.parse().ok()).collect();
        let idle = ticks.get(3)? + ticks.get(4).unwrap_or(&0);
        let all = ticks.iter().sum::<u64>();
        cores.contains(&core).then_some(MachineTime { busy: all - idle, all })
    };
    text.lines()
        .filter_map(of_core)
        .reduce(|sum, core| MachineTime { busy: sum.busy + core.busy, all: sum.all + core.all })
}

/// CPU time of the calling thread until now.
pub fn thread_cpu_ns() -> u64 {
    read_clock(ClockId::ThreadCPUTime)
}

/// Time that the calling thread was runnable without a core, until now; `None` where the kernel does not report it.
pub fn thread_run_delay_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

/// Resident memory of this process; `None` where the kernel does not report it.
pub fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// CPU time and memory of another process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// CPU time, as coarse as the kernel's tick.
    pub cpu: Duration,
    /// Resident memory.
    pub resident_bytes: u64,
}

/// The usage of another process; `None` when there is none with this number.
pub fn spent_of(pid: u32) -> Option<ProcessUsage> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |place: usize| fields.get(place)?.parse::<u64>().ok();
    let ticks = field(11)? + field(12)?;
    let cpu = Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64);
    Some(ProcessUsage { cpu, resident_bytes: field(21)? * rustix::param::page_size() as u64 })
}

fn read_clock(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Fields 14 and 15 of /proc/self/stat, counted after the name, which may contain blanks.
fn user_share() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let (user, system): (f64, f64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    (user + system > 0.0).then(|| user / (user + system))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cores_that_may_be_used_are_counted() {
        let text = "cpu  9 9 9 9\ncpu0 10 0 10 70 10 0 0 0 5 0\ncpu1 40 0 40 10 0 5 5 0 0 0\ncpu2 1 1 1 1\nintr 5\n";
        let both = machine_time_of(text, &[0, 1]).expect("two cores");
        assert_eq!(both, MachineTime { busy: 20 + 90, all: 200 });
        assert_eq!(machine_time_of(text, &[7]), None);
        let later = MachineTime { busy: both.busy + 30, all: both.all + 40 };
        assert_eq!((later.busy_share_since(both), both.busy_share_since(both)), (Some(0.75), None));
        // The actual values of this machine are plausible.
        assert!(machine_time().is_none_or(|time| time.all >= time.busy));
    }
}
