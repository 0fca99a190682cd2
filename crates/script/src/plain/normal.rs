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

#[cfg(test)]
mod tests {
    use pacing::Random;

    use super::*;

    /// Lists of a long run, and the parts that ordinary runs play.
    const LISTS: u64 = 100_000;
    const PARTS: u64 = 25;

    const SCALARS: [&str; 34] = [
        "0",
        "-0",
        "7",
        "-12345",
        "01",
        "1.0",
        "9.5",
        "-0.25",
        "2.50",
        "1e3",
        "1.5E-7",
        "0.000001",
        "0.0000015",
        "0.00000015",
        "123456789012345",
        "1234567890123456",
        "123456789.012345",
        "9007199254740993",
        "12345678901234567890",
        "1e400",
        "true",
        "false",
        "null",
        "nul",
        "\"\"",
        "\"a\"",
        "\"a lamp on a table\"",
        "\"a\\n\"",
        "\"\\u0041\"",
        "\"\\ud800\"",
        "\"a\tb\"",
        "\"a \\\"b\\\"\"",
        "\"价格\"",
        "\"\u{7f}\u{2028}\"",
    ];
    const KEYS: [&str; 9] = ["a", "b", "price", "created_at", "created_by", "1", "__proto__", "a\\u0062", "价"];

    fn value(random: &mut Random, depth: u64) -> String {
        let one = |random: &mut Random, of: &[&str]| of[random.below(of.len() as u64) as usize].to_owned();
        // Most values are ordinary.
        let kind = if depth == 0 { 0 } else { random.below(4) };
        let space = if random.below(20) == 0 { " " } else { "" };
        let count = random.below(4);
        match kind {
            0 | 1 if random.below(8) == 0 => one(random, &SCALARS),
            0 | 1 => one(random, &["7", "9.5", "\"a lamp\"", "true", "null"]),
            2 => {
                let all: Vec<String> = (0..count).map(|_| value(random, depth - 1)).collect();
                format!("[{space}{}]", all.join(","))
            }
            _ => {
                let keys = if random.below(4) == 0 { &KEYS[..] } else { &KEYS[..5] };
                let mut field = |_| format!("\"{}\":{space}{}", one(random, keys), value(random, depth - 1));
                format!("{{{}}}", (0..count).map(&mut field).collect::<Vec<_>>().join(","))
            }
        }
    }

    /// What is taken as it lies is what would be written.
    #[test]
    fn elements_are_those_of_the_list_as_it_is_written() {
        let (mut normal, mut lists, mut doubts) = (0, 0, 0);
        let seeds = claims::seeds::for_this_run(LISTS, PARTS);
        for seed in &seeds {
            let mut random = Random::for_stream(*seed, 2);
            let all: Vec<String> = (0..random.below(4)).map(|_| value(&mut random, 3)).collect();
            let json = format!("[{}]", all.join(if random.below(4) == 0 { " , " } else { "," }));
            let expect = written(&json, 0).ok();
            if is_normal(&json) {
                normal += 1;
                assert_eq!(expect.as_deref(), Some(&*json), "seed {seed}");
            }
            let expect = expect.map(|text| Value::Json(text.into()).items().expect("a list"));
            let seen = items(&json).ok();
            assert_eq!(seen, expect, "seed {seed}: {json}");
            (lists, doubts) = (lists + u64::from(seen.is_some()), doubts + u64::from(seen.is_none()));
        }
        let count = seeds.len() as u64;
        assert!(
            normal * 4 > count && lists > normal && doubts * 20 > count,
            "of {count}: {normal} normal, {lists} lists, {doubts} in doubt"
        );
    }

    #[test]
    fn what_is_in_doubt_is_not_normal() {
        for json in [
            "[]",
            "{}",
            "[1,-2,0.5,\"a\",true,false,null]",
            "{\"a\":{\"a\":1,\"b\":[{}]},\"b\":\"价\"}",
            "[0.000001,123456789.012345,-0.5,999999999999999]",
        ] {
            assert!(is_normal(json), "{json}");
            assert_eq!(written(json, 0).as_deref(), Ok(json));
        }
        for json in [
            "",
            "[",
            "[1,]",
            "[,1]",
            "[1 ]",
            " []",
            "[]]",
            "[1.0]",
            "[1.]",
            "[.5]",
            "[-]",
            "[-0]",
            "[00]",
            "[1e3]",
            "[0.0000001]",
            "[1234567890123456]",
            "[tru]",
            "[\"a]",
            "[\"\\n\"]",
            "{\"a\":1,\"a\":2}",
            "{\"1\":1}",
            "{\"__proto__\":1}",
            "{\"\\u0061\":1}",
            "{\"a\" :1}",
            "{\"a\"}",
            "{a:1}",
        ] {
            assert!(!is_normal(json), "{json}");
        }
        let fields = |count: usize| {
            let all: Vec<String> = (0..count).map(|number| format!("\"k{number}\":1")).collect();
            format!("{{{}}}", all.join(","))
        };
        assert!(is_normal(&fields(FIELDS_MAX)) && !is_normal(&fields(FIELDS_MAX + 1)));
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(is_normal(&deep(DEPTH_MAX)) && !is_normal(&deep(100_000)));
        assert_eq!(items(&deep(100_000)), Err(Stop::Unsure));
    }
}
