//! The parser of thresholds. Every error has its position.

use std::net::SocketAddr;
use std::time::Duration;

use super::by_address::{ADDRESS, Scope, WORST};
use super::fault::{ThresholdError, ThresholdFault};
use super::own::{OwnStatistic, OwnSubject};
use super::status_word::StatusWord;
use super::{Comparison, Counted, Statistic, Subject, Threshold, Timed};
use crate::{GRPC_STATUSES, Measure, OwnFigure, STATUS_COUNT};

/// The unread rest of the text.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// The figures of the user's own.
    own: &'a [OwnFigure],
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

    /// Whether a figure ends here: with a comparison, or the parenthesis around it. Neither is consumed.
    fn figure_ends(&mut self) -> bool {
        self.skip_blanks();
        self.rest().starts_with(['<', '>', '=', '!', ')'])
    }

    /// Consumes a parenthesis.
    fn open(&mut self) -> Result<(), ThresholdError> {
        if self.take("(") { Ok(()) } else { Err(self.wrong(ThresholdFault::Parenthesis)) }
    }

    /// Consumes the parenthesis at the end of something that cannot be of an address.
    fn close(&mut self) -> Result<(), ThresholdError> {
        if self.take(")") {
            return Ok(());
        }
        self.skip_blanks();
        let at = self.at;
        let is_of_address = self.take(",") && self.take(ADDRESS);
        self.at = at;
        Err(self.wrong(if is_of_address { ThresholdFault::NotOfAddress } else { ThresholdFault::Parenthesis }))
    }

    /// Consumes `address=10.0.0.4:8080` after a mark; nothing when that does not come next.
    fn address(&mut self, mark: &str) -> Result<Option<SocketAddr>, ThresholdError> {
        let start = self.at;
        if !(self.take(mark) && self.take(ADDRESS) && self.take("=")) {
            self.at = start;
            return Ok(None);
        }
        self.skip_blanks();
        let start = self.at;
        match self.word(|each| !matches!(each, '(' | ')' | ',') && !each.is_whitespace()).parse::<SocketAddr>() {
            Ok(address) => Ok(Some(address)),
            Err(_) => Err(self.wrong_at(start, ThresholdFault::Address)),
        }
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

impl Threshold {
    /// Parses a threshold.
    ///
    /// # Errors
    /// The position and the kind of the error.
    pub fn parse(text: &str) -> Result<Self, ThresholdError> {
        Self::parse_of_all(text, &[])
    }

    /// The same, where a run has these figures of the user's own.
    pub(super) fn parse_of_all(text: &str, own: &[OwnFigure]) -> Result<Self, ThresholdError> {
        let mut cursor = Cursor { text, at: 0, own };
        ThresholdError::check_length(text)?;
        let (subject, scope) = read_figure(&mut cursor)?;
        cursor.skip_blanks();
        let comparison_at = cursor.at;
        let comparison = match () {
            () if cursor.take("==") => Comparison::Equal,
            () if cursor.take("!=") => Comparison::Unequal,
            () if cursor.take("<=") => Comparison::AtMost,
            () if cursor.take("<") => Comparison::Below,
            () if cursor.take(">=") => Comparison::AtLeast,
            () if cursor.take(">") => Comparison::Above,
            () => return Err(cursor.wrong(ThresholdFault::Comparison)),
        };
        let is_count = match subject {
            Subject::Count(_) => scope != Scope::WorstAddress,
            Subject::Own(own) => own.is_exact(),
            _ => false,
        };
        if comparison.is_of_one_value() && !is_count {
            return Err(cursor.wrong_at(comparison_at, ThresholdFault::NotACount));
        }
        let (start, limit, is_bare) = read_limit(&mut cursor, subject)?;
        if let Some(fault) = senseless(subject, comparison, limit, is_bare) {
            return Err(cursor.wrong_at(start, fault));
        }
        let own = text[..cursor.at].trim().to_owned();
        cursor.skip_blanks();
        let abort_at = cursor.at;
        let abort_after = read_abort(&mut cursor)?;
        if abort_after.is_some() && scope != Scope::All {
            return Err(cursor.wrong_at(abort_at, ThresholdFault::AbortByAddress));
        }
        Ok(Self { text: own, subject, scope, comparison, limit, abort_after, of: None })
    }
}

/// Parses a figure of all, of one address, or of the address with the worst value.
fn read_figure(cursor: &mut Cursor<'_>) -> Result<(Subject, Scope), ThresholdError> {
    cursor.skip_blanks();
    let start = cursor.at;
    let is_of_worst = cursor.name() == WORST;
    if is_of_worst {
        cursor.open()?;
    } else {
        cursor.at = start;
    }
    let (subject, address) = read_subject(cursor)?;
    if is_of_worst {
        // The name of a step may stand here.
        if address.is_some() || cursor.take("(") {
            return Err(cursor.wrong_at(start, ThresholdFault::NotOfAddress));
        }
        cursor.close()?;
    }
    let scope = match address {
        _ if is_of_worst => Scope::WorstAddress,
        Some(address) => Scope::Address(address),
        None => Scope::All,
    };
    if scope != Scope::All && !subject.is_of_address() {
        return Err(cursor.wrong_at(start, ThresholdFault::NotOfAddress));
    }
    Ok((subject, scope))
}

/// Parses a figure, and the address that it is of.
fn read_subject(cursor: &mut Cursor<'_>) -> Result<(Subject, Option<SocketAddr>), ThresholdError> {
    cursor.skip_blanks();
    let start = cursor.at;
    let name = cursor.name();
    if let Some(statistic) = read_statistic(name).map_err(|fault| cursor.wrong_at(start, fault))? {
        return read_time(cursor, statistic);
    }
    if let Some(statistic) = OwnStatistic::named(name) {
        cursor.open()?;
        return Ok((read_own(cursor, statistic)?, None));
    }
    if name == "count" && cursor.take("(") {
        return Err(cursor.wrong_at(start, ThresholdFault::CountOfPart));
    }
    if name == "error_rate" {
        let address = cursor.address("(")?;
        if address.is_some() {
            cursor.close()?;
        }
        return Ok((Subject::Ratio(Counted::Failed, Counted::Done), address));
    }
    if matches!(name, "rate" | "rps" | "qps" | "tps") {
        let (mut counter, mut address) = (Counted::Done, None);
        if cursor.take("(") {
            cursor.skip_blanks();
            let is_name = cursor.rest().starts_with(char::is_alphanumeric);
            let fault = if is_name { ThresholdFault::RateOfPart } else { ThresholdFault::Counter };
            (counter, address) = read_counter(cursor)?.ok_or_else(|| cursor.wrong(fault))?;
            cursor.close()?;
        }
        return Ok((Subject::Rate(counter), address));
    }
    cursor.at = start;
    let Some((part, address)) = read_counter(cursor)? else {
        return Err(cursor.wrong_at(start, ThresholdFault::Figure));
    };
    if !cursor.take("/") {
        return Ok((Subject::Count(part), address));
    }
    cursor.skip_blanks();
    let start = cursor.at;
    let (whole, other) = read_counter(cursor)?.ok_or_else(|| cursor.wrong(ThresholdFault::Counter))?;
    if address != other {
        return Err(cursor.wrong_at(start, ThresholdFault::TwoParts));
    }
    Ok((Subject::Ratio(part, whole), address))
}

/// Parses the time of a statistic.
fn read_time(cursor: &mut Cursor<'_>, statistic: Statistic) -> Result<(Subject, Option<SocketAddr>), ThresholdError> {
    if cursor.figure_ends() {
        return Ok((Subject::Time(statistic, Timed::Of(Measure::Response)), None));
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
            None => return Ok((own_named(cursor, start, OwnStatistic::Of(statistic), name)?, None)),
        },
    };
    let address = cursor.address(",")?;
    cursor.close()?;
    Ok((Subject::Time(statistic, timed), address))
}

