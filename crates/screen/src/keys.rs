//! Key bindings.

use report::Language;
use serde_json::{Value, json};

use crate::known::ScreenState;
use crate::{Act, Source};

/// The first byte of escape sequences, such as arrow keys.
pub(crate) const ESCAPE: u8 = 0x1b;
/// The byte for Ctrl-C in raw mode.
const CONTROL_C: u8 = 0x03;

/// Handles a key.
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
        Err([en, zh]) => known.style.language.pick(en, zh),
    };
    known.poll(source);
}

/// Ends the run: gracefully, and at once when that was requested before.
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

/// Changes the rate or the users of the chosen scenario by a tenth.
fn more(known: &mut ScreenState, is_more: bool) -> Option<Act> {
    let chosen = known.chosen();
    let (Some(kind), Some(now)) = (chosen["kind"].as_str(), chosen["now"].as_f64()) else {
        let language: Language = known.style.language;
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

/// Three significant digits, in command line notation.
fn digits(rate: f64) -> String {
    let scale = 10f64.powi(2 - rate.max(1e-3).log10().floor() as i32);
    let rounded = (rate * scale).round() / scale;
    let text = format!("{rounded:.5}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
