//! Conditions on differences that fail a comparison: `p99(response_time) > +10%`.

use crate::compare::{Comparison, Difference, FIGURES, Figure};

/// An error in the text of a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FailIfError {
    /// No figure has this name.
    #[error("'{name}' is no figure that is compared; there are: {}", known())]
    Figure {
        /// The name, as given.
        name: String,
    },
    /// The text has not the form of a condition.
    #[error("'{text}' is not valid for --fail-if; write it like: p99(response_time) > +10%, or: rate < -5%")]
    Form {
        /// The text, as given.
        text: String,
    },
}

fn known() -> String {
    FIGURES.map(Figure::name).join(", ")
}

/// A condition on a difference that fails a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct FailIf {
    /// The condition as it was written.
    pub text: String,
    figure: Figure,
    is_above: bool,
    /// The limit, as a share.
    limit: f64,
}

/// The result of a condition for a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// The difference is there.
    Struck,
    /// The difference is not there. Stalls of onrush in the second side do not change that: they make nothing better.
    Passed,
    /// Unknown: too little was measured.
    TooLittle,
    /// Unknown: onrush stalled in the first side, or was its bottleneck, so a regression may be hidden.
    BaselineStalled,
}

impl FailIf {
    /// Parses a condition.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, FailIfError> {
        let form = || FailIfError::Form { text: text.chars().take(100).collect() };
        let at = text.find(['<', '>']).ok_or_else(form)?;
        let (name, rest) = text.split_at(at);
        let is_above = rest.starts_with('>');
        let plain = |name: &str| name.chars().filter(|sign| !sign.is_whitespace()).collect::<String>();
        let name = name.trim();
        let figure = FIGURES.into_iter().find(|figure| {
            let known = plain(figure.name());
            // `p99` alone means that of response times.
            known == plain(name) || known.strip_suffix("(response_time)") == Some(&*plain(name))
        });
        let figure = figure.ok_or_else(|| FailIfError::Figure { name: name.chars().take(100).collect() })?;
        let number = rest[1..].trim().strip_suffix('%').ok_or_else(form)?.trim();
        let limit: f64 = number.parse().map_err(|_| form())?;
        // The sign of the limit must agree with the comparison operator; otherwise the condition would hold for equal
        // runs.
        if !limit.is_finite() || (is_above && limit < 0.0) || (!is_above && limit > 0.0) {
            return Err(form());
        }
        Ok(Self { text: text.trim().to_owned(), figure, is_above, limit: limit / 100.0 })
    }

    /// Evaluates the condition for a comparison.
    pub fn judge(&self, comparison: &Comparison) -> Ruling {
        match self.difference(comparison) {
            Some(one) if one.change.is_some() && one.chance.is_some() => match self.is_met(comparison) {
                true => Ruling::Struck,
                // Times that were slow because onrush stalled hide what became slower since.
                false if one.is_stalled[0] => Ruling::BaselineStalled,
                false => Ruling::Passed,
            },
            _ => Ruling::TooLittle,
        }
    }

    /// Whether the difference exceeds the limit, and the noise.
    pub fn is_met(&self, comparison: &Comparison) -> bool {
        let Some(one) = self.difference(comparison).filter(|one| one.is_clear) else { return false };
        let is_beyond = |change: f64| if self.is_above { change > self.limit } else { change < self.limit };
        // Both the totals and the intervals must show it.
        [one.change, one.change_of_intervals].into_iter().all(|change| change.is_some_and(is_beyond))
    }

    /// The difference that the condition is about.
    pub fn difference<'a>(&self, comparison: &'a Comparison) -> Option<&'a Difference> {
        comparison.differences.iter().find(|one| one.figure == self.figure)
    }
}

#[cfg(test)]
mod tests;
