//! Numbers and times in the notation of users.

mod number;

use std::time::Duration;

use number::Decimal;
pub(crate) use number::grouped;

use crate::{PlanError, RATE_MAX, RATE_UNIT, RateStage, STAGES_MAX, StageFault, USERS_MAX, UserStage};

/// The minimum of times of a load.
pub(crate) const MILLI: Duration = Duration::from_millis(1);
/// Longer than any run; sums of two of them cannot overflow.
const DURATION_MAX: Duration = Duration::from_secs(10 * 365 * 24 * 3_600);

/// Parses a whole number from `least` to `most`: `1000`, `1_000`, `1,000`, `1k`, `2M`, `1e3`.
///
/// # Errors
/// The text is invalid, or out of range; the error names `flag`.
pub fn parse_count(flag: &'static str, text: &str, least: u64, most: u64) -> Result<u64, PlanError> {
    let number = Decimal::parse(text).and_then(|number| number.times_ten_to(0));
    let wrong = || PlanError::Number { flag, value: text.to_owned(), least, most };
    number.filter(|number| (least..=most).contains(number)).ok_or_else(wrong)
}

/// Parses a share like `1%` or `0.01`, in millionths.
///
/// # Errors
/// The text is invalid, zero, or more than the whole; the error names `flag`.
pub fn parse_share(flag: &'static str, text: &str) -> Result<u32, PlanError> {
    let wrong = || PlanError::Share { flag, value: text.to_owned() };
    let (number, zeros) = text.trim().strip_suffix('%').map_or((text.trim(), 6), |number| (number, 4));
    let millionths = Decimal::parse(number).and_then(|number| number.times_ten_to(zeros)).ok_or_else(wrong)?;
    u32::try_from(millionths).ok().filter(|share| (1..=1_000_000).contains(share)).ok_or_else(wrong)
}

/// Parses a time like `500ms`, `10s`, `1.5m`, `1h30m`; a number without a unit is seconds.
///
/// # Errors
/// The text is invalid; the error names `flag`.
#[inline]
pub fn parse_duration(flag: &'static str, text: &str) -> Result<Duration, PlanError> {
    read_duration(text.trim()).ok_or_else(|| PlanError::Duration { flag, value: text.to_owned() })
}

/// Parses a time that is no shorter than `least`.
///
/// # Errors
/// The text is invalid, or shorter; the error names `flag`.
pub fn parse_span(flag: &'static str, text: &str, least: Duration) -> Result<Duration, PlanError> {
    let span = parse_duration(flag, text)?;
    let too_short = || PlanError::DurationTooShort { flag, value: text.to_owned(), least: least_text(least) };
    if span < least { Err(too_short()) } else { Ok(span) }
}

/// Checks that a time from elsewhere is one that could have been typed.
pub(crate) fn check_span_max(flag: &'static str, span: Duration) -> Result<Duration, PlanError> {
    let wrong = || PlanError::Duration { flag, value: text_of_span(span) };
    if span > DURATION_MAX { Err(wrong()) } else { Ok(span) }
}

/// The same with a minimum.
pub(crate) fn check_span(flag: &'static str, span: Duration, least: Duration) -> Result<Duration, PlanError> {
    let too_short = || PlanError::DurationTooShort { flag, value: text_of_span(span), least: least_text(least) };
    if span < least { Err(too_short()) } else { check_span_max(flag, span) }
}

/// Checks that a number from elsewhere is within its bounds.
pub(crate) fn check_count(flag: &'static str, count: u64, least: u64, most: u64) -> Result<u64, PlanError> {
    let wrong = || PlanError::Number { flag, value: count.to_string(), least, most };
    (least..=most).contains(&count).then_some(count).ok_or_else(wrong)
}

/// Checks that a rate from elsewhere is one that could have been typed.
pub(crate) fn check_rate(flag: &'static str, rate: u64) -> Result<u64, PlanError> {
    let text = || format!("{}/s", rate as f64 / RATE_UNIT as f64);
    let wrong = || PlanError::Rate { flag, value: text(), most: RATE_MAX };
    (1..=RATE_MAX * RATE_UNIT).contains(&rate).then_some(rate).ok_or_else(wrong)
}

