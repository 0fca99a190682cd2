//! The values that rendering a pattern needs.

use super::{Rendering, Term, ValuePattern};
use crate::DynamicParts;

/// The columns and expressions that rendering needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Columns of rows, by the numbers that slots have for them; each once, in order.
    pub columns: Vec<u32>,
    /// Expressions, likewise.
    pub expressions: Vec<u32>,
}

impl Uses {
    fn add(&mut self, term: &Term) {
        match term {
            Term::Column(number) => self.columns.push(*number),
            Term::Expression(number) => self.expressions.push(*number),
            Term::Call(_, arguments) => arguments.iter().for_each(|argument| self.add(argument)),
            Term::Constant(_) | Term::Variable(_) | Term::Count(_) => {}
        }
    }

    fn new<'a>(renderings: impl Iterator<Item = &'a Rendering>) -> Self {
        let mut uses = Self::default();
        for rendering in renderings {
            rendering.terms().for_each(|term| uses.add(term));
        }
        for numbers in [&mut uses.columns, &mut uses.expressions] {
            numbers.sort_unstable();
            numbers.dedup();
        }
        uses
    }
}

impl Rendering {
    /// The columns and expressions that it uses.
    pub fn uses(&self) -> Uses {
        Uses::new(std::iter::once(self))
    }
}

impl Term {
    fn draws(&self, expression_draws: &impl Fn(u32) -> bool) -> bool {
        match self {
            Self::Expression(number) => expression_draws(*number),
            Self::Call(function, arguments) => {
                function.draws() || arguments.iter().any(|argument| argument.draws(expression_draws))
            }
            Self::Constant(_) | Self::Variable(_) | Self::Column(_) | Self::Count(_) => false,
        }
    }
}

impl ValuePattern {
    /// Whether its value may depend on chance. `expression_draws`: whether that of an expression may.
    pub fn draws(&self, expression_draws: impl Fn(u32) -> bool) -> bool {
        self.rendering().is_some_and(|rendering| rendering.terms().any(|term| term.draws(&expression_draws)))
    }

    /// The columns and expressions that it uses.
    pub fn uses(&self) -> Uses {
        Uses::new(self.rendering().into_iter())
    }
}

impl DynamicParts {
    /// The columns and expressions of a request, and of the defaults of its extractions.
    pub fn uses(&self) -> Uses {
        Uses::new(self.renderings())
    }
}
