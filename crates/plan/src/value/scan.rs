//! Reads one level of JSON text without building a tree: the elements of a list, or the fields of an object. The text
//! is JSON already; where it is not, the scan stops, and what lies within an element is not judged.
//!
//! All of it is inlined: callers are compiled for speed, and this crate for a short build.

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
        self.value().map(Some)
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
        let end = string_end(bytes, self.at).ok_or(NotJson)?;
        let key = self.text.get(self.at..end).ok_or(NotJson)?;
        let colon = after_space(bytes, end);
        if bytes.get(colon) != Some(&b':') {
            return Err(NotJson);
        }
        self.at = after_space(bytes, colon + 1);
        Ok(Some((key, self.value()?)))
    }

    /// Whether the list or object ends here; otherwise the next value begins at `at`.
    #[inline]
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

    #[inline]
    fn value(&mut self) -> Result<&'a str, NotJson> {
        let end = value_end(self.text.as_bytes(), self.at).ok_or(NotJson)?;
        let value = self.text.get(self.at..end).ok_or(NotJson)?;
        self.at = end;
        Ok(value)
    }
}

#[inline]
fn after_space(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// The end of the string that begins at `at`, with its quotes.
#[inline]
fn string_end(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The end of the value that begins at `at`. Its depth takes no stack.
#[inline]
fn value_end(text: &[u8], at: usize) -> Option<usize> {
    let (mut at, mut depth) = (at, 0_usize);
    loop {
        match text.get(at)? {
            b'"' => at = string_end(text, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' if depth > 0 => at += 1,
            b'0'..=b'9' | b'-' | b'a'..=b'z' => {
                let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
                at += text[at..].iter().take_while(|byte| is_of_word(byte)).count();
            }
            _ => return None,
        }
        if depth == 0 {
            return Some(at);
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
