//! The parser of thresholds. Every error has its position.

use std::time::Duration;

use super::{Comparison, Counted, Statistic, Subject, THRESHOLD_BYTES_MAX, Threshold, Timed};
use crate::{GRPC_STATUSES, Measure, SERIES_MAX, STATUS_COUNT};

/// An error in the text of a threshold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}\n  {text}\n  {caret:>width$}", caret = "^", width = .column + 1)]
pub struct ThresholdError {
    /// The text, as given.
    pub text: String,
    /// The position of the error, in characters.
    pub column: usize,
    /// The error.
    pub fault: ThresholdFault,
}

/// The kind of an error in a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdFault {
    /// There is no figure of this name.
    #[error(
        "no such figure; there are min, mean, stdev, max, p50, p99.9 of (response_time), (service_time), (wait), (lateness), (first_byte), (connect), (tls_handshake), (message) or (message_gap); started, done, succeeded, failed, timed_out, dropped, unfinished, responses, reconnects, status(N), grpc_status(NAME), messages_sent, messages_received; and rate"
    )]
    Figure,
    /// A percentile beyond 0 to 100.
    #[error("a percentile is above 0 and at most 100")]
    Percentile,
    /// There is no time of this name.
    #[error(
        "no such time; there are response_time, service_time, wait, lateness, first_byte, connect, tls_handshake, message and message_gap"
    )]
    Measure,
    /// A counter is missing after a slash or in parentheses.
    #[error("a counter is missing here, like failed or done")]
    Counter,
    /// A parenthesis is missing.
    #[error("a parenthesis is missing here")]
    Parenthesis,
    /// There is no comparison.
    #[error("a comparison is missing here: <, <=, > or >=, as in p99 < 200ms")]
    Comparison,
    /// The number cannot be read.
    #[error("a number is missing here, or is out of range")]
    Number,
    /// There is no gRPC status of this name.
    #[error("a status of gRPC is missing here, like UNAVAILABLE or 14")]
    GrpcStatus,
    /// A time without a unit.
    #[error("a time needs a unit: us, ms or s")]
    TimeUnit,
    /// A unit that a share does not have.
    #[error("a share is a number or a percentage, like 0.001 or 0.1%")]
    RatioUnit,
    /// A unit that a rate does not have.
    #[error("a rate is a number a second or a minute, like 4900/s or 300/m")]
    RateUnit,
    /// A percentage of a count without what it is a share of.
    #[error("a count is no share; write {0} / done, as in: {0} / done < 1%")]
    Share(&'static str),
    /// The whole as a bare number, where a percentage may be meant.
    #[error("1% or 1.0 of 1.0? write 1%, or 100% for all")]
    OnePercent,
    /// A share above the whole.
    #[error("a share is at most 100%; a percentage has its sign, like 5%")]
    AboveAll,
    /// The limit cannot be missed.
    #[error("every run meets this; write a limit that a run can miss")]
    AlwaysMet,
    /// The limit cannot be met.
    #[error("no run can meet this; write a limit that a run can meet")]
    NeverMet,
    /// Two names in one threshold, or a share with a name on one side.
    #[error(
        "a threshold is of one step, transaction or scenario; a share names it on both sides: failed(buy) / done(buy)"
    )]
    TwoParts,
    /// A figure that is not counted for steps and transactions.
    #[error(
        "this is known of a whole run or scenario only; of a step there are p99(response_time, NAME) and its kind (of a transaction of response_time alone), started(NAME), done, succeeded, failed, timed_out, unfinished, their shares, and rate(done, NAME)"
    )]
    NotOfPart,
    /// A step or transaction that is counted together with others.
    #[error(
        "this step or transaction is counted together with others: a run has {} of each with figures of their own; name the scenario instead, put the step into a transaction, or write it further up",
        SERIES_MAX - 1
    )]
    NoSeries,
    /// A unit where none is allowed.
    #[error("a count has no unit")]
    CountUnit,
    /// Text after its end.
    #[error("nothing but ', abort' or ', abort 10s' may follow")]
    Rest,
    /// The delay of an abort is no time.
    #[error("a time like 10s belongs here")]
    Delay,
    /// The text is too long.
    #[error("it is longer than {THRESHOLD_BYTES_MAX} bytes")]
    TooLong,
}

