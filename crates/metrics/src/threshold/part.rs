//! The scenario, step or transaction of a threshold: `p99(response_time, buy)`, `failed(buy) / done(buy)`.

use std::ops::Range;

use super::by_address::{is_address, is_of_worst};
use super::fault::{ThresholdError, ThresholdFault};
use super::parse::counts_alone;
use super::{Counted, Subject, Threshold, Timed};
use crate::{Catalog, Measure, Named, OwnFigure, SeriesKind};

/// The part that the text of a threshold names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPart {
    /// The name.
    pub name: String,
    /// The range of its first occurrence.
    pub at: Range<usize>,
    /// The ranges that are removed to get the same threshold of all, in order.
    cuts: Vec<Range<usize>>,
}

impl NamedPart {
    /// The part that a text names; `None` for a threshold of all, or by address.
    ///
    /// # Errors
    /// A share names two parts, or one on one side alone.
    pub fn parse(text: &str) -> Result<Option<Self>, ThresholdError> {
        let (mut found, mut sides, mut from): (Option<Self>, usize, usize) = (None, 1, 0);
        let mut named = 0;
        if is_of_worst(text) {
            return Ok(None);
        }
        while let Some(open) = text[from..].find(['(', '/', '<', '>', '=', '!']).map(|at| from + at) {
            match text.as_bytes()[open] {
                b'/' => {
                    (sides, from) = (sides + 1, open + 1);
                    continue;
                }
                b'(' => {}
                _ => break,
            }
            let Some(close) = matching(&text[open..]).map(|at| open + at) else { break };
            if let Some((cut, at)) = name_within(text, from, open..close) {
                named += 1;
                match &mut found {
                    None => found = Some(Self { name: text[at.clone()].to_owned(), at, cuts: vec![cut] }),
                    Some(part) if part.name == text[at.clone()] => part.cuts.push(cut),
                    Some(_) => return Err(ThresholdError::at(text, at.start, ThresholdFault::TwoParts)),
                }
            }
            from = close + 1;
        }
        match found {
            Some(part) if named < sides => Err(ThresholdError::at(text, part.at.start, ThresholdFault::TwoParts)),
            found => Ok(found),
        }
    }

    /// The same threshold of all.
    pub fn without(&self, text: &str) -> String {
        let mut rest = 0;
        let mut whole = String::with_capacity(text.len());
        for cut in &self.cuts {
            whole.push_str(&text[rest..cut.start]);
            rest = cut.end;
        }
        whole + &text[rest..]
    }

    /// The position in the text of a position in [`Self::without`].
    pub fn place(&self, at: usize) -> usize {
        self.cuts.iter().fold(at, |at, cut| if at >= cut.start { at + cut.len() } else { at })
    }
}

/// The name within parentheses, and the text removed with it; the figure is between `from` and them.
fn name_within(text: &str, from: usize, within: Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
    let Range { start: open, end: close } = within;
    let (cut, start) = if counts_alone(text[from..open].trim()) {
        (open..close + 1, open + 1)
    } else {
        let comma = open + text[open..close].find(',')?;
        (comma..close, comma + 1)
    };
    let name = text[start..close].trim();
    let start = start + text[start..close].find(name)?;
    (!name.is_empty() && !is_address(name)).then(|| (cut, start..start + name.len()))
}

/// The parenthesis that closes the first: names may contain some, too.
fn matching(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    text.char_indices().find_map(|(at, each)| {
        depth = match each {
            '(' => depth + 1,
            ')' => depth.saturating_sub(1),
            _ => depth,
        };
        (each == ')' && depth == 0).then_some(at)
    })
}

impl Threshold {
    /// Parses a threshold, which may be about one scenario, step or transaction: `p99(response_time, buy) < 2s`,
    /// `done(buy) >= 5`.
    ///
    /// # Errors
    /// The position and the kind of the error.
    pub fn parse_of_part(text: &str) -> Result<Self, ThresholdError> {
        Self::parse_with(text, &[])
    }

