//! The command prompt removes carets and determines where a line ends; the program itself splits the line into words.
//!
//! Browsers double each backslash and put a caret before both. The rules of Windows reduce a pair to one only before a
//! quote, so a `\\n` within JSON would arrive doubled. Such pairs are one backslash here, as the browser sent it.

use super::{CurlFault, PlanError, Word, at};

pub(super) fn commands(text: &[u8]) -> Result<Vec<Vec<Word>>, PlanError> {
    let mut all = Vec::new();
    let mut line = Line::default();
    let (mut number, mut is_quoted, mut place) = (1, false, 0);
    while let Some(&byte) = text.get(place) {
        place += 1;
        let next = text.get(place).copied();
        match byte {
            b'\r' if next == Some(b'\n') => {}
            b'\n' => {
                // The prompt ends a quote with its line.
                is_quoted = false;
                line.end(&mut all)?;
                number += 1;
            }
            b'^' => {
                // A line end after it is dropped; and the character after that is taken literally.
                let end = match text.get(place..) {
                    Some([b'\r', b'\n', ..]) => 2,
                    Some([b'\n', ..]) => 1,
                    _ => 0,
                };
                if end > 0 {
                    place += end;
                    number += 1;
                    match text.get(place..) {
                        Some([b'\r', b'\n', ..]) => {
                            place += 2;
                            line.push(b'\n', number);
                            number += 1;
                        }
                        Some([b'\n', ..]) => {
                            place += 1;
                            line.push(b'\n', number);
                            number += 1;
                        }
                        _ => {}
                    }
                } else if let Some(sign) = next
                    // Inside of quotes it would stay; browsers write it there all the same before special characters.
                    && (!is_quoted || line.is_in_number(sign) || b"&|<>()@^\"%!\\,;={}[]~`$#'*?+/:".contains(&sign))
                {
                    place += 1;
                    line.push(sign, number);
                    line.has_caret.pop();
                    line.has_caret.push(true);
                } else {
                    line.push(byte, number);
                }
            }
            b'"' => {
                is_quoted = !is_quoted;
                line.push(byte, number);
            }
            b'&' | b'|' if !is_quoted => {
                line.end(&mut all)?;
            }
            _ => line.push(byte, number),
        }
    }
    line.end(&mut all)?;
    Ok(all)
}

/// A line without its carets.
#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    numbers: Vec<usize>,
    /// Whether a caret was before the byte.
    has_caret: Vec<bool>,
}

impl Line {
    fn push(&mut self, byte: u8, number: usize) {
        self.bytes.push(byte);
        self.numbers.push(number);
        self.has_caret.push(false);
    }

    /// After a percent sign browsers separate the digits from it, so that it does not begin a variable.
    fn is_in_number(&self, sign: u8) -> bool {
        self.bytes.last() == Some(&b'%') && (sign.is_ascii_alphanumeric() || sign == b'_')
    }

    /// The words of the line, split like programs of Windows do.
    fn end(&mut self, all: &mut Vec<Vec<Word>>) -> Result<(), PlanError> {
        let Self { bytes, numbers, has_caret } = std::mem::take(self);
        let trimmed = bytes.trim_ascii_start();
        if trimmed.is_empty()
            || trimmed.starts_with(b"#")
            || trimmed[..trimmed.len().min(3)].eq_ignore_ascii_case(b"rem")
        {
            return Ok(());
        }
        let (mut words, mut word) = (Vec::new(), None::<Word>);
        let (mut is_quoted, mut quoted_at, mut place) = (false, 1, 0);
        while let Some(&byte) = bytes.get(place) {
            let line = numbers[place];
            let slashes = bytes[place..].iter().take_while(|byte| **byte == b'\\').count();
            if slashes > 0 {
                let word = word.get_or_insert_with(|| Word { bytes: Vec::new(), line });
                place += slashes;
                if bytes.get(place) == Some(&b'"') {
                    word.bytes.extend(std::iter::repeat_n(b'\\', slashes / 2));
                    if slashes % 2 == 1 {
                        word.bytes.push(b'"');
                        place += 1;
                    }
                } else {
                    let is_doubled = slashes % 2 == 0 && has_caret[place - slashes..place].iter().all(|has| *has);
                    let meant = if is_doubled { slashes / 2 } else { slashes };
                    word.bytes.extend(std::iter::repeat_n(b'\\', meant));
                }
                continue;
            }
            place += 1;
            match byte {
                b'"' => {
                    let word = word.get_or_insert_with(|| Word { bytes: Vec::new(), line });
                    if is_quoted && bytes.get(place) == Some(&b'"') {
                        word.bytes.push(b'"');
                        place += 1;
                    } else {
                        (is_quoted, quoted_at) = (!is_quoted, line);
                    }
                }
                b' ' | b'\t' if !is_quoted => words.extend(word.take()),
                _ => word.get_or_insert_with(|| Word { bytes: Vec::new(), line }).bytes.push(byte),
            }
        }
        if is_quoted {
            return Err(at(quoted_at, CurlFault::Quote { quote: "\"" }));
        }
        words.extend(word);
        if !words.is_empty() {
            all.push(words);
        }
        Ok(())
    }
}
