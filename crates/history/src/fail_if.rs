//! Differences that may not be: `p99(response_time) > +10%`.

use crate::compare::{Comparison, Difference, FIGURES, Figure};

/// A text that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FailIfError {
    /// There is no figure of this name.
    #[error("'{name}' is no figure that is compared; there are: {}", known())]
    Figure {
        /// As given.
        name: String,
    },
    /// It is not written as it should be.
    #[error("'{text}' is not valid for --fail-if; write it like: p99(response_time) > +10%, or: rate < -5%")]
    Form {
        /// As given.
        text: String,
    },
}

fn known() -> String {
    FIGURES.map(Figure::name).join(", ")
}

/// A difference that may not be.
#[derive(Clone, Debug, PartialEq)]
pub struct FailIf {
    /// As it was written.
    pub text: String,
    figure: Figure,
    is_above: bool,
    /// As a share.
    limit: f64,
}

/// What a comparison says of a difference that may not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It is there.
    Struck,
    /// It is not there. Stalls of onrush in the second side do not change that: they make nothing better.
    Passed,
    /// Not known: too little was measured.
    TooLittle,
    /// Not known: onrush stalled in the first side, or was its limit, so what became worse may be hidden.
    BaselineStalled,
}

impl FailIf {
    /// Reads one.
    ///
    /// # Errors
    /// How it is none.
    pub fn parse(text: &str) -> Result<Self, FailIfError> {
        let form = || FailIfError::Form { text: text.chars().take(100).collect() };
        let at = text.find(['<', '>']).ok_or_else(form)?;
        let (name, rest) = text.split_at(at);
        let is_above = rest.starts_with('>');
        let plain = |name: &str| name.chars().filter(|sign| !sign.is_whitespace()).collect::<String>();
        let name = name.trim();
        let figure = FIGURES.into_iter().find(|figure| {
            let known = plain(figure.name());
            // `p99` is that of response times.
            known == plain(name) || known.strip_suffix("(response_time)") == Some(&*plain(name))
        });
        let figure = figure.ok_or_else(|| FailIfError::Figure { name: name.chars().take(100).collect() })?;
        let number = rest[1..].trim().strip_suffix('%').ok_or_else(form)?.trim();
        let limit: f64 = number.parse().map_err(|_| form())?;
        // Up is more, down is less: anything else would hold of equal runs.
        if !limit.is_finite() || (is_above && limit < 0.0) || (!is_above && limit > 0.0) {
            return Err(form());
        }
        Ok(Self { text: text.trim().to_owned(), figure, is_above, limit: limit / 100.0 })
    }

    /// What is to be said of it.
    pub fn judge(&self, comparison: &Comparison) -> Ruling {
        match self.difference(comparison) {
            Some(one) if one.change.is_some() && one.chance.is_some() => match self.is_met(comparison) {
                true => Ruling::Struck,
                // What was slow by our own doing hides what became slower since.
                false if one.is_stalled[0] => Ruling::BaselineStalled,
                false => Ruling::Passed,
            },
            _ => Ruling::TooLittle,
        }
    }

    /// Whether it is so: by more than the limit, and by more than noise.
    pub fn is_met(&self, comparison: &Comparison) -> bool {
        let Some(one) = self.difference(comparison).filter(|one| one.is_clear) else { return false };
        let is_beyond = |change: f64| if self.is_above { change > self.limit } else { change < self.limit };
        // Both the whole and its intervals must say so.
        [one.change, one.change_of_intervals].into_iter().all(|change| change.is_some_and(is_beyond))
    }

    /// The difference that it is of.
    pub fn difference<'a>(&self, comparison: &'a Comparison) -> Option<&'a Difference> {
        comparison.differences.iter().find(|one| one.figure == self.figure)
    }
}

#[cfg(test)]
mod tests;
