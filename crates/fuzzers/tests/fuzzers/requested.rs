//! How many inputs of which sequence are asked for, and what is said of one that fails.

use std::any::Any;
use std::panic::{catch_unwind, resume_unwind};

use crate::mutator::Mutator;

#[cfg(test)]
mod tests;

/// Inputs of a fuzzer, when nobody says how many.
const INPUTS: usize = 5_000;
/// The sequence, when nobody says which.
const SEQUENCE: u64 = 1;

pub(crate) struct Asked {
    sequence: u64,
    inputs: usize,
    /// The number of the only one.
    only: Option<usize>,
}

/// The first input on which a fuzzer panicked.
struct Found {
    number: usize,
    input: Vec<u8>,
    panic: Box<dyn Any + Send>,
}

impl Asked {
    pub(crate) fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let number = |name: &str| {
            let text = variable(name)?;
            Some(text.parse::<u64>().unwrap_or_else(|_| panic!("{name} is a number, not {text:?}")))
        };
        Self {
            sequence: number("ONRUSH_FUZZ_SEED").unwrap_or(SEQUENCE),
            inputs: number("ONRUSH_FUZZ_INPUTS").map_or(INPUTS, |inputs| inputs as usize),
            only: number("ONRUSH_FUZZ_INPUT").map(|number| number as usize),
        }
    }

    #[expect(clippy::print_stderr, reason = "whoever sees the test fail wants to repeat it")]
    pub(crate) fn run(&self, name: &str, fuzzer: fn(&[u8]), mutator: &Mutator) {
        if let Some(found) = self.first_panic(fuzzer, mutator) {
            eprintln!("{}", self.reported(name, &found));
            resume_unwind(found.panic);
        }
    }

    fn numbers(&self) -> std::ops::Range<usize> {
        self.only.map_or(0..self.inputs, |only| only..only.saturating_add(1))
    }

    fn first_panic(&self, fuzzer: fn(&[u8]), mutator: &Mutator) -> Option<Found> {
        self.numbers().find_map(|number| {
            let input = mutator.input(self.sequence, number);
            let panic = catch_unwind(|| fuzzer(&input)).err()?;
            Some(Found { number, input, panic })
        })
    }

    fn reported(&self, name: &str, found: &Found) -> String {
        let Self { sequence, .. } = self;
        let Found { number, input, .. } = found;
        format!(
            "input {number} of sequence {sequence} fails {name}: b\"{}\"\n\
             again: ONRUSH_FUZZ_SEED={sequence} ONRUSH_FUZZ_INPUT={number} cargo test -p fuzzers --test fuzzers {name} -- --exact",
            input.escape_ascii()
        )
    }
}
