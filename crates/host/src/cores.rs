//! The cores that this process may use.

use std::path::Path;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores that the process may run on, limited to the CPU quota of its cgroup in whole cores. Never empty.
pub fn allowed_cores() -> Vec<usize> {
    let mut cores: Vec<usize> = match sched_getaffinity(None) {
        Ok(set) => (0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect(),
        Err(_) => (0..std::thread::available_parallelism().map_or(1, usize::from)).collect(),
    };
    if let Some(quota) = cgroup_quota(Path::new("/sys/fs/cgroup"), &own_cgroup()) {
        // A quota of 1.5 cores is served by two threads; less than one core still needs one.
        cores.truncate((quota.ceil() as usize).max(1));
    }
    if cores.is_empty() { vec![0] } else { cores }
}

/// Binds the calling thread to one core.
///
/// # Errors
/// The kernel refuses the core.
pub fn pin_to_core(core: usize) -> Result<(), std::io::Error> {
    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set)?)
}

fn own_cgroup() -> String {
    let text = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/").trim_start_matches('/').to_owned()
}

/// The tightest CPU quota from the process's cgroup up to the root, in cores.
fn cgroup_quota(root: &Path, own: &str) -> Option<f64> {
    let mut narrowest: Option<f64> = None;
    let mut folder = root.join(own);
    loop {
        for quota in [read_v2(&folder), read_v1(&folder)].into_iter().flatten() {
            narrowest = Some(narrowest.map_or(quota, |other: f64| other.min(quota)));
        }
        if folder == root || !folder.pop() {
            break;
        }
    }
    if let Some(quota) = read_v1(&root.join("cpu")) {
        narrowest = Some(narrowest.map_or(quota, |other: f64| other.min(quota)));
    }
    narrowest
}

/// `cpu.max` of cgroup v2: `QUOTA PERIOD`, or `max PERIOD` for no limit.
fn read_v2(folder: &Path) -> Option<f64> {
    let text = std::fs::read_to_string(folder.join("cpu.max")).ok()?;
    let (quota, period) = text.trim().split_once(' ')?;
    ratio(quota, period)
}

fn read_v1(folder: &Path) -> Option<f64> {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    ratio(read("cpu.cfs_quota_us")?.trim(), read("cpu.cfs_period_us")?.trim())
}

fn ratio(quota: &str, period: &str) -> Option<f64> {
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_quota_counts() {
        let root = std::env::temp_dir().join(format!("onrush-cgroup-{}", std::process::id()));
        let inner = root.join("a/b");
        std::fs::create_dir_all(&inner).expect("a folder");
        std::fs::write(inner.join("cpu.max"), "max 100000\n").expect("a file");
        std::fs::write(root.join("a/cpu.max"), "150000 100000\n").expect("a file");
        assert_eq!(cgroup_quota(&root, "a/b"), Some(1.5));
        assert_eq!(cgroup_quota(&root, ""), None);
        std::fs::remove_dir_all(&root).expect("the folder goes");
    }

    #[test]
    fn there_is_at_least_one_core() {
        assert!(!allowed_cores().is_empty());
    }
}