/// The unread rest of the text.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Consumes `mark` if it comes next.
    fn take(&mut self, mark: &str) -> bool {
        self.skip_blanks();
        let is_next = self.rest().starts_with(mark);
        self.at += if is_next { mark.len() } else { 0 };
        is_next
    }

    /// Consumes the characters of a word or a number.
    fn word(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        self.skip_blanks();
        let rest = self.rest();
        let end = rest.find(|each| !belongs(each)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Whether a comparison comes next; it is not consumed.
    fn compares_next(&mut self) -> bool {
        self.skip_blanks();
        self.rest().starts_with(['<', '>'])
    }

    fn name(&mut self) -> &'a str {
        self.word(|each| each.is_ascii_alphanumeric() || each == '_' || each == '.')
    }

    fn wrong(&mut self, fault: ThresholdFault) -> ThresholdError {
        self.skip_blanks();
        self.wrong_at(self.at, fault)
    }

    fn wrong_at(&self, at: usize, fault: ThresholdFault) -> ThresholdError {
        ThresholdError::at(self.text, at, fault)
    }
}

impl ThresholdError {
    /// An error at a byte of the text.
    pub(super) fn at(text: &str, at: usize, fault: ThresholdFault) -> Self {
        // The text stays one line, whatever was typed.
        let visible = |each: char| if each.is_control() { ' ' } else { each };
        Self { text: text.chars().map(visible).collect(), column: text[..at].chars().count(), fault }
    }

    /// Checks the length of the text.
    pub(super) fn check_length(text: &str) -> Result<(), Self> {
        if text.len() <= THRESHOLD_BYTES_MAX {
            return Ok(());
        }
        let head: String = text.chars().take(40).filter(|each| !each.is_control()).collect();
        Err(Self { text: format!("{head}..."), column: 0, fault: ThresholdFault::TooLong })
    }
}

impl Threshold {
    /// Parses a threshold.
    ///
    /// # Errors
    /// The position and the kind of the error.
    pub fn parse(text: &str) -> Result<Self, ThresholdError> {
        let mut cursor = Cursor { text, at: 0 };
        ThresholdError::check_length(text)?;
        let subject = read_subject(&mut cursor)?;
        let comparison = match () {
            () if cursor.take("<=") => Comparison::AtMost,
            () if cursor.take("<") => Comparison::Below,
            () if cursor.take(">=") => Comparison::AtLeast,
            () if cursor.take(">") => Comparison::Above,
            () => return Err(cursor.wrong(ThresholdFault::Comparison)),
        };
        let (start, limit, is_bare) = read_limit(&mut cursor, subject)?;
        if let Some(fault) = senseless(subject, comparison, limit, is_bare) {
            return Err(cursor.wrong_at(start, fault));
        }
        let own = text[..cursor.at].trim().to_owned();
        let abort_after = read_abort(&mut cursor)?;
        Ok(Self { text: own, subject, comparison, limit, abort_after, of: None })
    }
}

fn read_subject(cursor: &mut Cursor<'_>) -> Result<Subject, ThresholdError> {
    cursor.skip_blanks();
    let start = cursor.at;
    let name = cursor.name();
    if let Some(statistic) = read_statistic(name).map_err(|fault| cursor.wrong_at(start, fault))? {
        if cursor.compares_next() {
            return Ok(Subject::Time(statistic, Timed::Of(Measure::Response)));
        }
        if !cursor.take("(") {
            // A percentile alone is one of response times: the comparison is missing.
            return Err(cursor.wrong(ThresholdFault::Comparison));
        }
        cursor.skip_blanks();
        let start = cursor.at;
        let timed = match cursor.name() {
            "connect" => Timed::Connect,
            "tls_handshake" => Timed::TlsHandshake,
            "message" => Timed::Message,
            "message_gap" => Timed::MessageGap,
            name => match Measure::ALL.iter().find(|measure| measure.name() == name) {
                Some(measure) => Timed::Of(*measure),
                None => return Err(cursor.wrong_at(start, ThresholdFault::Measure)),
            },
        };
        if !cursor.take(")") {
            return Err(cursor.wrong(ThresholdFault::Parenthesis));
        }
        return Ok(Subject::Time(statistic, timed));
    }
    if name == "error_rate" {
        return Ok(Subject::Ratio(Counted::Failed, Counted::Done));
    }
    if matches!(name, "rate" | "rps" | "qps" | "tps") {
        let mut counter = Counted::Done;
        if cursor.take("(") {
            counter = read_counter(cursor)?.ok_or_else(|| cursor.wrong(ThresholdFault::Counter))?;
            if !cursor.take(")") {
                return Err(cursor.wrong(ThresholdFault::Parenthesis));
            }
        }
        return Ok(Subject::Rate(counter));
    }
    cursor.at = start;
    let Some(part) = read_counter(cursor)? else { return Err(cursor.wrong_at(start, ThresholdFault::Figure)) };
    if !cursor.take("/") {
        return Ok(Subject::Count(part));
    }
    let whole = read_counter(cursor)?.ok_or_else(|| cursor.wrong(ThresholdFault::Counter))?;
    Ok(Subject::Ratio(part, whole))
}

