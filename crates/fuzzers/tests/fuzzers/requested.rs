//! The requested sequence and number of inputs, and the report of a failing one.

use std::any::Any;
use std::panic::{catch_unwind, resume_unwind};

use crate::mutator::Mutator;

#[cfg(test)]
mod tests;

/// Default number of inputs of a fuzzer.
const INPUTS: usize = 5_000;
/// Default sequence.
const SEQUENCE: u64 = 1;

pub(crate) struct Requested {
    sequence: u64,
    inputs: usize,
    /// The number of the only input to run.
    only: Option<usize>,
}

/// The first input on which a fuzzer panicked.
struct Found {
    number: usize,
    input: Vec<u8>,
    panic: Box<dyn Any + Send>,
}

impl Requested {
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

    #[expect(clippy::print_stderr, reason = "the reader of a failure wants to repeat it")]
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
