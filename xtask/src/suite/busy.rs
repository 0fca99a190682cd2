//! A disturbed machine: programs that use all cores, one that writes to the disk and syncs, and one that repeatedly
//! stops the process groups of tests. A test that passes on a quiet machine passes here, with as many assertions.

use std::io::{Seek, Write};
use std::process::{Child, Command};
use std::time::Duration;

use rustix::process::Signal;

use super::programs;
use super::runner::Running;
use crate::Failure;

/// Busy loops per core.
const SPINNERS_PER_CORE: usize = 2;
/// Bytes that are written and synced repeatedly.
const WRITTEN_BYTES: usize = 64 << 20;
/// Interval in which tests are stopped once, at a drawn instant.
const ROUND: Duration = Duration::from_secs(1);
/// Time for which tests are stopped.
const STOPPED: Duration = Duration::from_millis(300);

/// Busy loops that run until the value is dropped.
pub(crate) struct Spinners(Vec<Child>);

impl Spinners {
    pub(crate) fn start() -> Result<Self, Failure> {
        let one = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let spinners = (0..SPINNERS_PER_CORE * cores).map(|_| one()).collect::<Result<_, _>>();
        Ok(Self(spinners.map_err(|error| format!("sh does not start: {error}"))?))
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have ended by itself; then there is nothing to end.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Writes and syncs until all tests are over.
pub(crate) fn write_and_sync(running: &Running) -> Result<(), Failure> {
    let path = programs::folder()?.join("busy.bin");
    let reported = |error: std::io::Error| format!("{}: {error}", path.display());
    let (mut file, piece) = (std::fs::File::create(&path).map_err(reported)?, vec![0x5a; 1 << 20]);
    while !running.is_over() {
        file.rewind().map_err(reported)?;
        for _ in 0..WRITTEN_BYTES / piece.len() {
            file.write_all(&piece).map_err(reported)?;
        }
        file.sync_all().map_err(reported)?;
    }
    std::fs::remove_file(&path).map_err(reported)
}

/// Stops all tests at drawn instants until they are over.
pub(crate) fn steal(running: &Running, seed: u64) {
    let mut state = seed;
    while !running.is_over() {
        let before = Duration::from_millis(draw(&mut state) % (ROUND - STOPPED).as_millis() as u64);
        std::thread::sleep(before);
        let groups = running.groups();
        groups.iter().for_each(|group| running.signal(*group, Signal::STOP));
        std::thread::sleep(STOPPED);
        groups.iter().for_each(|group| running.signal(*group, Signal::CONT));
        std::thread::sleep(ROUND - STOPPED - before);
    }
}

/// A step of SplitMix64.
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
