//! Reads one level of JSON text without building a tree: the elements of a list, or the fields of an object. The text
//! is JSON already; where it is not, the scan stops, and what lies within an element is not judged.
//!
//! All of it is inlined: callers are compiled for speed, and this crate for a short build.

use std::ops::Range;

/// Why a scan stopped: the text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not JSON")]
pub struct NotJson;

/// The position in a list or in an object.
#[derive(Clone, Debug)]
pub struct JsonScan<'a> {
    text: &'a str,
    at: usize,
    is_first: bool,
}

impl<'a> JsonScan<'a> {
    /// The begin of a list; `None`: the text is no list.
    #[inline]
    pub fn list(text: &'a str) -> Option<Self> {
        Self::begin(text, b'[')
    }

    /// The begin of an object; `None`: the text is no object.
    #[inline]
    pub fn object(text: &'a str) -> Option<Self> {
        Self::begin(text, b'{')
    }

    #[inline]
    fn begin(text: &'a str, open: u8) -> Option<Self> {
        let at = after_space(text.as_bytes(), 0);
        (text.as_bytes().get(at) == Some(&open)).then_some(Self { text, at: at + 1, is_first: true })
    }

    /// The next element of a list, without space around it.
    ///
    /// # Errors
    /// There is no element and no end here.
    #[inline]
    pub fn element(&mut self) -> Result<Option<&'a str>, NotJson> {
        if self.is_at_end(b']')? {
            return Ok(None);
        }
        let value = self.value()?;
        self.text.get(value).map(Some).ok_or(NotJson)
    }

    /// The position of the next element of a list; `None`: the list ends.
    ///
    /// # Errors
    /// There is no element and no end here.
    #[inline]
    pub fn next_at(&mut self) -> Result<Option<usize>, NotJson> {
        Ok(if self.is_at_end(b']')? { None } else { Some(self.at) })
    }

    /// Passes the element at [`JsonScan::next_at`], which ends here.
    #[inline]
    pub fn pass(&mut self, end: usize) {
        self.at = end;
    }

    /// Passes the element at [`JsonScan::next_at`], and gives it.
    ///
    /// # Errors
    /// There is no element here.
    #[inline]
    pub fn take(&mut self) -> Result<&'a str, NotJson> {
        let value = self.value()?;
        self.text.get(value).ok_or(NotJson)
    }

    /// The next field of an object: its key with quotes and escapes, and its value.
    ///
    /// # Errors
    /// There is no field and no end here.
    #[inline]
    pub fn field(&mut self) -> Result<Option<(&'a str, &'a str)>, NotJson> {
        if self.is_at_end(b'}')? {
            return Ok(None);
        }
        let bytes = self.text.as_bytes();
        if bytes.get(self.at) != Some(&b'"') {
            return Err(NotJson);
        }
        let (end, _) = string_end(bytes, self.at + 1).ok_or(NotJson)?;
        let key = self.text.get(self.at..end).ok_or(NotJson)?;
        self.at = behind_colon(bytes, end)?;
        let value = self.value()?;
        Ok(Some((key, self.text.get(value).ok_or(NotJson)?)))
    }

    /// The value of the last field of this name in an object. `is_name`: whether a key with escapes, given with its
    /// quotes, is the name too.
    ///
    /// # Errors
    /// The text is no object, or a key is no text.
    #[inline]
    pub fn find(
        text: &'a str,
        name: &str,
        is_name: impl Fn(&str) -> Result<bool, NotJson>,
    ) -> Result<Option<&'a str>, NotJson> {
        let (bytes, name) = (text.as_bytes(), name.as_bytes());
        let begin = Self::object(text).ok_or(NotJson)?.at;
        let (mut at, mut found) = (after_space(bytes, begin), None);
        if bytes.get(at) == Some(&b'}') {
            return Ok(None);
        }
        loop {
            if bytes.get(at) != Some(&b'"') {
                return Err(NotJson);
            }
            let (end, has_escapes) = string_end(bytes, at + 1).ok_or(NotJson)?;
            let is_it = if has_escapes {
                is_name(text.get(at..end).ok_or(NotJson)?)?
            } else {
                end - at == name.len() + QUOTES && is_at(bytes, at + 1, name)
            };
            let value = behind_colon(bytes, end)?;
            at = value_end(bytes, value).ok_or(NotJson)?;
            if is_it {
                found = Some(value..at);
            }
            at = after_space(bytes, at);
            match bytes.get(at) {
                Some(b',') => at = after_space(bytes, at + 1),
                Some(b'}') => break,
                _ => return Err(NotJson),
            }
        }
        found.map_or(Ok(None), |value| text.get(value).map(Some).ok_or(NotJson))
    }

    /// Whether the list or object ends here; otherwise the next value begins at `at`.
    #[inline(always)]
    fn is_at_end(&mut self, close: u8) -> Result<bool, NotJson> {
        let bytes = self.text.as_bytes();
        self.at = after_space(bytes, self.at);
        match bytes.get(self.at) {
            Some(byte) if *byte == close => return Ok(true),
            Some(b',') if !self.is_first => self.at = after_space(bytes, self.at + 1),
            Some(_) if self.is_first => self.is_first = false,
            _ => return Err(NotJson),
        }
        Ok(false)
    }

    #[inline(always)]
    fn value(&mut self) -> Result<Range<usize>, NotJson> {
        let begin = self.at;
        self.at = value_end(self.text.as_bytes(), begin).ok_or(NotJson)?;
        Ok(begin..self.at)
    }
}

