//! StatsD: a line for each figure, in datagrams. Counters are sent as differences to the last ones sent.

use std::collections::BTreeMap;

use figures::{Interval, Quantile};

use crate::addresses::{ADDRESS_COUNTS, AddressCount};
use crate::parts::merged;
use crate::totals::{StepTotals, Totals};

/// The most bytes of a datagram: the payload of one Ethernet packet, with IPv6 or a tunnel around it.
pub(crate) const DATAGRAM_BYTES_MAX: usize = 1_232;

/// Counter values that were sent, by names and tags.
#[derive(Debug, Default)]
pub(crate) struct Sent(BTreeMap<String, u64>);

/// A datagram with the counter values that it sends.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Datagram {
    pub(crate) text: String,
    counters: Vec<(String, u64)>,
}

impl Sent {
    /// Records that this datagram was sent.
    pub(crate) fn note(&mut self, datagram: Datagram) {
        self.0.extend(datagram.counters);
    }

    /// The differences of the totals, and the percentiles of an interval, as datagrams.
    pub(crate) fn datagrams(&self, totals: &Totals, interval: Option<&Interval>, has_tags: bool) -> Vec<Datagram> {
        // Names that become equal here are one counter: its value is the sum of theirs.
        let mut sums: BTreeMap<(String, String), u64> = BTreeMap::new();
        let mut count = |name: &str, tags: &[(&str, &str)], value: u64| {
            *sums.entry(key(name, tags, has_tags)).or_default() += value;
        };
        let mut gauges: Vec<String> = Vec::new();
        if let Some(held) = &totals.held {
            held.statsd_counts().iter().for_each(|(name, tags, value)| count(name, tags, *value));
            gauges.extend(held.statsd_gauges().map(|(name, value)| format!("{name}:{value}|g")));
            return self.lines(&sums, gauges);
        }
        let mut count_parts = |what: &str, kind: &str, parts: &[StepTotals]| {
            for part in parts {
                for (outcome, value) in [("succeeded", part.succeeded), ("failed", part.failed)] {
                    let tags = [("scenario", &*part.scenario), (kind, &*part.name), ("outcome", outcome)];
                    count(what, &tags, value);
                }
            }
        };
        count_parts("onrush.requests", "step", &totals.steps);
        count_parts("onrush.transactions", "transaction", &totals.transactions);
        count_parts("onrush.checks", "check", &totals.checks);
        for own in &totals.own {
            count("onrush.figure_values", &own.tags(), own.count());
            let sum = own.sum().map(|sum| ("sum", sum));
            gauges.extend(sum.into_iter().chain(own.statistics()).map(|(name, value)| {
                let (name, tags) = key(&format!("onrush.figure.{name}"), &own.tags(), has_tags);
                gauge_line(&name, value, &tags)
            }));
        }
        for totals in &totals.addresses {
            for AddressCount { name, of, .. } in &ADDRESS_COUNTS {
                count(&name.replacen('_', ".", 1), &[("address", &totals.address)], of(totals));
            }
        }
        for (reason, value) in &totals.failures {
            count("onrush.failures", &[("reason", reason)], *value);
        }
        totals.increments().for_each(|(name, value)| count(&format!("onrush.{name}"), &[], value));
        gauges.extend(totals.gauges().map(|(gauge, now)| format!("onrush.{}:{now}|g", gauge.name)));
        gauges.extend(interval.into_iter().flat_map(|interval| percentiles(interval, has_tags)));
        self.lines(&sums, gauges)
    }

    /// The differences of counters, and the current gauges.
    fn lines(&self, sums: &BTreeMap<(String, String), u64>, gauges: Vec<String>) -> Vec<Datagram> {
        let counted = sums.iter().filter_map(|((name, tags), value)| {
            let known = format!("{name}{tags}");
            let more = value - self.0.get(&known).copied().unwrap_or(0).min(*value);
            (more > 0).then(|| (format!("{name}:{more}|c{tags}"), Some((known, *value))))
        });
        packed(counted.chain(gauges.into_iter().map(|line| (line, None))).collect())
    }
}

/// A gauge. A sign would mean a difference: a negative value follows a zero.
fn gauge_line(name: &str, value: f64, tags: &str) -> String {
    let line = format!("{name}:{value}|g{tags}");
    if value < 0.0 { format!("{name}:0|g{tags}\n{line}") } else { line }
}

/// Percentiles of the interval in milliseconds, as gauges.
fn percentiles(interval: &Interval, has_tags: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for scenario in &interval.scenarios {
        for step in merged(&scenario.steps) {
            for (quantile, at) in step.response.named_known() {
                let Some(at) = at else { continue };
                let figure = if quantile == Quantile::P999 { "p999" } else { quantile.name() };
                let tags = [("scenario", &*scenario.name), ("step", &*step.name)];
                let (name, tags) = key(&format!("onrush.response_time.{figure}"), &tags, has_tags);
                lines.push(format!("{name}:{}|g{tags}", at.ns as f64 / 1e6));
            }
        }
    }
    lines
}

/// The name, and the suffix after the value. Without tags their values become parts of the name.
fn key(name: &str, tags: &[(&str, &str)], has_tags: bool) -> (String, String) {
    let tags = tags.iter().filter(|(_, value)| !value.is_empty());
    if has_tags {
        let tags: Vec<String> = tags.map(|(name, value)| format!("{name}:{}", tag(value))).collect();
        let behind = if tags.is_empty() { String::new() } else { format!("|#{}", tags.join(",")) };
        return (name.to_owned(), behind);
    }
    let parts: String = tags.map(|(_, value)| format!(".{}", name_part(value))).collect();
    (format!("{name}{parts}"), String::new())
}

/// The most characters of a value: Datadog truncates tags at 200.
const VALUE_CHARS_MAX: usize = 180;

/// A tag value: characters with a meaning there are replaced.
fn tag(value: &str) -> String {
    let plain = |each: char| if matches!(each, ',' | '|' | '#' | '\\') || each.is_control() { '_' } else { each };
    value.chars().take(VALUE_CHARS_MAX).map(plain).collect()
}

/// A part of a name: of special characters only those without a meaning in any StatsD server.
fn name_part(value: &str) -> String {
    let plain = |each: char| if each.is_alphanumeric() || matches!(each, '-' | '_') { each } else { '_' };
    value.chars().take(VALUE_CHARS_MAX).map(plain).collect()
}

fn packed(lines: Vec<(String, Option<(String, u64)>)>) -> Vec<Datagram> {
    let mut all: Vec<Datagram> = Vec::new();
    for (line, counter) in lines {
        let fits = |last: &&mut Datagram| last.text.len() + 1 + line.len() <= DATAGRAM_BYTES_MAX;
        match all.last_mut().filter(fits) {
            Some(last) => {
                last.text.push('\n');
                last.text.push_str(&line);
                last.counters.extend(counter);
            }
            None => all.push(Datagram { text: line, counters: counter.into_iter().collect() }),
        }
    }
    all
}

#[cfg(test)]
mod tests;
