//! CSV with a line for each interval and series. An update of an interval has further lines with what came late, so
//! that sums are right.

use figures::{CheckPart, FigurePart, Interval, Quantile, StepPart, Times};
use metrics::Distribution;

use crate::addresses::AddressTotals;
use crate::own_figures;
use crate::totals::Totals;

/// The header line.
pub(crate) fn columns() -> String {
    let none = Totals::default();
    let figures = none.increments().map(|(name, _)| name).chain(none.gauges().map(|(gauge, _)| gauge.name));
    let figures: String = figures.map(|name| format!("{name},")).collect();
    let quantiles = Quantile::ALL.map(|quantile| format!("response_{}_ms", quantile.name())).join(",");
    format!(
        "interval,late,from_s,to_s,series,scenario,name,succeeded,failed,{figures}\
         response_min_ms,response_mean_ms,{quantiles},{}\n",
        own_figures::csv_columns()
    )
}

/// The lines of one interval. `before`: the totals before it, `now`: those after it.
pub(crate) fn lines(interval: &Interval, before: &Totals, now: &Totals) -> String {
    let late = u8::from(interval.is_update);
    let span = format!("{},{late},{},{}", interval.number, interval.from.as_secs_f64(), interval.to.as_secs_f64());
    let mut out = String::new();
    let sum = |part: fn(&figures::ScenarioPart) -> u64| interval.added_scenarios().iter().map(part).sum::<u64>();
    let (finished, failed) = (sum(|part| part.finished), sum(|part| part.failed));
    let gauges = now.gauges().map(|(_, now)| if interval.is_update { String::new() } else { now.to_string() });
    let counts = now.increments().zip(before.increments()).map(|((_, now), (_, before))| (now - before).to_string());
    let figures: Vec<String> = counts.chain(gauges).collect();
    let (figures, times) = (figures.join(","), times(&Times::known(&interval.added.response)));
    let nothing = own_figures::no_csv_cells();
    out.push_str(&format!("{span},all,,,{},{failed},{figures},{times},{nothing}\n", finished - failed));
    let no_figures: String = figures.matches(',').collect();
    for scenario in interval.added_scenarios() {
        let kinds = [("step", &scenario.steps), ("transaction", &scenario.transactions)];
        for (kind, part) in kinds.into_iter().flat_map(|(kind, parts)| parts.iter().map(move |part| (kind, part))) {
            out.push_str(&part_line(&span, kind, &scenario.name, part, &no_figures));
        }
        for check in &scenario.checks {
            out.push_str(&check_line(&span, &scenario.name, check, &no_figures));
        }
        for part in &scenario.figures {
            out.push_str(&figure_line(&span, &scenario.name, part, &no_figures));
        }
    }
    for address in &now.addresses {
        out.push_str(&address_line(&span, before, address, &no_figures));
    }
    out
}

/// The increments of an address: its times are known since the start alone.
fn address_line(span: &str, before: &Totals, now: &AddressTotals, no_figures: &str) -> String {
    let known = before.addresses.iter().find(|known| known.address == now.address);
    let (succeeded, failed) = known.map_or((0, 0), |known| (known.succeeded, known.failed));
    let (succeeded, failed) = (now.succeeded - succeeded, now.failed - failed);
    let times = times(&Times::known(&Distribution::default()));
    format!(
        "{span},address,,{},{succeeded},{failed},{no_figures},{times},{}\n",
        now.address,
        own_figures::no_csv_cells()
    )
}

fn part_line(span: &str, kind: &str, scenario: &str, part: &StepPart, no_figures: &str) -> String {
    let (scenario, name, succeeded) = (cell(scenario), cell(&part.name), part.finished - part.failed);
    let times = times(&Times::known(&part.recorded));
    let nothing = own_figures::no_csv_cells();
    format!("{span},{kind},{scenario},{name},{succeeded},{},{no_figures},{times},{nothing}\n", part.failed)
}

/// A check has counts alone.
fn check_line(span: &str, scenario: &str, check: &CheckPart, no_figures: &str) -> String {
    let (scenario, name, CheckPart { passed, failed, .. }) = (cell(scenario), cell(&check.name), check);
    let no_times = times(&Times::known(&Distribution::default()));
    let nothing = own_figures::no_csv_cells();
    format!("{span},check,{scenario},{name},{passed},{failed},{no_figures},{no_times},{nothing}\n")
}

/// A figure of the user's own is counted in no request.
fn figure_line(span: &str, scenario: &str, part: &FigurePart, no_figures: &str) -> String {
    let (scenario, name, own) = (cell(scenario), cell(&part.figure.name), own_figures::csv_cells(part));
    let no_times = times(&Times::known(&Distribution::default()));
    format!("{span},figure,{scenario},{name},,,{no_figures},{no_times},{own}\n")
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
