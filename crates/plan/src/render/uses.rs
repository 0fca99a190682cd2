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

impl ValuePattern {
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