/// Parses the name of a figure of the user's own, and the parenthesis after it.
fn read_own(cursor: &mut Cursor<'_>, statistic: OwnStatistic) -> Result<Subject, ThresholdError> {
    cursor.skip_blanks();
    let start = cursor.at;
    let name = cursor.name();
    own_named(cursor, start, statistic, name)
}

/// The figure of the user's own with this name, which began at `start`; consumes the parenthesis after it.
fn own_named(
    cursor: &mut Cursor<'_>,
    start: usize,
    statistic: OwnStatistic,
    name: &str,
) -> Result<Subject, ThresholdError> {
    let is_of_times = matches!(statistic, OwnStatistic::Of(_));
    let unknown = if is_of_times { ThresholdFault::Measure } else { ThresholdFault::NoOwnFigure };
    let subject = OwnSubject::subject(statistic, name, cursor.own).unwrap_or(Err(unknown));
    let subject = subject.map_err(|fault| cursor.wrong_at(start, fault))?;
    cursor.close()?;
    Ok(subject)
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
pub(super) fn counter_of(word: &str) -> Option<Counted> {
    Some(match word {
        "started" => Counted::Started,
        "done" => Counted::Done,
        "succeeded" | "success" | "successes" => Counted::Succeeded,
        "failed" | "errors" | "failures" => Counted::Failed,
        "timed_out" => Counted::TimedOut,
        "missed_deadline" => Counted::MissedDeadline,
        "retried" => Counted::Retried,
        "failed_for_good" => Counted::FailedForGood,
        "in_deadline" => Counted::InDeadline,
        "dropped" => Counted::Dropped,
        "unfinished" => Counted::Unfinished,
        "lost" => Counted::Lost,
        "responses" => Counted::Responses,
        "reconnects" => Counted::Reconnects,
        "messages_sent" => Counted::MessagesSent,
        "messages_received" => Counted::MessagesReceived,
        _ => return Counted::DATAGRAMS.into_iter().find(|counter| counter.name() == word).map(Counted::Datagrams),
    })
}

/// Whether the parentheses after this word contain nothing but the name of a part.
pub(super) fn counts_alone(word: &str) -> bool {
    word == "error_rate" || counter_of(word).is_some()
}

/// Parses a counter, and the address that it is of; `Ok(None)`, and nothing consumed, when none comes next.
fn read_counter(cursor: &mut Cursor<'_>) -> Result<Option<(Counted, Option<SocketAddr>)>, ThresholdError> {
    cursor.skip_blanks();
    let start = cursor.at;
    let name = cursor.name();
    if let Some(counter) = counter_of(name) {
        let address = cursor.address("(")?;
        if address.is_some() {
            cursor.close()?;
        }
        return Ok(Some((counter, address)));
    }
    let counter = match name {
        "status" => {
            cursor.open()?;
            cursor.skip_blanks();
            let start = cursor.at;
            let text = cursor.word(StatusWord::has);
            let number = text.parse::<u16>().ok().filter(|status| usize::from(*status) < STATUS_COUNT);
            let status = number.map(Counted::Status).or_else(|| StatusWord::new(text).map(Counted::StatusWord));
            let status = status.ok_or_else(|| cursor.wrong_at(start, ThresholdFault::Status))?;
            cursor.close()?;
            status
        }
        "grpc_status" => {
            cursor.open()?;
            cursor.skip_blanks();
            let start = cursor.at;
            let name = cursor.word(|each| each.is_ascii_alphanumeric() || each == '_');
            let number = GRPC_STATUSES.iter().position(|known| known.eq_ignore_ascii_case(name));
            let number = number.or_else(|| name.parse().ok().filter(|number| *number < GRPC_STATUSES.len()));
            let Some(status) = number else { return Err(cursor.wrong_at(start, ThresholdFault::GrpcStatus)) };
            cursor.close()?;
            Counted::GrpcStatus(status as u8)
        }
        _ => {
            cursor.at = start;
            return Ok(None);
        }
    };
    Ok(Some((counter, None)))
}

/// A limit that can never be missed or never be met, or that is probably a slip.
fn senseless(subject: Subject, comparison: Comparison, limit: f64, is_bare: bool) -> Option<ThresholdFault> {
    let is_share = match subject {
        Subject::Ratio(part, whole) => part.is_part_of(whole),
        Subject::Own(own) => own.is_share(),
        _ => false,
    };
    if matches!(subject, Subject::Own(own) if own.may_be_negative()) {
        return None;
    }
    let is_whole = matches!(subject, Subject::Count(_));
    let (is_nothing, is_all) = (limit <= 0.0, is_share && limit >= 1.0);
    match comparison {
        _ if is_share && limit > 1.0 => Some(ThresholdFault::AboveAll),
        _ if is_all && is_bare => Some(ThresholdFault::OnePercent),
        Comparison::Below if is_nothing => Some(ThresholdFault::NeverMet),
        Comparison::AtLeast if is_nothing => Some(ThresholdFault::AlwaysMet),
        Comparison::Equal if is_whole && limit.fract() != 0.0 => Some(ThresholdFault::NeverMet),
        Comparison::Unequal if is_whole && limit.fract() != 0.0 => Some(ThresholdFault::AlwaysMet),
        Comparison::AtMost if is_all => Some(ThresholdFault::AlwaysMet),
        Comparison::Above if is_all => Some(ThresholdFault::NeverMet),
        _ => None,
    }
}

/// The position of the number, its value in the unit of the figure, and whether it has no unit.
fn read_limit(cursor: &mut Cursor<'_>, subject: Subject) -> Result<(usize, f64, bool), ThresholdError> {
    cursor.skip_blanks();
    let number_at = cursor.at;
    let own = if let Subject::Own(own) = subject { Some(own) } else { None };
    let is_negative = own.is_some_and(OwnSubject::may_be_negative) && cursor.take("-");
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
        Subject::Own(own) if !own.is_share() => {
            let factor = if is_negative { -1.0 } else { 1.0 };
            (unit.is_empty().then_some(factor), ThresholdFault::OwnUnit)
        }
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
        Subject::Ratio(..) | Subject::Own(_) => {
            let factor = match unit {
                "" => Some(1.0),
                "%" => Some(1.0),
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
    // A share of 95 in 100 is the number nearest to 0.95, which 95 times 0.01 is not.
    let number = if unit == "%" { number / 100.0 } else { number * factor };
    Ok((number_at, number, unit.is_empty()))
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
