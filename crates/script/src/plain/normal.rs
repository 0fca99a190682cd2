//! JSON that stands in the form of `JSON.stringify` already. It is recognized in one pass over its text, and then taken
//! as it lies. Whatever is in doubt is written anew.

use plan::{JsonScan, Value, plain_string_end};

use super::json::{DEPTH_MAX, FIELDS_MAX, written};
use super::number::DIGITS_SURE;
use super::operand::Stop;

/// The most zeros behind `0.` before a number is written with an exponent.
const ZEROS_MAX: usize = 5;

/// A text whose values are recognized.
struct NormalForm<'a> {
    text: &'a [u8],
    /// The keys before a position, of all objects around it.
    keys: Vec<&'a [u8]>,
}

/// Whether a value is certainly in normal form.
pub(super) fn is_normal(json: &str) -> bool {
    let mut form = NormalForm { text: json.as_bytes(), keys: Vec::new() };
    form.end(0, 0) == Some(json.len())
}

/// The elements of a list, as they are in its normal form.
pub(super) fn items(json: &str) -> Result<Vec<Value>, Stop> {
    let mut scan = JsonScan::list(json).ok_or(Stop::Unsure)?;
    let mut form = NormalForm { text: json.as_bytes(), keys: Vec::new() };
    let mut all = Vec::new();
    while let Some(at) = scan.next_at()? {
        form.keys.clear();
        all.push(match form.end(at, 1) {
            Some(end) => {
                scan.pass(end);
                item(json.get(at..end).ok_or(Stop::Unsure)?)
            }
            None => Value::from_element(&written(scan.take()?, 1)?),
        });
    }
    Ok(all)
}

/// The value of an element in normal form.
fn item(json: &str) -> Value {
    match json.as_bytes() {
        [b'{' | b'[', ..] => Value::Json(json.into()),
        [b'"', .., b'"'] => match json.get(1..json.len() - 1) {
            // A string in normal form with an escape is in doubt.
            Some(inside) => Value::text(inside),
            None => Value::from_element(json),
        },
        _ => json.parse().map_or_else(|_| Value::from_element(json), Value::Int),
    }
}

impl NormalForm<'_> {
    /// The end of the value at `at`, where it is in normal form.
    fn end(&mut self, at: usize, depth: usize) -> Option<usize> {
        match self.text.get(at)? {
            _ if depth > DEPTH_MAX => None,
            b'"' => plain_string_end(self.text, at + 1),
            b'{' => self.object_end(at + 1, depth + 1),
            b'[' => self.list_end(at + 1, depth + 1),
            b't' => self.word_end(at, b"true"),
            b'f' => self.word_end(at, b"false"),
            b'n' => self.word_end(at, b"null"),
            _ => number_end(self.text, at),
        }
    }

    fn word_end(&self, at: usize, word: &[u8]) -> Option<usize> {
        let end = at + word.len();
        (self.text.get(at..end)? == word).then_some(end)
    }

    fn list_end(&mut self, mut at: usize, depth: usize) -> Option<usize> {
        if self.text.get(at) == Some(&b']') {
            return Some(at + 1);
        }
        loop {
            at = self.end(at, depth)?;
            match self.text.get(at)? {
                b',' => at += 1,
                b']' => return Some(at + 1),
                _ => return None,
            }
        }
    }

    fn object_end(&mut self, mut at: usize, depth: usize) -> Option<usize> {
        if self.text.get(at) == Some(&b'}') {
            return Some(at + 1);
        }
        let first = self.keys.len();
        loop {
            at = self.key_end(at, first)?;
            at = self.end(at, depth)?;
            match self.text.get(at)? {
                b',' => at += 1,
                b'}' => break,
                _ => return None,
            }
        }
        self.keys.truncate(first);
        Some(at + 1)
    }

    /// The position behind a key and its colon. JavaScript puts keys that are numbers first, and of equal keys keeps
    /// the last: both are in doubt. `first`: the index of the first key of this object.
    fn key_end(&mut self, at: usize, first: usize) -> Option<usize> {
        if self.text.get(at) != Some(&b'"') {
            return None;
        }
        let end = plain_string_end(self.text, at + 1)?;
        let key = self.text.get(at + 1..end - 1)?;
        let known = self.keys.get(first..)?;
        let is_in_doubt = key.first().is_some_and(u8::is_ascii_digit)
            || key == b"__proto__"
            || known.len() >= FIELDS_MAX
            || known.contains(&key);
        if is_in_doubt || self.text.get(end) != Some(&b':') {
            return None;
        }
        self.keys.push(key);
        Some(end + 1)
    }
}

/// The end of the number at `at`, where JavaScript writes it as it stands. What follows it is not judged.
fn number_end(text: &[u8], at: usize) -> Option<usize> {
    let is_negative = text.get(at) == Some(&b'-');
    let begin = at + usize::from(is_negative);
    let whole = text.get(begin..digits_end(text, begin))?;
    let is_zero = *whole.first()? == b'0';
    let (mut end, mut digits) = (begin + whole.len(), whole.len());
    if is_zero && digits > 1 {
        return None;
    }
    if text.get(end) == Some(&b'.') {
        let part = text.get(end + 1..digits_end(text, end + 1))?;
        let zeros = part.iter().take_while(|digit| **digit == b'0').count();
        if matches!(part.last(), None | Some(b'0')) || (is_zero && zeros > ZEROS_MAX) {
            return None;
        }
        (end, digits) = (end + 1 + part.len(), digits + part.len());
    } else if is_zero && is_negative {
        return None;
    }
    (digits <= DIGITS_SURE && !matches!(text.get(end), Some(b'e' | b'E'))).then_some(end)
}

fn digits_end(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}
