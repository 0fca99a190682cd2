//! JSON that stands in the form of `JSON.stringify` already. It is recognized in one pass over its text, and then taken
//! as it lies. Whatever is in doubt is written anew.

use plan::plain_string_end;

use super::number::DIGITS_SURE;

/// The deepest nesting that is written here.
pub(super) const DEPTH_MAX: usize = 64;
/// The most fields of an object that are compared with each other.
pub(super) const FIELDS_MAX: usize = 64;
/// The most zeros behind `0.` before a number is written with an exponent.
const ZEROS_MAX: usize = 5;

/// A text whose values are recognized.
pub(super) struct NormalForm<'a> {
    text: &'a [u8],
    /// The keys before a position, of all objects around it.
    keys: Vec<&'a [u8]>,
}

/// Whether a value is certainly in normal form.
pub(super) fn is_normal(json: &str) -> bool {
    NormalForm::new(json).end(0, 0) == Some(json.len())
}

impl<'a> NormalForm<'a> {
    pub(super) fn new(json: &'a str) -> Self {
        Self { text: json.as_bytes(), keys: Vec::new() }
    }

    /// The end of an element of a list that begins at `at`, where it is in normal form.
    pub(super) fn element_end(&mut self, at: usize) -> Option<usize> {
        self.keys.clear();
        self.end(at, 1)
    }

    /// The end of the value at `at`, where it is in normal form. Only lists and objects take a call.
    #[inline(always)]
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

    #[inline(never)]
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

    #[inline(never)]
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
            || known.iter().any(|known| known.len() == key.len() && *known == key);
        if is_in_doubt || self.text.get(end) != Some(&b':') {
            return None;
        }
        self.keys.push(key);
        Some(end + 1)
    }
}

/// The end of the number at `at`, where JavaScript writes it as it stands. What follows it is not judged.
#[inline(always)]
fn number_end(text: &[u8], at: usize) -> Option<usize> {
    let end = digits_end(text, at);
    let digits = end - at;
    let is_whole = (1..=DIGITS_SURE).contains(&digits) && !matches!(text.get(end), Some(b'.' | b'e' | b'E'));
    if is_whole && (digits == 1 || text.get(at) != Some(&b'0')) { Some(end) } else { other_number_end(text, at) }
}

/// The same for a number with a sign or a point.
fn other_number_end(text: &[u8], at: usize) -> Option<usize> {
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

#[inline(always)]
fn digits_end(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}
