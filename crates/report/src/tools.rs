//! Output in the formats of other load generators, with our figures, so that scripts that parse it keep working.
//!
//! Where a figure of a tool is known to mislead, the true one replaces it, and one line says so.

mod ab;
mod gostress;
mod hey;
mod messages;
mod oha;
mod webbench;
mod wrk;

use figures::{FailureCount, Interval, Run, Tally};
use metrics::{Class, Distribution, Measure, Outcome, Stage, Timings};
use plan::{Settings, ToolRun};

use crate::Language;
pub use messages::{tool_fault, tool_note};

/// The output of a tool view.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pages {
    /// Output for programs that parse it.
    pub stdout: String,
    /// Output for the user.
    pub stderr: String,
    /// Files, by their paths.
    pub files: Vec<(String, String)>,
}

/// The output of a tool, as the run goes on.
#[derive(Debug)]
pub struct ToolView<'a> {
    run: &'a ToolRun,
    /// For each interval: its seconds and the number of completions in it.
    rates: Vec<(f64, u64)>,
    /// The last reported progress.
    reported: u64,
}

impl<'a> ToolView<'a> {
    /// A view before the start.
    pub fn new(run: &'a ToolRun) -> Self {
        Self { run, rates: Vec::new(), reported: 0 }
    }

    /// The output before the load.
    pub fn begin(&self) -> Pages {
        match &self.run.settings {
            Settings::Wrk(settings) => wrk::begin(settings),
            Settings::Ab(settings) => ab::begin(settings),
            Settings::Webbench(settings) => webbench::begin(settings),
            Settings::GoStress(settings) => gostress::begin(settings),
            Settings::Hey(_) | Settings::Oha(_) => Pages::default(),
        }
    }

    /// The output after an interval.
    pub fn interval(&mut self, interval: &Interval) -> Pages {
        // An update of a reported interval is no row of a tool.
        if interval.is_update && interval.added.is_empty {
            return Pages::default();
        }
        self.rates.push((interval.working_s(), interval.seen.responses()));
        match &self.run.settings {
            Settings::Ab(settings) => ab::interval(settings, &mut self.reported, &interval.total),
            Settings::GoStress(settings) => {
                let stdout = gostress::row(settings, interval);
                Pages { stdout, ..Pages::default() }
            }
            _ => Pages::default(),
        }
    }

    /// The output at the end.
    pub fn finish(&self, run: &Run) -> Pages {
        match &self.run.settings {
            Settings::Wrk(settings) => wrk::finish(settings, run, &self.rates),
            Settings::Ab(settings) => ab::finish(settings, run),
            Settings::Hey(settings) => hey::finish(settings, run),
            Settings::Oha(settings) => oha::finish(settings, run, &self.rates),
            Settings::Webbench(settings) => webbench::finish(settings, run),
            Settings::GoStress(settings) => gostress::finish(settings, run),
        }
    }

    /// A note on stderr about figures that differ from those of the tool.
    pub fn note(&self, language: Language) -> String {
        tool_note(self.run, language)
    }
}

/// The times from the first request to the last response, where redirects were followed; else the response times.
fn whole<'a>(run: &'a Run, times: &'a Timings) -> &'a Distribution {
    let chains = &run.recorded.chains;
    if chains.count() > 0 { chains } else { times.by_measure(Measure::Response) }
}

/// The one name lookup of a run, for those tools that count it for every response.
fn lookup(run: &Run, times: &Distribution) -> Distribution {
    let mut lookup = Distribution::default();
    if times.count() > 0 {
        lookup.record(run.lookup.map_or(0, |span| span.as_nanos() as u64));
    }
    lookup
}

/// Statuses with their counts, without those of redirects that were followed.
fn last_statuses(counts: &Tally) -> Vec<(u16, u64)> {
    let mut hops = counts.redirects();
    let last = counts.statuses.iter().map(|&(status, count)| {
        let hidden = if (300..400).contains(&status) { hops.min(count) } else { 0 };
        hops -= hidden;
        (status, count - hidden)
    });
    last.filter(|(_, count)| *count > 0).collect()
}

/// Exchanges with a response.
fn responses(run: &Run) -> u64 {
    run.recorded.answered.by_measure(Measure::Response).count()
}

/// Failures without a response, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Faults {
    connect: u64,
    read: u64,
    timeout: u64,
}

impl Faults {
    fn new(counts: &Tally) -> Self {
        let mut faults = Self::default();
        for &FailureCount { failure, count: number, .. } in &counts.failures {
            match failure.stage() {
                _ if Class::from_outcome(Outcome::Failed(failure)) == Class::TimedOut => faults.timeout += number,
                Stage::Connecting => faults.connect += number,
                Stage::Exchanging => faults.read += number,
                Stage::Answered => {}
            }
        }
        faults
    }

    fn all(self) -> u64 {
        self.connect + self.read + self.timeout
    }
}