/// A rate in starts per second, to a thousandth of one.
pub(crate) fn rate_of(per_s: f64) -> u64 {
    (per_s * 1_000.0).round() as u64 * 3_600
}

fn text_of_span(span: Duration) -> String {
    format!("{}s", span.as_secs_f64())
}

fn least_text(least: Duration) -> String {
    if least < Duration::from_secs(1) { format!("{}ms", least.as_millis()) } else { format!("{}s", least.as_secs()) }
}

/// Parses a rate like `5000`, `100/m`, `2.5/s`, `1000/h`, with up to three decimals; a number without a unit is per
/// second. The result is exact, in thousandths of a start per hour.
///
/// # Errors
/// The text is invalid, or zero, or above [`RATE_MAX`]; the error names `flag`.
pub fn parse_rate(flag: &'static str, text: &str) -> Result<u64, PlanError> {
    let rate = read_rate(text.trim()).filter(|&rate| rate > 0);
    rate.ok_or_else(|| PlanError::Rate { flag, value: text.to_owned(), most: RATE_MAX })
}

/// Parses stages like `0:30s,1000:1m`: each changes the rate linearly from its previous value, 0 at the beginning, to
/// its target.
///
/// # Errors
/// The first invalid stage.
pub fn parse_stages(text: &str) -> Result<Vec<RateStage>, PlanError> {
    let stages = read_stages(text, read_rate, StageFault::Target)?;
    Ok(stages.into_iter().map(|(from, to, span)| RateStage { from, to, span }).collect())
}

/// The same for users.
///
/// # Errors
/// The first invalid stage.
pub fn parse_user_stages(text: &str) -> Result<Vec<UserStage>, PlanError> {
    let users = |text: &str| parse_count("--user-stages", text, 0, USERS_MAX).ok();
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

/// The units of a rate: the end of the text, and thousandths of a start per hour for one.
const PER: [(&str, u64); 13] = [
    ("/second", 3_600),
    ("/sec", 3_600),
    ("/s", 3_600),
    ("rps", 3_600),
    ("qps", 3_600),
    ("tps", 3_600),
    ("/minute", 60),
    ("/min", 60),
    ("/m", 60),
    ("rpm", 60),
    ("/hour", 1),
    ("/h", 1),
    ("", 3_600),
];

fn read_rate(text: &str) -> Option<u64> {
    let lower = text.trim().to_ascii_lowercase();
    let (number, an_hour) = PER.iter().find_map(|(end, an_hour)| Some((lower.strip_suffix(end)?, an_hour)))?;
    let rate = Decimal::parse(number)?.times_ten_to(3)?.checked_mul(*an_hour)?;
    (rate <= RATE_MAX * RATE_UNIT).then_some(rate)
}

/// The units of time, in seconds.
fn seconds_of(unit: &str) -> Option<f64> {
    Some(match unit {
        "us" | "µs" | "μs" => 1e-6,
        "ms" | "msec" | "millis" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

fn read_duration(text: &str) -> Option<Duration> {
    let mut total_secs = 0.0;
    let mut rest = text.trim();
    let is_lone = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_'));
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|each: char| !each.is_ascii_digit() && !matches!(each, '.' | '_')).unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start();
        let letters = after.find(|each: char| !each.is_alphabetic()).unwrap_or(after.len());
        let (unit, next) = after.split_at(letters);
        // Only a lone number may do without a unit: `1m30` could mean two things.
        let factor = if is_lone { 1.0 } else { seconds_of(&unit.to_lowercase())? };
        if !number.starts_with(|each: char| each.is_ascii_digit()) || number.ends_with('_') {
            return None;
        }
        total_secs += number.replace('_', "").parse::<f64>().ok()? * factor;
        rest = next.trim_start();
    }
    // Rounded to whole microseconds, so that 0.1 s is 100 ms to the digit.
    let micros = (total_secs * 1e6).round();
    (micros <= DURATION_MAX.as_micros() as f64).then(|| Duration::from_micros(micros as u64))
}

/// Whether a text is nothing but a time with its unit.
pub(crate) fn is_time(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(|each: char| each.is_ascii_digit())
        && text.ends_with(|each: char| each.is_alphabetic())
        && read_duration(text).is_some()
}
