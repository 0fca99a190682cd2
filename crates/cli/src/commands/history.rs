//! `onrush report`, `history` and `compare`: saved runs.

use std::path::Path;

use history::FailIf;
use report::Language;
use serde_json::Value;

use crate::exit::Exit;
use crate::options::fail_if;
use crate::output;
use crate::session::artifacts::{PAGE, runs};
use crate::session::files::OutputFile;

/// Runs `onrush report RUN`.
pub(crate) fn report(run: &str, file: Option<&str>, language: Language) -> Exit {
    let made = || -> Result<String, (String, Exit)> {
        let wrong = |error| (report::history_error(&error, language), Exit::Usage);
        let folder = runs(language).map_err(|text| (text, Exit::Usage))?.find(run).map_err(wrong)?;
        let report = folder.report().map_err(wrong)?;
        let charts = if history::is_hold(&report) { Value::Null } else { folder.charts().map_err(wrong)? };
        let page = report::html_report(&report, &charts, language);
        match file {
            None => {
                folder.write(PAGE, page.as_bytes()).map_err(wrong)?;
                Ok(folder.path().join(PAGE).display().to_string())
            }
            Some(file) => {
                let place = OutputFile::open_report(Path::new(file));
                let written = place.and_then(|place| place.write_whole(&page));
                written.map_err(|(path, error)| (output::cannot_write(&path, &error, language), Exit::System))?;
                Ok(file.to_owned())
            }
        }
    };
    output::complained(made().map(|path| output::to_stdout(&format!("{path}\n"), language)))
}

/// Runs `onrush history`.
pub(crate) fn history(is_json: bool, is_trend: bool, language: Language) -> Exit {
    let listed = runs(language).and_then(|runs| runs.list().map_err(|error| report::history_error(&error, language)));
    let listed = match listed {
        Ok(listed) => listed,
        Err(text) => {
            output::complain(&text);
            return Exit::Usage;
        }
    };
    if is_json && is_trend {
        output::complain(
            language.pick("--trend is text alone; leave --json out", "--trend 只有文本形式；请去掉 --json"),
        );
        return Exit::Usage;
    }
    let text = match (is_json, is_trend) {
        (true, _) => report::history_json(&listed),
        (false, true) => trend(&listed, language),
        (false, false) => report::history_table(&listed, &output::screen(language, false, false)),
    };
    output::to_stdout(&text, language)
}

/// The instants at which the level of a figure changes, among runs of one plan against one target.
fn trend(listed: &history::Listed, language: Language) -> String {
    let mut kinds: Vec<(&str, &str)> = Vec::new();
    for card in &listed.runs {
        let kind = (card.target.as_str(), card.plan[0].as_str());
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let of_kind = |(target, plan): (&str, &str)| {
        let runs =
            listed.runs.iter().rev().filter(|card| card.target == target && card.plan[0] == plan && !card.was_stopped);
        let runs: Vec<&history::Card> = runs.collect();
        // A run without successes has no percentiles, and is skipped.
        let series = |of: fn(&history::Card) -> Option<f64>| {
            let known = runs.iter().enumerate().filter_map(|(at, card)| Some((at, of(card)?)));
            let (places, values): (Vec<usize>, Vec<f64>) = known.unzip();
            let mut all = history::changes(&values);
            all.iter_mut().for_each(|change| change.at = places[change.at]);
            all
        };
        let all = [
            ("rate", series(|card| card.requests_per_s)),
            ("p50(response_time)", series(|card| card.p50_ns)),
            ("p99(response_time)", series(|card| card.p99_ns)),
        ];
        let plan = runs.last().map_or(plan, |card| language.pick(&card.plan[0], &card.plan[1]));
        format!("{}\n{}", report::plain_text(&format!("{target}  {plan}")), report::trend_text(&runs, &all, language))
    };
    kinds.into_iter().map(of_kind).collect::<Vec<_>>().join("\n")
}

/// Runs `onrush compare A B`, and `onrush compare A1 A2 -- B1 B2`.
pub(crate) fn compare(sides: &[Vec<String>; 2], fail_if: &[String], is_json: bool, language: Language) -> Exit {
    let refuse = |text: &str| {
        output::complain(text);
        Exit::Usage
    };
    let sides = match sides {
        [runs, others] if !others.is_empty() => [&runs[..], &others[..]],
        [runs, _] if runs.len() == 2 => [&runs[..1], &runs[1..]],
        _ => {
            return refuse(language.pick(
                "compare takes two runs: onrush compare A B; or several on each side: onrush compare A1 A2 -- B1 B2",
                "compare 需要两条压测记录：onrush compare A B；或每组多条：onrush compare A1 A2 -- B1 B2",
            ));
        }
    };
    let fail_if = match fail_if.iter().map(|text| FailIf::parse(text)).collect::<Result<Vec<_>, _>>() {
        Ok(fail_if) => fail_if,
        Err(error) => return refuse(&report::fail_if_error(&error, language)),
    };
    let load = |name: &String| -> Result<(String, Value), String> {
        let wrong = |error| report::history_error(&error, language);
        let folder = runs(language)?.find(name).map_err(wrong)?;
        Ok((folder.id().to_owned(), folder.report().map_err(wrong)?))
    };
    let all = |names: &[String]| names.iter().map(load).collect::<Result<Vec<_>, String>>();
    let sides = match (all(sides[0]), all(sides[1])) {
        (Ok(one), Ok(other)) => [one, other],
        (Err(text), _) | (_, Err(text)) => return refuse(&text),
    };
    let is_hold = history::is_hold(&sides[0][0].1);
    if let Some((name, _)) = sides.iter().flatten().find(|(_, report)| history::is_hold(report) != is_hold) {
        return refuse(&report::other_kind(name, language));
    }
    let [one, other] = sides.each_ref().map(|side| side.iter().map(|(_, report)| report).collect::<Vec<_>>());
    let comparison = history::compare(&one, &other);
    let names = sides.each_ref().map(|side| side.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
    let text = match is_json {
        true => report::comparison_json(&comparison, [&names[0], &names[1]], &fail_if),
        false => report::comparison_table(&comparison, [&names[0], &names[1]], language),
    };
    let exit = output::to_stdout(&text, language);
    let is_worse = fail_if::report(&fail_if, &comparison, language);
    if exit == Exit::Done && is_worse { Exit::Unmet } else { exit }
}
