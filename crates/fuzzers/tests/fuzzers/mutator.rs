//! Inputs of a fuzzer: its seeds, then mutated copies of them. Each is a function of the sequence and of its number
//! alone, so a failing one is reproduced without those before it.

use std::collections::BTreeSet;
use std::ops::Range;

use pacing::Random;

#[cfg(test)]
mod tests;

/// Maximum bytes of an input, unless a seed itself is longer. `xtask` gives libFuzzer the same limit.
pub(crate) const INPUT_BYTES_MAX: usize = 4_096;
/// Maximum number of mutations of a seed: half of the inputs have one, a quarter two. With more, parsers would accept
/// little of the input.
const CHANGES_MAX: u32 = 6;
/// Maximum bytes that one mutation copies, moves or repeats; a splice may be longer.
const BLOCK_BYTES_MAX: usize = 64;
/// Maximum bytes of a word: longer ones are content, and no word of a language.
const WORD_BYTES_MAX: usize = 32;
/// Where all seeds are text, one input in this many may be binary: a parser of text refuses those at once.
const RAW_ONE_IN: u64 = 8;

/// Boundary values of integer widths and signs.
const INTEGERS: [u64; 14] = [
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0xffff_ffff_ffff_ffff,
];

/// The input generator of one fuzzer.
pub(crate) struct Mutator {
    seeds: Vec<Vec<u8>>,
    /// The words of the seeds.
    words: Vec<Vec<u8>>,
    is_text: bool,
    bytes_max: usize,
}

impl Mutator {
    /// A generator from seeds in a fixed order, at least one.
    pub(crate) fn new(seeds: Vec<Vec<u8>>) -> Self {
        let longest = seeds.iter().map(Vec::len).max().expect("a fuzzer has seeds");
        let words = seeds.iter().flat_map(|seed| seed.chunk_by(|one, next| is_of_name(one) == is_of_name(next)));
        let words: BTreeSet<&[u8]> = words.filter(|word| word.len() <= WORD_BYTES_MAX).collect();
        Self {
            words: words.into_iter().map(<[u8]>::to_vec).collect(),
            is_text: seeds.iter().all(|seed| std::str::from_utf8(seed).is_ok()),
            bytes_max: longest.max(INPUT_BYTES_MAX),
            seeds,
        }
    }

    /// One input of a sequence.
    pub(crate) fn input(&self, sequence: u64, number: usize) -> Vec<u8> {
        if let Some(seed) = self.seeds.get(number) {
            return seed.clone();
        }
        let mut random = Random::for_stream(sequence, number as u64);
        let mut input = one_of(&self.seeds, &mut random).map_or_else(Vec::new, Vec::clone);
        let changes = random.next_u64().trailing_zeros() + 1;
        for _ in 0..changes.min(CHANGES_MAX) {
            let (range, bytes) = self.change(&input, &mut random);
            input.splice(range, bytes);
            input.truncate(self.bytes_max);
        }
        if self.is_text && random.below(RAW_ONE_IN) != 0 { as_text(&input) } else { input }
    }

    /// The range to replace, and its replacement.
    fn change(&self, input: &[u8], random: &mut Random) -> (Range<usize>, Vec<u8>) {
        let at = below(input.len() + 1, random);
        let end = |length: usize| (at + length).min(input.len());
        match random.below(10) {
            0 => (at..end(1), input.get(at).map(|byte| byte ^ (1 << random.below(8))).into_iter().collect()),
            1 => (at..end(below(9, random)), (0..below(9, random)).map(|_| random.next_u64() as u8).collect()),
            2 => (at..end(1 + below(BLOCK_BYTES_MAX, random)), Vec::new()),
            3 => {
                let byte = input.get(at).copied().unwrap_or_else(|| random.next_u64() as u8);
                (at..at, vec![byte; 1 + below(BLOCK_BYTES_MAX, random)])
            }
            4 => {
                let bytes = integer(random);
                (at..end([0, 1, bytes.len()][below(3, random)]), bytes)
            }
            5 => (digits(input, at), decimal(random)),
            6 => {
                let bytes = input[block(input, random)].to_vec();
                (at..if random.below(2) == 0 { at } else { end(bytes.len()) }, bytes)
            }
            7 => {
                let other = one_of(&self.seeds, random).map_or(&[][..], |seed| seed);
                (at..input.len(), other[below(other.len() + 1, random)..].to_vec())
            }
            _ => {
                let bytes = one_of(&self.words, random).map_or_else(Vec::new, Vec::clone);
                (if random.below(2) == 0 { at..at } else { word(input, at) }, bytes)
            }
        }
    }
}

fn is_of_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-".contains(byte) || !byte.is_ascii()
}

/// A number from 0, inclusive, to the bound, exclusive; 0 when the bound is 0.
fn below(bound: usize, random: &mut Random) -> usize {
    random.below(bound as u64) as usize
}

fn one_of<'a, T>(all: &'a [T], random: &mut Random) -> Option<&'a T> {
    all.get(below(all.len(), random))
}

fn block(input: &[u8], random: &mut Random) -> Range<usize> {
    let start = below(input.len(), random);
    start..(start + 1 + below(BLOCK_BYTES_MAX, random)).min(input.len())
}

/// The range of equal-kind bytes around a position.
fn run(input: &[u8], at: usize, is_alike: impl Fn(&u8) -> bool) -> Range<usize> {
    let start = input[..at].iter().rposition(|byte| !is_alike(byte)).map_or(0, |last| last + 1);
    let length = input[at..].iter().position(|byte| !is_alike(byte)).unwrap_or(input.len() - at);
    start..at + length
}

fn word(input: &[u8], at: usize) -> Range<usize> {
    input.get(at).map_or(at..at, |first| run(input, at, |byte| is_of_name(byte) == is_of_name(first)))
}

/// The first number at the position or after it.
fn digits(input: &[u8], at: usize) -> Range<usize> {
    let first = input[at..].iter().position(u8::is_ascii_digit);
    first.map_or(at..at, |first| run(input, at + first, u8::is_ascii_digit))
}

/// An integer in 1, 2, 4 or 8 bytes, in either byte order, or as a varint of seven bits per byte, as in Protobuf and in
/// our formats.
fn integer(random: &mut Random) -> Vec<u8> {
    let value = one_of(&INTEGERS, random).copied().unwrap_or_default();
    let width = 1 << random.below(4);
    match random.below(3) {
        0 => value.to_le_bytes()[..width].to_vec(),
        1 => value.to_be_bytes()[8 - width..].to_vec(),
        _ => varint(value),
    }
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn decimal(random: &mut Random) -> Vec<u8> {
    let value = one_of(&INTEGERS, random).copied().unwrap_or_default();
    let sign = if random.below(4) == 0 { "-" } else { "" };
    format!("{sign}{value}").into_bytes()
}

/// Text of the same length, with other letters in place of invalid bytes.
fn as_text(input: &[u8]) -> Vec<u8> {
    let ascii = |byte: &u8| byte & 0x7f;
    let chunks = input.utf8_chunks();
    chunks.flat_map(|chunk| chunk.valid().bytes().chain(chunk.invalid().iter().map(ascii))).collect()
}
