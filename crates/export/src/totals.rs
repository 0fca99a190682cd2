//! Totals since the start of a run, by series: the sums of the deltas of intervals.

use std::collections::BTreeMap;

use figures::{AddressFigures, CheckPart, GAUGES, Gauge, Interval, ScenarioPart, StepPart, Tally};
use metrics::{CountRow, Counters, Metric, View};

use crate::addresses::AddressTotals;
use crate::family::reason_of;
use crate::held::HeldTotals;
use crate::histogram::Histogram;
use crate::own_figures::OwnTotals;

/// The totals of one step, of one transaction, or of one check.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StepTotals {
    pub(crate) scenario: String,
    pub(crate) name: String,
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
    pub(crate) response: Histogram,
    pub(crate) service: Histogram,
}

/// Sums since the start, and current gauges.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Totals {
    pub(crate) steps: Vec<StepTotals>,
    pub(crate) transactions: Vec<StepTotals>,
    /// Those of checks, which have no times.
    pub(crate) checks: Vec<StepTotals>,
    /// Those of figures of the user's own.
    pub(crate) own: Vec<OwnTotals>,
    /// Where a name has several addresses.
    pub(crate) addresses: Vec<AddressTotals>,
    /// Counts by the name of the reason.
    pub(crate) failures: BTreeMap<String, u64>,
    pub(crate) lateness: Histogram,
    /// The counts that exports have, in the order of their rows; none before the first interval.
    counts: Vec<u64>,
    pub(crate) cpu_ns: u64,
    /// The gauges, in the order of their columns; none before the first interval and after the end.
    gauges: Vec<u64>,
    /// The totals of a hold; then there is nothing else.
    pub(crate) held: Option<Box<HeldTotals>>,
}

impl Totals {
    /// Zeros for all series of the run: a query of differences needs the start value too.
    pub(crate) fn empty(parts: &[ScenarioPart]) -> Self {
        let mut totals = Self::default();
        totals.add_parts(parts);
        totals
    }

    /// Zeros for a hold.
    pub(crate) fn for_hold() -> Self {
        Self { held: Some(Box::default()), ..Self::default() }
    }

    /// The counts that exports have, each with its row.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static CountRow<Counters>, Metric, u64)> {
        let rows = Counters::published().filter_map(|row| Some((row, row.metric?)));
        rows.zip(known(&self.counts)).map(|((row, metric), count)| (row, metric, count))
    }

    /// Those of which exports have the increments.
    pub(crate) fn increments(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let rows = self.counts().filter(|(row, ..)| row.views.contains(&View::Increments));
        rows.map(|(row, _, count)| (row.name, count))
    }

    /// The gauges, in the order of their columns.
    pub(crate) fn gauges(&self) -> impl Iterator<Item = (&'static Gauge, u64)> {
        columns().zip(known(&self.gauges))
    }

    /// Adds the delta of an interval.
    pub(crate) fn add(&mut self, interval: &Interval) {
        self.add_parts(interval.added_scenarios());
        self.lateness.add(&interval.added.lateness);
        self.cpu_ns += interval.added.cpu_ns;
        if !interval.is_update {
            self.gauges = columns().map(|gauge| (gauge.of)(interval)).collect();
        }
        self.set_counts(&interval.total, &interval.addresses);
    }

    /// Ends the totals: no user is active any more, and the final counts are known.
    pub(crate) fn end(&mut self, tally: &Tally, addresses: &[AddressFigures]) {
        self.gauges.clear();
        self.set_counts(tally, addresses);
    }

    /// Sets the counts since the start. Bytes that a kernel never took are subtracted later, and a counter must not
    /// fall.
    fn set_counts(&mut self, tally: &Tally, addresses: &[AddressFigures]) {
        AddressTotals::update(&mut self.addresses, addresses);
        self.counts = self.counts().map(|(row, _, known)| known.max((row.of)(tally))).collect();
        for failure in &tally.failures {
            let known = self.failures.entry(reason_of(failure.failure)).or_default();
            *known = failure.count.max(*known);
        }
    }

    fn add_parts(&mut self, scenarios: &[ScenarioPart]) {
        for scenario in scenarios {
            scenario.steps.iter().for_each(|step| add_part(&mut self.steps, &scenario.name, step));
            scenario.transactions.iter().for_each(|one| add_part(&mut self.transactions, &scenario.name, one));
            scenario.checks.iter().for_each(|one| add_check(&mut self.checks, &scenario.name, one));
            scenario.figures.iter().for_each(|one| OwnTotals::add(&mut self.own, &scenario.name, one));
        }
    }
}

/// The values that are known, and zeros.
fn known(values: &[u64]) -> impl Iterator<Item = u64> {
    values.iter().copied().chain(std::iter::repeat(0))
}

fn columns() -> impl Iterator<Item = &'static Gauge> {
    (0..GAUGES.len()).filter_map(|column| GAUGES.iter().find(|gauge| gauge.column == column))
}

/// Steps of one name are one series: only labels distinguish series.
fn add_part(parts: &mut Vec<StepTotals>, scenario: &str, step: &StepPart) {
    let part = part_named(parts, scenario, &step.name);
    part.succeeded += step.finished - step.failed;
    part.failed += step.failed;
    part.response.add(&step.recorded);
    part.service.add(&step.service);
}

fn add_check(parts: &mut Vec<StepTotals>, scenario: &str, check: &CheckPart) {
    let part = part_named(parts, scenario, &check.name);
    part.succeeded += check.passed;
    part.failed += check.failed;
}

/// The totals of this name, new if there are none yet.
fn part_named<'a>(parts: &'a mut Vec<StepTotals>, scenario: &str, name: &str) -> &'a mut StepTotals {
    let is_known = |part: &StepTotals| part.name == name && part.scenario == scenario;
    let place = parts.iter().position(is_known).unwrap_or_else(|| {
        parts.push(StepTotals { scenario: scenario.to_owned(), name: name.to_owned(), ..StepTotals::default() });
        parts.len() - 1
    });
    &mut parts[place]
}

#[cfg(test)]
mod tests;
