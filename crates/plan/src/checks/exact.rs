//! Exact comparison of numbers of any size.
//!
//! JSON values and paths compare numbers as doubles, which distinguish integers up to 2^53 only: beyond it one
//! identifier equals its neighbour. So every number beyond 2^53 is replaced in the text, before it is parsed, by a
//! stand-in: an integer that a double can hold. Stand-ins have the order of the numbers that they stand for, and are
//! equal where those are equal. Those of a check are fixed when it is parsed ([`NumberStandIns::new`]); those of a body
//! are placed between them ([`NumberStandIns::replace_in`]).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// Integers up to 2^53 are exact as doubles.
const EXACT_POINT: i64 = 16;
const EXACT_DIGITS: &[u8] = b"9007199254740992";
/// Stand-ins are multiples of this, so that doubles below 2^63 hold them.
const STEP: i64 = 1 << 11;
/// The first stand-in is at 2^53; the last one stays below 2^63.
const PLACE_MIN: i64 = 1 << 42;
const PLACES: i64 = 1 << 51;

/// The absolute value of a number: a fraction of 1 with these digits, times ten to the power of `point`. Neither the
/// first digit nor the last one is 0, so the order of the fields is the order of the numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Magnitude {
    point: i64,
    digits: Vec<u8>,
}

impl Magnitude {
    /// Parses a number of RFC 8259, without its sign. `None`: it is invalid, or doubles are exact enough for it.
    #[inline]
    fn beyond_doubles(text: &[u8]) -> Option<Self> {
        let (whole, rest) = digits_of(text);
        let (fraction, rest) = match rest.strip_prefix(b".") {
            Some(rest) => digits_of(rest),
            None => (&text[..0], rest),
        };
        let has_empty_fraction = fraction.is_empty() && text.get(whole.len()) == Some(&b'.');
        if whole.is_empty() || (whole.len() > 1 && whole[0] == b'0') || has_empty_fraction {
            return None;
        }
        let exponent = exponent_of(rest)?;
        let leading = whole.iter().chain(fraction).take_while(|digit| **digit == b'0').count();
        let mut digits: Vec<u8> = whole.iter().chain(fraction).skip(leading).copied().collect();
        let trailing = digits.iter().rev().take_while(|digit| **digit == b'0').count();
        digits.truncate(digits.len() - trailing);
        let point = exponent.saturating_add(whole.len() as i64 - leading as i64);
        let is_beyond = (point, digits.as_slice()) > (EXACT_POINT, EXACT_DIGITS);
        (is_beyond && !digits.is_empty()).then_some(Self { point, digits })
    }
}

#[inline]
fn digits_of(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

/// The exponent of a number; 0 without one. Beyond 64 bits all are the same.
#[inline]
fn exponent_of(text: &[u8]) -> Option<i64> {
    let Some((b'e' | b'E', rest)) = text.split_first() else { return text.is_empty().then_some(0) };
    let (is_negative, rest) = match rest.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, rest),
    };
    let (digits, rest) = digits_of(rest);
    if digits.is_empty() || !rest.is_empty() {
        return None;
    }
    let size = digits.iter().fold(0i64, |size, digit| size.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    Some(if is_negative { -size } else { size })
}

/// The numbers beyond doubles in a text, without their signs, with their positions. Those between `quotes` are text.
#[inline]
fn beyond_doubles(text: &[u8], quotes: &[u8]) -> Vec<(Range<usize>, Magnitude)> {
    let mut found = Vec::new();
    let (mut at, mut is_word) = (0, false);
    while let Some(&byte) = text.get(at) {
        if quotes.contains(&byte) {
            at = end_of_quoted(text, at);
            is_word = false;
        } else if byte.is_ascii_digit() && !is_word {
            let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-');
            let end = at + text[at..].iter().take_while(is_part).count();
            found.extend(Magnitude::beyond_doubles(&text[at..end]).map(|magnitude| (at..end, magnitude)));
            at = end;
        } else {
            // Digits in a name are no number.
            is_word = byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
            at += 1;
        }
    }
    found
}

