//! The metric names of loads in other systems: one table for all formats that have counters, gauges and histograms.

use metrics::Metric;

use crate::addresses::address_families;
use crate::family::{Family, Kind, Labels, Value, one};
use crate::own_figures::own_families;
use crate::totals::{StepTotals, Totals};

/// All families, in display order.
pub(crate) fn families(totals: &Totals) -> Vec<Family<'_>> {
    if let Some(held) = &totals.held {
        let mut all = held.families();
        all.retain(|family| !family.series.is_empty());
        return all;
    }
    let mut all = step_families(totals);
    all.extend(transaction_families(totals));
    all.push(check_family(totals));
    all.extend(own_families(&totals.own));
    all.extend(address_families(&totals.addresses));
    all.extend(total_families(totals));
    all.retain(|family| !family.series.is_empty());
    all
}

fn times<'a>(name: &'static str, help: &'static str, series: Vec<(Labels<'a>, Value<'a>)>) -> Family<'a> {
    Family { name, help, unit: "s", kind: Kind::Histogram, series }
}

fn step_families(totals: &Totals) -> Vec<Family<'_>> {
    vec![
        Family {
            name: "onrush_requests",
            help: "Requests that ended, by outcome.",
            unit: "{request}",
            kind: Kind::Counter,
            series: outcomes(&totals.steps, "step"),
        },
        times(
            "onrush_response_time_seconds",
            "From the intended start to the last byte of the answer, of requests that succeeded.",
            totals.steps.iter().map(|step| (part_labels(step, "step"), Value::Times(&step.response))).collect(),
        ),
        times(
            "onrush_service_time_seconds",
            "From sending to the last byte of the answer, of requests that succeeded.",
            totals.steps.iter().map(|step| (part_labels(step, "step"), Value::Times(&step.service))).collect(),
        ),
    ]
}

fn transaction_families(totals: &Totals) -> Vec<Family<'_>> {
    let series =
        totals.transactions.iter().map(|part| (part_labels(part, "transaction"), Value::Times(&part.response)));
    vec![
        Family {
            name: "onrush_transactions",
            help: "Transactions that came to an end, by outcome.",
            unit: "{transaction}",
            kind: Kind::Counter,
            series: outcomes(&totals.transactions, "transaction"),
        },
        times("onrush_transaction_time_seconds", "Times of transactions that succeeded.", series.collect()),
    ]
}

fn check_family(totals: &Totals) -> Family<'_> {
    Family {
        name: "onrush_checks",
        help: "Evaluations of checks, by outcome.",
        unit: "{check}",
        kind: Kind::Counter,
        series: outcomes(&totals.checks, "check"),
    }
}

fn total_families(totals: &Totals) -> Vec<Family<'_>> {
    let cpu = Value::Number(totals.cpu_ns as f64 / 1e9);
    let of = |Metric { name, help, unit, .. }, kind, value| one(name, help, unit, kind, value);
    let reasons = totals.failures.iter().map(|(name, count)| (vec![("reason", &**name)], Value::Count(*count)));
    let mut all = vec![
        times(
            "onrush_lateness_seconds",
            "How late the generator took up requests.",
            vec![(Labels::new(), Value::Times(&totals.lateness))],
        ),
        Family {
            name: "onrush_failures",
            help: "Requests that failed, by reason.",
            unit: "{request}",
            kind: Kind::Counter,
            series: reasons.collect(),
        },
    ];
    all.extend(totals.counts().map(|(_, metric, count)| of(metric, Kind::Counter, Value::Count(count))));
    all.push(one("onrush_cpu_seconds", "CPU time of the threads that generate the load.", "s", Kind::Counter, cpu));
    all.extend(totals.gauges().map(|(gauge, now)| of(gauge.metric, Kind::Gauge, Value::Count(now))));
    all
}

fn part_labels<'a>(part: &'a StepTotals, kind: &'static str) -> Labels<'a> {
    vec![("scenario", &part.scenario), (kind, &part.name)]
}

fn outcomes<'a>(parts: &'a [StepTotals], kind: &'static str) -> Vec<(Labels<'a>, Value<'a>)> {
    let both = |part: &'a StepTotals| {
        [("succeeded", part.succeeded), ("failed", part.failed)].map(|(outcome, count)| {
            let labels = [&part_labels(part, kind)[..], &[("outcome", outcome)]].concat();
            (labels, Value::Count(count))
        })
    };
    parts.iter().flat_map(both).collect()
}

#[cfg(test)]
mod tests;
