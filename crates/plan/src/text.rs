//! Numbers and times as people write them.

use std::time::Duration;

use crate::{PlanError, RATE_MAX, RateStage, STAGES_MAX, StageFault, USERS_MAX, UserStage};

/// Longer than any run; sums of two of them cannot overflow.
const DURATION_MAX: Duration = Duration::from_secs(10 * 365 * 24 * 3_600);

/// Reads a whole number from `least` to `most`; `_` may separate digits.
///
/// # Errors
/// It is none, or out of range; the error names `flag`.
pub fn parse_count(flag: &'static str, text: &str, least: u64, most: u64) -> Result<u64, PlanError> {
    let digits: String = text.chars().filter(|&each| each != '_').collect();
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|number| is_plain && (least..=most).contains(number)).ok_or_else(|| PlanError::Number {
        flag,
        value: text.to_owned(),
        least,
        most,
    })
}

/// Reads a time like `500ms`, `10s`, `1.5m`, `1h30m`; a number without a unit is seconds.
///
/// # Errors
/// It is none; the error names `flag`.
pub fn parse_duration(flag: &'static str, text: &str) -> Result<Duration, PlanError> {
    read_duration(text.trim()).ok_or_else(|| PlanError::Duration { flag, value: text.to_owned() })
}

/// Reads a rate like `5000`, `100/m`, `2.5/s`, `1000/h`, with up to three decimals; a number without a unit is a second's.
/// The result is exact, in thousandths of a start in an hour.
///
/// # Errors
/// It is none, or zero, or above [`RATE_MAX`]; the error names `flag`.
pub fn parse_rate(flag: &'static str, text: &str) -> Result<u64, PlanError> {
    let rate = read_rate(text.trim()).filter(|&rate| rate > 0);
    rate.ok_or_else(|| PlanError::Rate { flag, value: text.to_owned(), most: RATE_MAX })
}

/// Reads stages like `0:30s,1000:1m`: each changes the rate evenly from what it was, 0 at the beginning, to its target.
///
/// # Errors
/// The first stage that is none.
pub fn parse_stages(text: &str) -> Result<Vec<RateStage>, PlanError> {
    let stages = read_stages(text, read_rate, StageFault::Target)?;
    Ok(stages.into_iter().map(|(from, to, span)| RateStage { from, to, span }).collect())
}

/// The same of users.
///
/// # Errors
/// The first stage that is none.
pub fn parse_user_stages(text: &str) -> Result<Vec<UserStage>, PlanError> {
    let users = |text: &str| parse_count("--stages", text, 0, USERS_MAX).ok();
    let stages = read_stages(text, users, StageFault::Users)?;
    Ok(stages.into_iter().map(|(from, to, span)| UserStage { from, to, span }).collect())
}

/// From, to and span of each stage.
fn read_stages(
    text: &str,
    read: impl Fn(&str) -> Option<u64>,
    fault: StageFault,
) -> Result<Vec<(u64, u64, Duration)>, PlanError> {
    let (mut stages, mut from) = (Vec::new(), 0);
    for (index, value) in text.split(',').enumerate() {
        let wrong = |reason| PlanError::Stage { number: index + 1, value: value.trim().to_owned(), reason };
        if index >= STAGES_MAX {
            return Err(wrong(StageFault::TooMany));
        }
        let (target, time) = value.trim().split_once(':').ok_or_else(|| wrong(StageFault::NoColon))?;
        let to = read(target.trim()).ok_or_else(|| wrong(fault))?;
        let span = read_duration(time.trim()).ok_or_else(|| wrong(StageFault::Time))?;
        stages.push((from, to, span));
        from = to;
    }
    Ok(stages)
}

fn read_rate(text: &str) -> Option<u64> {
    let (number, an_hour) = match text.split_once('/') {
        None | Some((_, "s")) => (text.split('/').next()?, 3_600),
        Some((number, "m")) => (number, 60),
        Some((number, "h")) => (number, 1),
        Some(_) => return None,
    };
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let is_plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    if !is_plain(whole) || !is_plain(decimals) || decimals.len() > 3 || decimals.contains('_') {
        return None;
    }
    let whole: u64 = whole.replace('_', "").parse().ok()?;
    let thousandths: u64 = format!("{decimals:0<3}").parse().ok()?;
    let rate = whole.checked_mul(1_000)?.checked_add(thousandths)?.checked_mul(an_hour)?;
    (rate <= RATE_MAX * 3_600_000).then_some(rate)
}

fn read_duration(text: &str) -> Option<Duration> {
    let mut total_secs = 0.0;
    let mut rest = text;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|each: char| !each.is_ascii_digit() && each != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let letters = after.find(|each: char| !each.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, next) = after.split_at(letters);
        let factor = match unit {
            "us" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            // Only a lone number may do without a unit: `1m30` could mean two things.
            "" if digits == text.len() => 1.0,
            "m" | "min" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        if !number.starts_with(|each: char| each.is_ascii_digit()) {
            return None;
        }
        total_secs += number.parse::<f64>().ok()? * factor;
        rest = next;
    }
    // Rounded to whole microseconds, so that 0.1 s is 100 ms to the digit.
    let micros = (total_secs * 1e6).round();
    (micros <= DURATION_MAX.as_micros() as f64).then(|| Duration::from_micros(micros as u64))
}