/// The position after the quote that ends what begins at `at`.
#[inline]
fn end_of_quoted(text: &[u8], at: usize) -> usize {
    let mut from = at + 1;
    while let Some(next) = memchr::memchr2(text[at], b'\\', &text[from.min(text.len())..]) {
        if text[from + next] == text[at] {
            return from + next + 1;
        }
        from += next + 2;
    }
    text.len()
}

/// The stand-ins for the numbers of a check.
#[derive(Clone, Debug, Default)]
pub(super) struct NumberStandIns {
    known: Vec<Magnitude>,
}

impl NumberStandIns {
    /// The stand-ins for a check of this path, compared with this text.
    #[inline]
    pub(super) fn new(path: &str, wanted: &str) -> Self {
        let found = [beyond_doubles(path.as_bytes(), b"'\""), beyond_doubles(wanted.as_bytes(), b"\"")];
        let mut known: Vec<Magnitude> = found.into_iter().flatten().map(|(_, magnitude)| magnitude).collect();
        known.sort_unstable();
        known.dedup();
        Self { known }
    }

    /// A path with stand-ins. Its texts are in quotes of either kind.
    #[inline]
    pub(super) fn replace_in_path<'a>(&self, path: &'a str) -> Cow<'a, str> {
        self.replace_text(path, b"'\"")
    }

    /// A JSON text with stand-ins.
    #[inline]
    pub(super) fn replace_in_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.replace_text(text, b"\"")
    }

    #[inline]
    fn replace_text<'a>(&self, text: &'a str, quotes: &[u8]) -> Cow<'a, str> {
        match self.replace(text.as_bytes(), &beyond_doubles(text.as_bytes(), quotes)) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).expect("digits replace digits")),
        }
    }

    /// A body with stand-ins.
    #[inline]
    pub(super) fn replace_in<'a>(&self, body: &'a Large<'_>) -> Cow<'a, [u8]> {
        self.replace(body.body, &body.found)
    }

    #[inline]
    fn replace<'a>(&self, text: &'a [u8], found: &[(Range<usize>, Magnitude)]) -> Cow<'a, [u8]> {
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let stand_ins = self.stand_ins(found);
        let mut replaced = Vec::with_capacity(text.len() + found.len() * 4);
        let mut from = 0;
        for (place, magnitude) in found {
            replaced.extend_from_slice(&text[from..place.start]);
            replaced.extend_from_slice(stand_ins[magnitude].to_string().as_bytes());
            from = place.end;
        }
        replaced.extend_from_slice(&text[from..]);
        Cow::Owned(replaced)
    }

    /// Numbers known from the check have positions far from each other; the others get the next ones after them, in
    /// their order.
    #[inline]
    fn stand_ins<'a>(&self, found: &'a [(Range<usize>, Magnitude)]) -> BTreeMap<&'a Magnitude, i64> {
        let gap = PLACES / (self.known.len() as i64 + 1);
        let mut all: BTreeMap<&Magnitude, i64> = found.iter().map(|(_, magnitude)| (magnitude, 0)).collect();
        let (mut below, mut since) = (0, 0);
        for (magnitude, stand_in) in &mut all {
            while self.known.get(below).is_some_and(|known| known <= magnitude) {
                (below, since) = (below + 1, 0);
            }
            let is_known = below > 0 && self.known[below - 1] == **magnitude;
            since += i64::from(!is_known);
            *stand_in = (PLACE_MIN + below as i64 * gap + since) * STEP;
        }
        all
    }
}

/// A body with numbers beyond doubles.
#[derive(Debug)]
pub(super) struct Large<'a> {
    body: &'a [u8],
    found: Vec<(Range<usize>, Magnitude)>,
}

impl<'a> Large<'a> {
    /// `None`: doubles are exact enough for all its numbers.
    #[inline]
    pub(super) fn new(body: &'a [u8]) -> Option<Self> {
        let found = beyond_doubles(body, b"\"");
        (!found.is_empty()).then_some(Self { body, found })
    }
}