/// Parses a statistic; `Ok(None)` when the word is none.
fn read_statistic(name: &str) -> Result<Option<Statistic>, ThresholdFault> {
    Ok(Some(match name {
        "min" => Statistic::Min,
        "mean" | "avg" => Statistic::Mean,
        "stdev" => Statistic::Stdev,
        "max" => Statistic::Quantile(1.0),
        "med" | "median" => Statistic::Quantile(0.5),
        _ => match name.strip_prefix('p').filter(|digits| digits.starts_with(|each: char| each.is_ascii_digit())) {
            Some(digits)
                if !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') || digits.ends_with('.') =>
            {
                return Err(ThresholdFault::Percentile);
            }
            Some(digits) => match digits.parse::<f64>() {
                Ok(percent) if percent > 0.0 && percent <= 100.0 => Statistic::Quantile(percent / 100.0),
                _ => return Err(ThresholdFault::Percentile),
            },
            None => return Ok(None),
        },
    }))
}

/// The counter of a word that needs no argument; a name in parentheses after it is the part that is counted.
fn counter_of(word: &str) -> Option<Counted> {
    Some(match word {
        "started" => Counted::Started,
        "done" => Counted::Done,
        "succeeded" | "success" | "successes" => Counted::Succeeded,
        "failed" | "errors" | "failures" => Counted::Failed,
        "timed_out" => Counted::TimedOut,
        "dropped" => Counted::Dropped,
        "unfinished" => Counted::Unfinished,
        "lost" => Counted::Lost,
        "responses" => Counted::Responses,
        "reconnects" => Counted::Reconnects,
        "messages_sent" => Counted::MessagesSent,
        "messages_received" => Counted::MessagesReceived,
        _ => return None,
    })
}

/// Whether the parentheses after this word contain nothing but the name of a part.
pub(super) fn counts_alone(word: &str) -> bool {
    word == "error_rate" || counter_of(word).is_some()
}

/// Parses a counter; `Ok(None)`, and nothing consumed, when none comes next.
fn read_counter(cursor: &mut Cursor<'_>) -> Result<Option<Counted>, ThresholdError> {
    cursor.skip_blanks();
    let start = cursor.at;
    let name = cursor.name();
    if let Some(counter) = counter_of(name) {
        return Ok(Some(counter));
    }
    let counter = match name {
        "status" => {
            if !cursor.take("(") {
                return Err(cursor.wrong(ThresholdFault::Parenthesis));
            }
            cursor.skip_blanks();
            let start = cursor.at;
            let number = cursor.word(|each| each.is_ascii_digit()).parse::<u16>().ok();
            let Some(status) = number.filter(|status| usize::from(*status) < STATUS_COUNT) else {
                return Err(cursor.wrong_at(start, ThresholdFault::Number));
            };
            if !cursor.take(")") {
                return Err(cursor.wrong(ThresholdFault::Parenthesis));
            }
            Counted::Status(status)
        }
        "grpc_status" => {
            if !cursor.take("(") {
                return Err(cursor.wrong(ThresholdFault::Parenthesis));
            }
            cursor.skip_blanks();
            let start = cursor.at;
            let name = cursor.word(|each| each.is_ascii_alphanumeric() || each == '_');
            let number = GRPC_STATUSES.iter().position(|known| known.eq_ignore_ascii_case(name));
            let number = number.or_else(|| name.parse().ok().filter(|number| *number < GRPC_STATUSES.len()));
            let Some(status) = number else { return Err(cursor.wrong_at(start, ThresholdFault::GrpcStatus)) };
            if !cursor.take(")") {
                return Err(cursor.wrong(ThresholdFault::Parenthesis));
            }
            Counted::GrpcStatus(status as u8)
        }
        _ => {
            cursor.at = start;
            return Ok(None);
        }
    };
    Ok(Some(counter))
}

