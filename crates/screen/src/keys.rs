//! What keys do.

use report::Language;
use serde_json::{Value, json};

use crate::known::ScreenState;
use crate::{Act, Source};

/// Begins what arrows and the like send.
pub(crate) const ESCAPE: u8 = 0x1b;
/// What the terminal sends for Ctrl-C while it is taken.
const CONTROL_C: u8 = 0x03;

/// A key was pressed.
pub(crate) fn press(key: u8, known: &mut ScreenState, source: &dyn Source) {
    let act = match key {
        CONTROL_C | b'q' => Some(end(known)),
        b'p' => Some(pause(known)),
        b'+' | b'=' => more(known, true),
        b'-' | b'_' => more(known, false),
        b's' => {
            known.shows_steps = !known.shows_steps;
            None
        }
        b'\t' => {
            let all = known.run["scenarios"].as_array().map_or(1, Vec::len).max(1);
            known.scenario = (known.scenario + 1) % all;
            None
        }
        _ => None,
    };
    let Some(act) = act else { return };
    let done = source.act(&act);
    known.is_ending |= act == Act::Stop && done.is_ok();
    known.said = match done {
        Ok(()) => String::new(),
        Err([en, zh]) => known.look.language.pick(en, zh),
    };
    known.look(source);
}

/// The end: gently, and when that was asked for, at once.
fn end(known: &ScreenState) -> Act {
    if known.is_ending || known.state() == "stopping" { Act::Abort } else { Act::Stop }
}

fn change(known: &ScreenState, change: &str) -> Value {
    json!({"revision": known.run["revision"], "change": change})
}

fn pause(known: &ScreenState) -> Act {
    let mut scenarios = known.run["scenarios"].as_array().into_iter().flatten().peekable();
    let is_paused = scenarios.peek().is_some() && scenarios.all(|one| one["is_paused"] == true);
    Act::Change(change(known, if is_paused { "resume" } else { "pause" }))
}

/// A tenth more, or less, of the rate or the users of the chosen scenario.
fn more(known: &mut ScreenState, is_more: bool) -> Option<Act> {
    let chosen = known.chosen();
    let (Some(kind), Some(now)) = (chosen["kind"].as_str(), chosen["now"].as_f64()) else {
        let language: Language = known.look.language;
        known.said =
            language.pick("there is no rate and no number of users to change", "没有可调整的速率或用户数").to_owned();
        return None;
    };
    let factor = if is_more { 1.1 } else { 1.0 / 1.1 };
    let to = if kind == "users" {
        // Small numbers change too.
        let step = if is_more { now + 1.0 } else { (now - 1.0).max(1.0) };
        let to = (now * factor).round();
        let to = if is_more { to.max(step) } else { to.min(step) };
        json!(to as u64)
    } else {
        json!(format!("{}/s", digits(now * factor)))
    };
    let mut requested = change(known, kind);
    requested["to"] = to;
    requested["scenario"] = chosen["name"].clone();
    Some(Act::Change(requested))
}

/// Three digits that count, as a command line takes them.
fn digits(rate: f64) -> String {
    let scale = 10f64.powi(2 - rate.max(1e-3).log10().floor() as i32);
    let rounded = (rate * scale).round() / scale;
    let text = format!("{rounded:.5}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
