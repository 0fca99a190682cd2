//! What other load generators print, with our figures: so that scripts which read it go on working.
//!
//! Where a figure of a tool is known to mislead, the true one stands in its place, and one line says so.

mod ab;
mod gostress;
mod hey;
mod messages;
mod oha;
mod webbench;
mod wrk;

use figures::{FailureCount, Interval, Run, Tally};
use metrics::{Class, Distribution, Failure, Measure, Outcome, Timings};
use plan::{Settings, ToolRun};

use crate::Language;
pub use messages::{tool_fault, tool_note};

/// What is to be written.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pages {
    /// For programs that read it.
    pub stdout: String,
    /// For the person.
    pub stderr: String,
    /// Files, by their paths.
    pub files: Vec<(String, String)>,
}

/// The output of a tool, as the run goes on.
#[derive(Debug)]
pub struct ToolView<'a> {
    run: &'a ToolRun,
    /// Of each interval: its seconds and what finished in it.
    rates: Vec<(f64, u64)>,
    /// What was told of the progress.
    reported: u64,
}

impl<'a> ToolView<'a> {
    /// Nothing has happened yet.
    pub fn new(run: &'a ToolRun) -> Self {
        Self { run, rates: Vec::new(), reported: 0 }
    }

    /// What is printed before the load.
    pub fn begin(&self) -> Pages {
        match &self.run.settings {
            Settings::Wrk(settings) => wrk::begin(settings),
            Settings::Ab(settings) => ab::begin(settings),
            Settings::Webbench(settings) => webbench::begin(settings),
            Settings::GoStress(settings) => gostress::begin(settings),
            Settings::Hey(_) | Settings::Oha(_) => Pages::default(),
        }
    }

    /// What is printed when an interval is over.
    pub fn interval(&mut self, interval: &Interval) -> Pages {
        // What came late of an interval that was told is no row of a tool.
        if interval.is_again && interval.added.is_empty {
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

    /// What is printed at the end.
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

    /// What is said on stderr of figures that differ from those of the tool.
    pub fn note(&self, language: Language) -> String {
        tool_note(self.run, language)
    }
}

/// From the first request to the last answer, where redirects were followed; else the response time.
fn whole<'a>(run: &'a Run, times: &'a Timings) -> &'a Distribution {
    let chains = &run.recorded.chains;
    if chains.count() > 0 { chains } else { times.of(Measure::Response) }
}

/// The one lookup of a run, for whoever was answered.
fn lookup(run: &Run, times: &Distribution) -> Distribution {
    let mut lookup = Distribution::default();
    if times.count() > 0 {
        lookup.record(run.lookup.map_or(0, |span| span.as_nanos() as u64));
    }
    lookup
}

/// How often each status was met, without those of redirects that were followed.
fn last_statuses(counts: &Tally) -> Vec<(u16, u64)> {
    let mut hops = counts.redirects();
    let last = counts.statuses.iter().map(|&(status, count)| {
        let hidden = if (300..400).contains(&status) { hops.min(count) } else { 0 };
        hops -= hidden;
        (status, count - hidden)
    });
    last.filter(|(_, count)| *count > 0).collect()
}

/// Exchanges that were answered.
fn responses(run: &Run) -> u64 {
    run.recorded.answered.of(Measure::Response).count()
}

/// Failures without an answer, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Faults {
    connect: u64,
    read: u64,
    timeout: u64,
}

impl Faults {
    fn of(counts: &Tally) -> Self {
        let mut faults = Self::default();
        for &FailureCount { failure, count: number, .. } in &counts.failures {
            match failure {
                failure if Class::of(Outcome::Failed(failure)) == Class::TimedOut => faults.timeout += number,
                Failure::Unreachable
                | Failure::Permission
                | Failure::NoConsent
                | Failure::NotFilled
                | Failure::LoopLimit
                | Failure::ConnectRefused
                | Failure::NoLocalPort
                | Failure::NoDescriptor
                | Failure::Dns
                | Failure::Tls(_) => faults.connect += number,
                Failure::Status
                | Failure::CallHttp(_)
                | Failure::Check
                | Failure::TimeCheck
                | Failure::SizeCheck
                | Failure::NotTaken
                | Failure::BodyLimit
                | Failure::GrpcStatus(_) => {}
                _ => faults.read += number,
            }
        }
        faults
    }

    fn all(self) -> u64 {
        self.connect + self.read + self.timeout
    }
}