    /// The same, where a run has these figures of the user's own.
    ///
    /// # Errors
    /// The position and the kind of the error.
    pub fn parse_with(text: &str, own: &[OwnFigure]) -> Result<Self, ThresholdError> {
        ThresholdError::check_length(text)?;
        let Some(part) = NamedPart::parse(text)? else { return Self::parse_of_all(text, own) };
        let whole = part.without(text);
        let read = Self::parse_of_all(&whole, own).map_err(|error| {
            let at = whole.char_indices().nth(error.column).map_or(whole.len(), |(at, _)| at);
            ThresholdError::at(text, part.place(at), error.fault)
        })?;
        let blanks = whole.len() - whole.trim_start().len();
        let own = text[..part.place(blanks + read.text.len())].trim().to_owned();
        Ok(Self { text: own, of: Some(part.name), ..read })
    }

    /// Whether it is about deadlines.
    pub fn is_of_deadlines(&self) -> bool {
        let is_of = |counter| matches!(counter, Counted::MissedDeadline | Counted::InDeadline);
        match self.subject {
            Subject::Time(..) | Subject::Own(_) => false,
            Subject::Count(counter) | Subject::Rate(counter) => is_of(counter),
            Subject::Ratio(part, whole) => is_of(part) || is_of(whole),
        }
    }

    /// The reason why it cannot judge the part that it names; `None` where it can, or where nothing has the name.
    pub fn wrong_part(&self, catalog: &Catalog) -> Option<ThresholdFault> {
        let (kind, has_own) = match catalog.named(self.of.as_deref()?)? {
            Named::Scenario(_) => return None,
            Named::Series { kind, has_own, .. } => (kind, has_own),
        };
        if matches!(self.subject, Subject::Own(_)) {
            return Some(ThresholdFault::FigureOfPart);
        }
        if kind == SeriesKind::Transaction && self.subject.is_of_tries() {
            return Some(ThresholdFault::NotOfPart);
        }
        if kind == SeriesKind::Check && !self.subject.is_of_checks() {
            return Some(ThresholdFault::NotOfCheck);
        }
        let is_known = match self.subject {
            Subject::Time(_, Timed::Of(measure)) => match kind {
                SeriesKind::Step => true,
                _ => measure == Measure::Response,
            },
            Subject::Time(..) => false,
            Subject::Count(counter) | Subject::Rate(counter) => counter.is_of_parts(),
            Subject::Ratio(part, whole) => part.is_of_parts() && whole.is_of_parts(),
            Subject::Own(_) => false,
        };
        match (is_known, has_own) {
            (false, _) => Some(ThresholdFault::NotOfPart),
            (true, false) => Some(ThresholdFault::NoSeries),
            (true, true) => None,
        }
    }
}

impl Subject {
    /// Whether it tells tries apart.
    fn is_of_tries(&self) -> bool {
        match self {
            Self::Time(..) | Self::Own(_) => false,
            Self::Count(counter) | Self::Rate(counter) => counter.is_of_tries(),
            Self::Ratio(part, whole) => part.is_of_tries() || whole.is_of_tries(),
        }
    }

    /// Whether it is known of a check, which has counts and no times.
    fn is_of_checks(self) -> bool {
        match self {
            Self::Time(..) | Self::Own(_) => false,
            Self::Count(counter) | Self::Rate(counter) => counter.is_of_checks(),
            Self::Ratio(part, whole) => part.is_of_checks() && whole.is_of_checks(),
        }
    }
}

impl Counted {
    /// Whether it tells tries apart, which a transaction has inside it.
    fn is_of_tries(self) -> bool {
        matches!(self, Self::Retried | Self::FailedForGood)
    }

    /// Whether it is counted for each check.
    fn is_of_checks(self) -> bool {
        matches!(self, Self::Done | Self::Succeeded | Self::Failed)
    }

    /// Whether it is counted for each step and transaction.
    fn is_of_parts(self) -> bool {
        let of_deadlines = matches!(self, Self::MissedDeadline | Self::InDeadline);
        let is_end = matches!(self, Self::Done | Self::Succeeded | Self::Failed | Self::TimedOut);
        is_end || self.is_of_tries() || of_deadlines || matches!(self, Self::Started | Self::Unfinished)
    }
}