/// Bytes of the quotes around a string.
const QUOTES: usize = 2;

/// Classes of bytes outside of strings: those of words, and those that begin one.
const WORD: u8 = 1;
const FIRST_OF_WORD: u8 = 2;

/// The classes of each byte.
const CLASSES: [u8; 256] = {
    let (mut classes, mut byte) = ([0; 256], 0_u8);
    loop {
        classes[byte as usize] = match byte {
            b'0'..=b'9' | b'-' | b'a'..=b'z' => WORD | FIRST_OF_WORD,
            b'A'..=b'Z' | b'+' | b'.' => WORD,
            _ => 0,
        };
        if byte == u8::MAX {
            break;
        }
        byte += 1;
    }
    classes
};

#[inline(always)]
fn is_of(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

#[inline(always)]
fn after_space(text: &[u8], mut at: usize) -> usize {
    while let Some(byte) = text.get(at)
        && matches!(*byte, b' ' | b'\t' | b'\n' | b'\r')
    {
        at += 1;
    }
    at
}

/// The begin of the value of a field whose key ends at `at`.
#[inline(always)]
fn behind_colon(text: &[u8], at: usize) -> Result<usize, NotJson> {
    let colon = after_space(text, at);
    if text.get(colon) == Some(&b':') { Ok(after_space(text, colon + 1)) } else { Err(NotJson) }
}

/// Whether this stands at `at`. The first byte tells most of the time.
#[inline(always)]
fn is_at(text: &[u8], at: usize, wanted: &[u8]) -> bool {
    text.get(at..at + wanted.len()).is_some_and(|there| there.first() == wanted.first() && there == wanted)
}

/// Bytes of strings that are looked at together.
const TOGETHER: usize = size_of::<u64>();
/// The lowest bit of each of them, and the highest.
const LOWEST_BITS: u64 = u64::MAX / 0xff;
const HIGHEST_BITS: u64 = LOWEST_BITS << 7;

/// The highest bit of each byte that is this one; beyond the first such byte others may have theirs too.
#[inline(always)]
fn equal_to(word: u64, byte: u8) -> u64 {
    let differing = word ^ (LOWEST_BITS * byte as u64);
    differing.wrapping_sub(LOWEST_BITS) & !differing & HIGHEST_BITS
}

/// The position behind a string whose content begins at `at`, and whether it has escapes.
#[inline(always)]
fn string_end(text: &[u8], mut at: usize) -> Option<(usize, bool)> {
    let mut has_escapes = false;
    loop {
        if let Some(bytes) = text.get(at..).and_then(<[u8]>::first_chunk::<TOGETHER>) {
            let word = u64::from_le_bytes(*bytes);
            let found = equal_to(word, b'"') | equal_to(word, b'\\');
            at += found.trailing_zeros() as usize / TOGETHER;
            if found == 0 {
                continue;
            }
        }
        match text.get(at)? {
            b'"' => return Some((at + 1, has_escapes)),
            b'\\' => (at, has_escapes) = (at + 2, true),
            _ => at += 1,
        }
    }
}

/// The highest bit of each byte that is a control character, likewise.
#[inline]
fn controls(word: u64) -> u64 {
    word.wrapping_sub(LOWEST_BITS * b' ' as u64) & !word & HIGHEST_BITS
}

/// The position behind a string whose content begins at `at`; `None` when it has escapes or control characters, or no
/// end.
#[inline]
pub fn plain_string_end(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        if let Some(bytes) = text.get(at..).and_then(<[u8]>::first_chunk::<TOGETHER>) {
            let word = u64::from_le_bytes(*bytes);
            let found = equal_to(word, b'"') | equal_to(word, b'\\') | controls(word);
            at += found.trailing_zeros() as usize / TOGETHER;
            if found == 0 {
                continue;
            }
        }
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' | ..b' ' => return None,
            _ => at += 1,
        }
    }
}

/// The end of the word that goes on at `at`.
#[inline(always)]
fn word_end(text: &[u8], mut at: usize) -> usize {
    while let Some(byte) = text.get(at)
        && is_of(*byte, WORD)
    {
        at += 1;
    }
    at
}

/// The end of the value that begins at `at`.
#[inline(always)]
fn value_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'"' => string_end(text, at + 1).map(|(end, _)| end),
        b'{' | b'[' => nested_end(text, at + 1),
        first if is_of(*first, FIRST_OF_WORD) => Some(word_end(text, at + 1)),
        _ => None,
    }
}

