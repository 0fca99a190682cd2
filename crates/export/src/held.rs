//! Totals of a hold since its start, under names that all formats share.

use std::fmt::Write;

use figures::{FailureCount, Held, HeldInterval, HeldTally, Quantile};
use metrics::HeldNow;

use crate::family::{Family, Kind, Labels, Value, one, reason_of};
use crate::histogram::Histogram;

/// The prefix of all names.
const PREFIX: &str = "onrush_held_";

/// Sums since the start, and current gauges.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HeldTotals {
    tally: HeldTally,
    now: HeldNow,
    response: Histogram,
    /// Counts by reason.
    failed: Vec<(String, u64)>,
    lost: Vec<(String, u64)>,
}

/// A counter: its name, description, unit and value.
type Count = (&'static str, &'static str, &'static str, u64);
/// A counter with its tags.
type TaggedCount<'a> = (String, Labels<'a>, u64);
/// A gauge: its name, description and value.
type Gauge = (&'static str, &'static str, u64);

impl HeldTotals {
    /// Adds an interval, or an update of one with what came late.
    pub(crate) fn add(&mut self, interval: &HeldInterval) {
        self.count(&interval.total);
        if !interval.is_update {
            self.now = interval.now;
        }
        self.response = Histogram::default();
        self.response.add(&interval.answered);
    }

    /// Ends the totals: all connections are closed, and the final counts are known.
    pub(crate) fn end(&mut self, held: &Held) {
        self.now = HeldNow::default();
        self.count(&held.tally);
        self.response = Histogram::default();
        self.response.add(&held.answered);
    }

    fn count(&mut self, tally: &HeldTally) {
        self.tally = tally.clone();
        let named = |of: &[FailureCount]| of.iter().map(|each| (reason_of(each.failure), each.count)).collect();
        (self.failed, self.lost) = (named(&tally.failed_by), named(&tally.lost_by));
    }

    fn counts(&self) -> [Count; 14] {
        let tally = &self.tally;
        let (connection, message) = ("{connection}", "{message}");
        [
            ("onrush_held_tried", "Connections that were tried.", connection, tally.tried()),
            ("onrush_held_established", "Connections that were established.", connection, tally.established()),
            ("onrush_held_failed", "Tries of connections that failed.", connection, tally.failed),
            ("onrush_held_lost", "Established connections that were lost.", connection, tally.lost),
            ("onrush_held_closed", "Connections that were closed at the end.", connection, tally.closed()),
            ("onrush_held_messages_due", "Messages whose time had come.", message, tally.due()),
            ("onrush_held_messages_sent", "Messages that were sent.", message, tally.messages_left()),
            ("onrush_held_messages_answered", "Messages that were answered.", message, tally.answered()),
            ("onrush_held_messages_unanswered", "Messages that were not answered.", message, tally.unanswered()),
            ("onrush_held_messages_refused", "Answers that the checks refused.", message, tally.refused()),
            ("onrush_held_messages_pushed", "Messages that came unasked.", message, tally.pushed()),
            (
                "onrush_held_messages_missed",
                "Messages that were due on a connection that was lost.",
                message,
                tally.missed(),
            ),
            (
                "onrush_held_bytes_received",
                "Bytes that arrived, heads and framing included.",
                "By",
                tally.bytes_received(),
            ),
            ("onrush_held_bytes_sent", "Bytes that were sent, heads and framing included.", "By", tally.bytes_sent()),
        ]
    }

    fn gauges(&self) -> [Gauge; 3] {
        [
            ("onrush_held_open", "Connections that are established.", self.now.open),
            ("onrush_held_connecting", "Connections that are being opened.", self.now.connecting),
            ("onrush_held_waiting", "Connections that wait until they are tried again.", self.now.waiting),
        ]
    }

