//! Process information of the kernel: descendants, and CPU times.

use std::collections::HashMap;
use std::time::Duration;

/// Environment variable with the name of the test, inherited by all processes that it starts.
pub(crate) const TEST_VARIABLE: &str = "XTASK_TEST";

/// The unit of CPU times in `/proc`: USER_HZ, which is the same on every Linux of today.
const TICK: Duration = Duration::from_millis(10);

/// A running process.
pub(crate) struct Process {
    pub(crate) pid: i32,
}

impl Process {
    /// A readable line: number, command, and the test that started it.
    pub(crate) fn reported(&self) -> String {
        let read = |file: &str| std::fs::read(format!("/proc/{}/{file}", self.pid)).unwrap_or_default();
        let command = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
        let environment = String::from_utf8_lossy(&read("environ")).into_owned();
        let prefix = format!("{TEST_VARIABLE}=");
        let test = environment.split('\0').find_map(|pair| pair.strip_prefix(&prefix));
        format!("  {} {} (test: {})", self.pid, command.trim(), test.unwrap_or("not known"))
    }
}

/// The fields of `/proc/PID/stat` after the name, which may contain anything: the first is the state.
fn stat(pid: i32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

/// All running descendants of a process.
pub(crate) fn descendants(of: i32) -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let mut children: HashMap<i32, Vec<(i32, bool)>> = HashMap::new();
    for pid in numbers {
        let Some(fields) = stat(pid) else { continue };
        let (Some(state), Some(parent)) = (fields.first(), fields.get(1).and_then(|field| field.parse().ok())) else {
            continue;
        };
        children.entry(parent).or_default().push((pid, state == "Z" || state == "X"));
    }
    let (mut found, mut open) = (Vec::new(), vec![of]);
    while let Some(parent) = open.pop() {
        for (pid, has_ended) in children.remove(&parent).unwrap_or_default() {
            open.push(pid);
            if !has_ended {
                found.push(Process { pid });
            }
        }
    }
    found
}

/// CPU time, user and system, of a process that has ended but was not reaped, and of those that it waited for.
pub(crate) fn cpu_time(pid: i32) -> Duration {
    sum_of_ticks(pid, 11, 4)
}

/// The sum of ticks of `utime`, `stime`, `cutime`, `cstime`, which are fields 11 to 14 after the name.
fn sum_of_ticks(pid: i32, first: usize, count: usize) -> Duration {
    let fields = stat(pid).unwrap_or_default();
    let ticks: u64 = fields.iter().skip(first).take(count).filter_map(|field| field.parse::<u64>().ok()).sum();
    TICK * u32::try_from(ticks).unwrap_or(u32::MAX)
}

/// CPU time of the reaped children of this process, and of those that they waited for.
pub(crate) fn cpu_time_of_ended_children() -> Duration {
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    sum_of_ticks(own, 13, 2)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_child_descends_until_it_ends() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat");
        let pid = i32::try_from(child.id()).expect("a process number");
        let own = i32::try_from(std::process::id()).expect("a process number");
        assert!(descendants(own).iter().any(|process| process.pid == pid));
        drop(child.stdin.take());
        child.wait().expect("it ends with its input");
        assert!(descendants(own).iter().all(|process| process.pid != pid));
    }
}
