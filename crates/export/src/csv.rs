//! CSV with a line for each interval and series. An update of an interval has further lines with what came late, so
//! that sums are right.

use figures::{Interval, Quantile, StepPart, Times};

use crate::totals::Totals;

/// The header line.
pub(crate) const COLUMNS: &str = "interval,late,from_s,to_s,series,scenario,name,succeeded,failed,\
    carried,dropped,bytes_received,bytes_sent,users,connections,in_flight,\
    response_min_ms,response_mean_ms,response_p50_ms,response_p90_ms,response_p95_ms,response_p99_ms,\
    response_p99.9_ms,response_max_ms\n";

/// The lines of one interval. `before`: the totals before it, `now`: those after it.
pub(crate) fn lines(interval: &Interval, before: &Totals, now: &Totals) -> String {
    let late = u8::from(interval.is_update);
    let span = format!("{},{late},{},{}", interval.number, interval.from.as_secs_f64(), interval.to.as_secs_f64());
    let mut out = String::new();
    let sum = |part: fn(&figures::ScenarioPart) -> u64| interval.added_scenarios().iter().map(part).sum::<u64>();
    let (finished, failed) = (sum(|part| part.finished), sum(|part| part.failed));
    let gauges = match interval.is_update {
        true => ",,".to_owned(),
        false => format!("{},{},{}", now.users, now.connections, now.in_flight),
    };
    let times = times(&Times::known(&interval.added.response));
    out.push_str(&format!(
        "{span},all,,,{},{failed},{},{},{},{},{gauges},{times}\n",
        finished - failed,
        now.carried - before.carried,
        now.dropped - before.dropped,
        now.bytes_received - before.bytes_received,
        now.bytes_sent - before.bytes_sent,
    ));
    for scenario in interval.added_scenarios() {
        let kinds = [("step", &scenario.steps), ("transaction", &scenario.transactions)];
        for (kind, part) in kinds.into_iter().flat_map(|(kind, parts)| parts.iter().map(move |part| (kind, part))) {
            out.push_str(&part_line(&span, kind, &scenario.name, part));
        }
    }
    out
}

fn part_line(span: &str, kind: &str, scenario: &str, part: &StepPart) -> String {
    let (scenario, name, succeeded) = (cell(scenario), cell(&part.name), part.finished - part.failed);
    let times = times(&Times::known(&part.recorded));
    format!("{span},{kind},{scenario},{name},{succeeded},{},,,,,,,,{times}\n", part.failed)
}

fn times(times: &Times) -> String {
    let ms = |ns: Option<f64>| ns.filter(|ns| ns.is_finite()).map_or(String::new(), |ns| (ns / 1e6).to_string());
    let at = |quantile: Quantile| ms(times.at(quantile).map(|at| at.ns as f64));
    let first = [ms(times.min_ns.map(|ns| ns as f64)), ms(times.mean_ns)];
    first.into_iter().chain(Quantile::ALL.map(at)).collect::<Vec<_>>().join(",")
}

/// A text as a cell (RFC 4180).
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests;