    /// The totals as metric families.
    pub(crate) fn families(&self) -> Vec<Family<'_>> {
        let mut all: Vec<Family<'_>> = Vec::new();
        for (name, help, unit, count) in self.counts() {
            all.push(one(name, help, unit, Kind::Counter, Value::Count(count)));
        }
        for (name, help, count) in self.gauges() {
            all.push(one(name, help, "{connection}", Kind::Gauge, Value::Count(count)));
        }
        let reasons = [
            ("onrush_held_failures", "Tries of connections that failed, by reason.", &self.failed),
            ("onrush_held_losses", "Connections that were lost, by reason.", &self.lost),
        ];
        for (name, help, of) in reasons {
            let series = of.iter().map(|(reason, count)| (vec![("reason", &**reason)], Value::Count(*count)));
            all.push(Family { name, help, unit: "{connection}", kind: Kind::Counter, series: series.collect() });
        }
        all.push(Family {
            name: "onrush_held_response_time_seconds",
            help: "From the intended instant of a message to its answer.",
            unit: "s",
            kind: Kind::Histogram,
            series: vec![(Labels::new(), Value::Times(&self.response))],
        });
        all
    }

    /// The counters for StatsD.
    pub(crate) fn statsd_counts(&self) -> Vec<TaggedCount<'_>> {
        let plain = self.counts().into_iter();
        let plain = plain.map(|(name, _, _, count)| (format!("onrush.held.{}", short(name)), vec![], count));
        let reasons = self.reasons();
        let reasons = reasons
            .map(|(name, reason, count)| (format!("onrush.held.{}", short(name)), vec![("reason", reason)], count));
        plain.chain(reasons).collect()
    }

    /// The gauges for StatsD.
    pub(crate) fn statsd_gauges(&self) -> impl Iterator<Item = (String, u64)> {
        self.gauges().into_iter().map(|(name, _, count)| (format!("onrush.held.{}", short(name)), count))
    }

    /// The fields of one InfluxDB line.
    pub(crate) fn fields(&self) -> String {
        let counts = self.counts().into_iter().map(|(name, _, _, count)| format!("total_{}={count}i", short(name)));
        let gauges = self.gauges().into_iter().map(|(name, _, count)| format!("{}={count}i", short(name)));
        counts.chain(gauges).collect::<Vec<_>>().join(",")
    }

    /// The reasons for InfluxDB: of failed and of lost connections.
    pub(crate) fn reasons(&self) -> impl Iterator<Item = (&'static str, &str, u64)> {
        let failed = self.failed.iter().map(|(reason, count)| ("onrush_held_failures", &**reason, *count));
        failed.chain(self.lost.iter().map(|(reason, count)| ("onrush_held_losses", &**reason, *count)))
    }

    /// The CSV header line.
    pub(crate) fn columns() -> String {
        let zero = Self::default();
        let names = zero.gauges().map(|(name, ..)| name).into_iter().chain(zero.counts().map(|(name, ..)| name));
        let names: String = names.map(|name| format!(",{}", short(name))).collect();
        let quantiles: String = Quantile::ALL.iter().map(|each| format!(",response_{}_ms", each.name())).collect();
        format!("interval,late,from_s,to_s{names},response_mean_ms{quantiles}\n")
    }

    /// A CSV line: the gauges, the difference to `before`, and the times of the interval.
    pub(crate) fn line(&self, before: &Self, interval: &HeldInterval) -> String {
        let (from, to) = (interval.from.as_secs_f64(), interval.to.as_secs_f64());
        let mut out = format!("{},{},{from},{to}", interval.number, u8::from(interval.is_update));
        for (_, _, count) in self.gauges() {
            let shown = if interval.is_update { String::new() } else { count.to_string() };
            write!(out, ",{shown}").expect("a string takes everything");
        }
        for ((_, _, _, count), (_, _, _, before)) in self.counts().into_iter().zip(before.counts()) {
            write!(out, ",{}", count.saturating_sub(before)).expect("a string takes everything");
        }
        let ms = |ns: Option<f64>| ns.filter(|ns| ns.is_finite()).map_or(String::new(), |ns| (ns / 1e6).to_string());
        let named = Quantile::ALL.map(|each| interval.response.at(each).map(|at| at.ns as f64));
        for ns in [interval.response.mean_ns].into_iter().chain(named) {
            write!(out, ",{}", ms(ns)).expect("a string takes everything");
        }
        out.push('\n');
        out
    }
}

/// A name without the common prefix.
fn short(name: &str) -> &str {
    name.strip_prefix(PREFIX).unwrap_or(name)
}
