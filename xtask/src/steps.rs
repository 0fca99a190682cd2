//! Wall and CPU time of the steps of a command.

use std::time::Instant;

use crate::{Failure, processes};

/// A line for each completed step.
#[derive(Default)]
pub(crate) struct Steps(Vec<String>);

impl Steps {
    /// Runs a step, which waits for all processes that it starts.
    pub(crate) fn run<T>(&mut self, name: &str, run: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        let (begun, before) = (Instant::now(), processes::cpu_time_of_ended_children());
        let done = run();
        let cpu = processes::cpu_time_of_ended_children() - before;
        let failed = if done.is_err() { ", failed" } else { "" };
        self.0.push(format!("{name}: {:.1} s, CPU {:.1} s{failed}", begun.elapsed().as_secs_f64(), cpu.as_secs_f64()));
        done.map_err(|failure| format!("{name}: {failure}"))
    }

    pub(crate) fn print(&self) {
        self.0.iter().for_each(|line| println!("{line}"));
    }
}
