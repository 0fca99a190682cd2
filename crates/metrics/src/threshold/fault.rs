//! Errors in the text of a threshold, each with its position.

use super::THRESHOLD_BYTES_MAX;
use crate::{OwnKind, SERIES_MAX, STATUS_WORD_BYTES_MAX};

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
        "no such figure; there are min, mean, stdev, max, p50, p99.9 of (response_time), (service_time), (wait), (lateness), (first_byte), (connect), (tls_handshake), (message) or (message_gap); started, done, succeeded, failed, timed_out, retried, failed_for_good, missed_deadline, in_deadline, dropped, unfinished, responses, reconnects, status(N), status(WORD), grpc_status(NAME), messages_sent, messages_received; of datagrams resent, late_responses, duplicate_responses, unmatched_datagrams, refused_datagrams, cut_datagrams, kernel_drops, over_stream; rate; and sum, share, least, greatest, last of figures of the file"
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
    /// What is no status.
    #[error(
        "a status is missing here, like 503, or a word of at most {STATUS_WORD_BYTES_MAX} letters, digits, - and _"
    )]
    Status,
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
        "a threshold is of one step, transaction, scenario or address; a share names it on both sides: failed(buy) / done(buy)"
    )]
    TwoParts,
    /// A figure that is not counted for steps and transactions.
    #[error(
        "this is known of a whole run or scenario only; of a step there are p99(response_time, NAME) and its kind (of a transaction of response_time alone), started(NAME), done, succeeded, failed, timed_out, retried, failed_for_good, unfinished, missed_deadline, in_deadline, their shares, and rate(done, NAME)"
    )]
    NotOfPart,
    /// A figure that is not counted for checks.
    #[error(
        "a check has counts and no times; of a check there are done(NAME), succeeded(NAME), failed(NAME), their shares, and rate(done, NAME)"
    )]
    NotOfCheck,
    /// A figure of deadlines in a run that has none.
    #[error(
        "no step has a deadline; give one with --deadline, or with 'deadline' in a step or transaction of the file"
    )]
    NoDeadline,
    /// A rate with a name in the place of a counter.
    #[error("a counter belongs here, and the part after it: rate(done, NAME), as in rate(done, search) > 100/s")]
    RateOfPart,
    /// A count of a name by the word `count`.
    #[error("there is no figure 'count'; write done(NAME), as in done(orders) == 500")]
    CountOfPart,
    /// A figure that is not a whole number is compared with one value.
    #[error("== and != are for counts, as in failed(NAME) == 0; compare a time, a share or a rate with <, <=, > or >=")]
    NotACount,
    /// A step or transaction that is counted together with others.
    #[error(
        "this step or transaction is counted together with others: a run has {} of each with figures of their own; name the scenario instead, put the step into a transaction, or write it further up",
        SERIES_MAX - 1
    )]
    NoSeries,
    /// No figure of the file has this name.
    #[error(
        "the file has no figure of this name; define it at the top: 'figures: {{orders: counter}}', and give it values with 'record'"
    )]
    NoOwnFigure,
    /// A figure of the file does not have this statistic.
    #[error("this figure is a {}, which has {}; write one of these, or give it another kind", .0.name(), .0.statistics())]
    NotOfFigure(OwnKind),
    /// A figure of the file is judged for a step.
    #[error(
        "a figure of the file is known of the whole run and of scenarios; leave the name out, or write that of a scenario"
    )]
    FigureOfPart,
    /// A unit after the limit of a figure of the file.
    #[error(
        "a figure of the file is compared with a number alone, which is in the unit of the figure; leave the unit out"
    )]
    OwnUnit,
    /// An address is missing after `address=`.
    #[error("an address and its port belong here, like 10.0.0.4:8080 or [2001:db8::4]:8080")]
    Address,
    /// A figure that is not counted by address.
    #[error(
        "by address, over all steps, there are min, mean, max and percentiles of response_time; done, succeeded, failed and responses; and shares of done and of responses"
    )]
    NotOfAddress,
    /// A threshold by address stops no run.
    #[error("one by address is judged at the end; leave 'abort' out")]
    AbortByAddress,
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
