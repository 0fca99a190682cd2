//! The line protocol of InfluxDB. The figures of an interval are stamped with the instant of its end, so that an update
//! replaces the earlier version.

use std::fmt::Write;

use figures::{Interval, Quantile, StepPart};

use crate::addresses::{ADDRESS_COUNTS, AddressCount};
use crate::parts::merged;
use crate::totals::{StepTotals, Totals};

/// The figures of one interval; `at_ns` is its end, in nanoseconds since the Unix epoch.
pub(crate) fn interval(interval: &Interval, at_ns: u64) -> String {
    let mut out = String::new();
    for scenario in &interval.scenarios {
        let kinds = [("step", &scenario.steps), ("transaction", &scenario.transactions)];
        for (kind, parts) in kinds {
            for part in merged(parts) {
                let tags = tags(&[("scenario", &scenario.name), (kind, &part.name)]);
                line(&mut out, &format!("onrush_{kind}s{tags}"), &part_fields(&part), at_ns);
            }
        }
        for check in &scenario.checks {
            let tags = tags(&[("scenario", &scenario.name), ("check", &check.name)]);
            let fields = format!("succeeded={}i,failed={}i", check.passed, check.failed);
            line(&mut out, &format!("onrush_checks{tags}"), &fields, at_ns);
        }
        for part in &scenario.figures {
            let tags = tags(&[("scenario", &scenario.name), ("figure", &part.figure.name)]);
            let statistics = part.statistics().into_iter().map(|(name, value)| format!(",{name}={value}"));
            let fields = format!("count={}i{}", part.count(), statistics.collect::<String>());
            line(&mut out, &format!("onrush_figures{tags}"), &fields, at_ns);
        }
    }
    out
}

/// The totals since the start; `at_ns` is now.
pub(crate) fn totals(totals: &Totals, at_ns: u64) -> String {
    let mut out = String::new();
    if let Some(held) = &totals.held {
        for (name, reason, count) in held.reasons() {
            line(&mut out, &format!("{name}{}", tags(&[("reason", reason)])), &format!("total={count}i"), at_ns);
        }
        line(&mut out, "onrush_held", &held.fields(), at_ns);
        return out;
    }
    let of_parts = |out: &mut String, kind: &str, parts: &[StepTotals]| {
        for part in parts {
            let tags = tags(&[("scenario", &part.scenario), (kind, &part.name)]);
            let fields = format!("total_succeeded={}i,total_failed={}i", part.succeeded, part.failed);
            line(out, &format!("onrush_{kind}s{tags}"), &fields, at_ns);
        }
    };
    of_parts(&mut out, "step", &totals.steps);
    of_parts(&mut out, "transaction", &totals.transactions);
    of_parts(&mut out, "check", &totals.checks);
    for own in &totals.own {
        let sum = own.sum().map(|sum| ("sum", sum));
        let statistics = sum.into_iter().chain(own.statistics()).map(|(name, value)| format!(",total_{name}={value}"));
        let fields = format!("total_count={}i{}", own.count(), statistics.collect::<String>());
        line(&mut out, &format!("onrush_figures{}", tags(&own.tags())), &fields, at_ns);
    }
    for totals in &totals.addresses {
        let field = |count: &AddressCount| {
            let name = count.name.trim_start_matches("onrush_address_");
            format!("total_{name}={}i", (count.of)(totals))
        };
        let fields: Vec<String> = ADDRESS_COUNTS.iter().map(field).collect();
        let tags = tags(&[("address", &totals.address)]);
        line(&mut out, &format!("onrush_addresses{tags}"), &fields.join(","), at_ns);
    }
    for (reason, count) in &totals.failures {
        line(&mut out, &format!("onrush_failures{}", tags(&[("reason", reason)])), &format!("total={count}i"), at_ns);
    }
    let counts = totals.counts().map(|(row, _, count)| format!("total_{}={count}i", row.name));
    let gauges = totals.gauges().map(|(gauge, now)| format!("{}={now}i", gauge.name));
    let mut fields: Vec<String> = counts.chain(gauges).collect();
    fields.push(format!("total_cpu_seconds={}", totals.cpu_ns as f64 / 1e9));
    line(&mut out, "onrush", &fields.join(","), at_ns);
    out
}

fn part_fields(part: &StepPart) -> String {
    let mut fields = format!("succeeded={}i,failed={}i", part.finished - part.failed, part.failed);
    let times = &part.response;
    let mean = times.mean_ns.map(|ns| ("mean", ns / 1e9));
    let named = times.named_known().filter_map(|(quantile, at)| Some((name_of(quantile), at?.ns as f64 / 1e9)));
    for (name, seconds) in mean.into_iter().chain(named).filter(|(_, seconds)| seconds.is_finite()) {
        write!(fields, ",response_time_{name}={seconds}").expect("a string takes everything");
    }
    fields
}

/// The field name of a percentile.
fn name_of(quantile: Quantile) -> &'static str {
    match quantile {
        Quantile::P999 => "p999",
        other => other.name(),
    }
}

fn line(out: &mut String, series: &str, fields: &str, at_ns: u64) {
    writeln!(out, "{series} {fields} {at_ns}").expect("a string takes everything");
}

/// Tags of a measurement. Empty ones are left out: the protocol has none.
fn tags(pairs: &[(&str, &str)]) -> String {
    let one = |(name, value): &(&str, &str)| format!(",{name}={}", escaped(value));
    pairs.iter().filter(|(_, value)| !value.is_empty()).map(one).collect()
}

/// A tag value. A line end cannot be escaped there, and a backslash at the end would escape the next character.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for each in text.chars() {
        match each {
            ',' | '=' | ' ' => out.extend(['\\', each]),
            each if each.is_control() => out.push_str("\\ "),
            each => out.push(each),
        }
    }
    if text.ends_with('\\') {
        out.push_str("\\ ");
    }
    out
}

#[cfg(test)]
mod tests;
