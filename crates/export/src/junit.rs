//! Thresholds as test cases, in the XML format that continuous integration servers read.

use figures::{Held, Run, ThresholdResult};
use metrics::Unit;

/// The whole file.
pub(crate) fn text(run: &Run) -> String {
    suite(&run.judged, run.wall.as_secs_f64(), &run.plan.scenarios[0].target().url)
}

/// The test suite of thresholds. `seconds`: the duration of the run.
pub(crate) fn suite(judged: &[ThresholdResult], seconds: f64, url: &str) -> String {
    let case = |one: &ThresholdResult| (escaped(&one.threshold), escaped(&seen(one)), one.judgement.holds);
    cases(&judged.iter().map(case).collect::<Vec<_>>(), seconds, url)
}

/// The file for a hold: whether all connections were held.
pub(crate) fn held_text(held: &Held) -> String {
    let tally = &held.tally;
    let (failed, lost, open) = (tally.failed, tally.lost, held.most_open);
    let seen = format!("at most {open} open, {failed} failed, {lost} lost");
    let name = format!("{} connections are held", held.plan.connections);
    cases(&[(name, seen, held.is_kept)], held.wall.as_secs_f64(), &held.plan.target.url)
}

/// Test cases, each with a name, a measured value, and whether it passed, escaped for XML.
fn cases(all: &[(String, String, bool)], seconds: f64, url: &str) -> String {
    let (tests, url) = (all.len(), escaped(&plan::masked_url(url)));
    let failures = all.iter().filter(|(_, _, holds)| !holds).count();
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\" time=\"{seconds:.3}\"");
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"onrush\" {counts}>\n  \
         <testsuite name=\"thresholds\" {counts}>\n    \
         <properties>\n      <property name=\"target\" value=\"{url}\"/>\n    </properties>\n"
    );
    for (name, seen, holds) in all {
        let inside = match holds {
            true => format!("<system-out>{seen}</system-out>"),
            false => format!("<failure message=\"{seen}\" type=\"threshold\"/>"),
        };
        let head = format!("<testcase classname=\"onrush.thresholds\" name=\"{name}\" time=\"{seconds:.3}\">");
        out.push_str(&format!("    {head}\n      {inside}\n    </testcase>\n"));
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

/// The measured value, in the units of thresholds.
fn seen(judged: &ThresholdResult) -> String {
    let judgement = &judged.judgement;
    if let Some(lack) = judgement.lack {
        return lack.to_string();
    }
    let Some(value) = judgement.value.filter(|value| value.is_finite()) else {
        return "nothing was measured".to_owned();
    };
    let at = judgement.address.map_or_else(String::new, |address| format!(" at {address}"));
    let at_least = if judgement.at_least { "at least " } else { "" };
    match judgement.unit {
        Unit::Time => format!("{at_least}{:.3}ms{at}", value / 1e6),
        Unit::Count => format!("{at_least}{value}{at}"),
        Unit::Ratio => format!("{at_least}{:.4}%{at}", value * 100.0),
        Unit::PerSecond => format!("{at_least}{value:.2}/s{at}"),
        Unit::Own => value.to_string(),
    }
}

/// Text for XML 1.0, which forbids most control characters.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for each in text.chars() {
        match each {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push_str(&format!("&#{};", u32::from(each))),
            each if each.is_control() || matches!(each, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            each => out.push(each),
        }
    }
    out
}

#[cfg(test)]
mod tests;