/// The end of the list or object whose content begins at `at`. Its depth takes no stack.
#[inline]
fn nested_end(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 1_usize;
    loop {
        let byte = *text.get(at)?;
        at += 1;
        match byte {
            b'"' => at = string_end(text, at)?.0,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' => {}
            first if is_of(first, FIRST_OF_WORD) => at = word_end(text, at),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_and_fields_are_found() {
        let cases: [(&str, &[&str]); 7] = [
            ("[]", &[]),
            (" [ ] ", &[]),
            ("[1]", &["1"]),
            (
                "[ 1 , \"a,]\\\"\" ,[2,{\"b\":[]}], null,-1.5e+3 ]",
                &["1", "\"a,]\\\"\"", "[2,{\"b\":[]}]", "null", "-1.5e+3"],
            ),
            ("[[[]]]", &["[[]]"]),
            ("[{},\"\"]", &["{}", "\"\""]),
            ("[\"价\",true]", &["\"价\"", "true"]),
        ];
        for (text, expect) in cases {
            let mut scan = JsonScan::list(text).expect(text);
            let mut seen = Vec::new();
            while let Some(element) = scan.element().expect(text) {
                seen.push(element);
            }
            assert_eq!(seen, expect, "{text}");
            assert!(JsonScan::object(text).is_none(), "{text}");
        }
        let mut scan = JsonScan::object(" {\"a\" : 1, \"b\\\"\":{\"c\":[2]} }").expect("an object");
        assert_eq!(scan.field(), Ok(Some(("\"a\"", "1"))));
        assert_eq!(scan.field(), Ok(Some(("\"b\\\"\"", "{\"c\":[2]}"))));
        assert_eq!(scan.field(), Ok(None));
    }

    #[test]
    fn a_field_is_found_by_its_name() {
        let object = " { \"a\" : 1, \"price\":\"x, \\\"}\" ,\"ab\\u0063\":[{\"a\":2}],\"\":true,\"a\":{} , \"sku of a lamp\":-1.5e3}";
        let is_abc = |name: &'static str| move |key: &str| Ok(key == "\"ab\\u0063\"" && name == "abc");
        for (name, expect) in [
            ("a", Some("{}")),
            ("price", Some("\"x, \\\"}\"")),
            ("abc", Some("[{\"a\":2}]")),
            ("ab\\u0063", None),
            ("", Some("true")),
            ("sku of a lamp", Some("-1.5e3")),
            ("stock", None),
        ] {
            assert_eq!(JsonScan::find(object, name, is_abc(name)), Ok(expect), "{name}");
        }
        assert_eq!(JsonScan::find("{ }", "a", |_| Ok(true)), Ok(None));
        assert_eq!(JsonScan::find(object, "a", |_| Err(NotJson)), Err(NotJson));
        for text in
            ["", "[1]", "{", "{a:1}", "{\"a\"}", "{\"a\":}", "{\"a\":1", "{\"a\":1,}", "{\"a\":1 1}", "{\"a\":?}"]
        {
            assert_eq!(JsonScan::find(text, "a", |_| Ok(true)), Err(NotJson), "{text}");
        }
    }

    #[test]
    fn plain_strings_have_an_end() {
        for length in 0..40 {
            let text = format!("{}\"rest of the text", "é".repeat(length));
            assert_eq!(plain_string_end(text.as_bytes(), 0), Some(2 * length + 1));
            for other in ["\\", "\n", "\u{1f}", "\0"] {
                let text = format!("{}{other}\", a", "é".repeat(length));
                assert_eq!(plain_string_end(text.as_bytes(), 0), None, "{text:?}");
            }
            assert_eq!(plain_string_end("é".repeat(length).as_bytes(), 0), None);
        }
    }

    #[test]
    fn a_scan_stops_where_the_text_is_no_json() {
        for text in ["[1", "[1 2]", "[,]", "[,1]", "[\"a", "[\"a\\", "[[1]", "[?]", "[{]", "[1}"] {
            let mut scan = JsonScan::list(text).expect(text);
            let mut last = scan.element();
            while matches!(last, Ok(Some(_))) {
                last = scan.element();
            }
            assert_eq!(last, Err(NotJson), "{text}");
        }
        for text in ["{1:2}", "{\"a\"}", "{\"a\":}", "{\"a\" 1}", "{\"a\":1", "{\"a"] {
            let mut scan = JsonScan::object(text).expect(text);
            let mut last = scan.field();
            while matches!(last, Ok(Some(_))) {
                last = scan.field();
            }
            assert_eq!(last, Err(NotJson), "{text}");
        }
        for text in ["", " ", "1", "\"[\"", "null"] {
            assert!(JsonScan::list(text).is_none() && JsonScan::object(text).is_none(), "{text}");
        }
        let deep = format!("[{}{}]", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(JsonScan::list(&deep).expect("a list").element().expect("JSON").map(str::len), Some(200_000));
    }
}