/// A limit that can never be missed or never be met, or that is probably a slip.
fn senseless(subject: Subject, comparison: Comparison, limit: f64, is_bare: bool) -> Option<ThresholdFault> {
    let is_share = matches!(subject, Subject::Ratio(part, whole) if part.is_part_of(whole));
    let (is_nothing, is_all) = (limit <= 0.0, is_share && limit >= 1.0);
    match comparison {
        _ if is_share && limit > 1.0 => Some(ThresholdFault::AboveAll),
        _ if is_all && is_bare => Some(ThresholdFault::OnePercent),
        Comparison::Below if is_nothing => Some(ThresholdFault::NeverMet),
        Comparison::AtLeast if is_nothing => Some(ThresholdFault::AlwaysMet),
        Comparison::AtMost if is_all => Some(ThresholdFault::AlwaysMet),
        Comparison::Above if is_all => Some(ThresholdFault::NeverMet),
        _ => None,
    }
}

/// The position of the number, its value in the unit of the figure, and whether it has no unit.
fn read_limit(cursor: &mut Cursor<'_>, subject: Subject) -> Result<(usize, f64, bool), ThresholdError> {
    cursor.skip_blanks();
    let number_at = cursor.at;
    let digits = cursor.word(|each| each.is_ascii_digit() || each == '.' || each == '_').replace('_', "");
    // Forms that the standard library accepts beyond digits (inf, 1e3) are not accepted.
    let number = digits.parse::<f64>().map_err(|_| cursor.wrong_at(number_at, ThresholdFault::Number))?;
    cursor.skip_blanks();
    let start = cursor.at;
    let mut unit = cursor.word(|each| each.is_ascii_alphabetic() || each == '%' || each == '/');
    if unit == "abort" {
        (unit, cursor.at) = ("", start);
    }
    let (factor, fault) = match subject {
        Subject::Time(..) => {
            let factor = match unit {
                "ns" => Some(1.0),
                "us" => Some(1e3),
                "ms" => Some(1e6),
                "s" => Some(1e9),
                "m" | "min" => Some(60e9),
                _ => None,
            };
            (factor, ThresholdFault::TimeUnit)
        }
        Subject::Count(counter) if unit == "%" => (None, ThresholdFault::Share(counter.word())),
        Subject::Count(_) => (unit.is_empty().then_some(1.0), ThresholdFault::CountUnit),
        Subject::Ratio(..) => {
            let factor = match unit {
                "" => Some(1.0),
                "%" => Some(0.01),
                _ => None,
            };
            (factor, ThresholdFault::RatioUnit)
        }
        Subject::Rate(_) => {
            let factor = match unit {
                "" | "/s" => Some(1.0),
                "/m" => Some(1.0 / 60.0),
                "/h" => Some(1.0 / 3_600.0),
                _ => None,
            };
            (factor, ThresholdFault::RateUnit)
        }
    };
    let factor = factor.ok_or_else(|| cursor.wrong_at(start, fault))?;
    Ok((number_at, number * factor, unit.is_empty()))
}

/// Parses `, abort` or `, abort 10s`; nothing else may follow.
fn read_abort(cursor: &mut Cursor<'_>) -> Result<Option<Duration>, ThresholdError> {
    cursor.skip_blanks();
    if cursor.rest().is_empty() {
        return Ok(None);
    }
    let start = cursor.at;
    // The comma may be left out.
    cursor.take(",");
    if cursor.name() != "abort" {
        return Err(cursor.wrong_at(start, ThresholdFault::Rest));
    }
    cursor.take("after");
    cursor.skip_blanks();
    if cursor.rest().is_empty() {
        return Ok(Some(Duration::ZERO));
    }
    let start = cursor.at;
    let digits = cursor.word(|each| each.is_ascii_digit() || each == '.');
    let number = digits.parse::<f64>().ok().filter(|number| *number <= 1e9);
    let factor = match cursor.word(|each| each.is_ascii_alphabetic()) {
        "ms" => Some(1e-3),
        "s" => Some(1.0),
        "m" | "min" => Some(60.0),
        "h" => Some(3_600.0),
        _ => None,
    };
    let delay = number.zip(factor).map(|(number, factor)| Duration::from_secs_f64(number * factor));
    let delay = delay.ok_or_else(|| cursor.wrong_at(start, ThresholdFault::Delay))?;
    cursor.skip_blanks();
    if cursor.rest().is_empty() { Ok(Some(delay)) } else { Err(cursor.wrong(ThresholdFault::Rest)) }
}
