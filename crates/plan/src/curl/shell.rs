//! The words of a file with commands, split like bash and the command prompt of Windows do.
//!
//! The input is what browsers copy and what users write by hand; nothing is run. What only a running shell could know
//! (variables, other programs) is an error with its line.

#[cfg(test)]
mod tests;
mod windows;

use crate::PlanError;
use crate::error::{CurlFault, at};

/// A word with the line on which it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) bytes: Vec<u8>,
    pub(super) line: usize,
}

/// The commands of a text, each as its words.
pub(super) fn commands(text: &[u8]) -> Result<Vec<Vec<Word>>, PlanError> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    if is_prompt_of_windows(text) { windows::commands(text) } else { Bash::new(text).commands() }
}

/// Whether it is written for the command prompt: only there a caret occurs at a line's end, or before a quote.
fn is_prompt_of_windows(text: &[u8]) -> bool {
    let at_end = |line: &[u8], sign: u8| line.trim_ascii_end().last() == Some(&sign);
    let lines = || text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii_start().starts_with(b"#"));
    let has_bash = lines().any(|line| at_end(line, b'\\'));
    let has_caret = lines().any(|line| at_end(line, b'^'));
    let has_caret_quote = lines().any(|line| {
        let line = line.trim_ascii_start().to_ascii_lowercase();
        let has = |part: &[u8]| line.windows(part.len()).any(|window| window == part);
        // Text that only browsers write, for a quote and for a percent-encoded URL.
        line.starts_with(b"curl ^\"") || line.starts_with(b"curl.exe ") || has(b"^\\^\"") || has(b"^%^")
    });
    !has_bash && (has_caret || has_caret_quote)
}

struct Bash<'a> {
    text: &'a [u8],
    place: usize,
    line: usize,
    commands: Vec<Vec<Word>>,
    words: Vec<Word>,
    /// Whether the rest of the line belongs to another program.
    is_piped: bool,
}

impl<'a> Bash<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self { text, place: 0, line: 1, commands: Vec::new(), words: Vec::new(), is_piped: false }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.place + ahead).copied()
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.peek(0)?;
        self.place += 1;
        self.line += usize::from(byte == b'\n');
        Some(byte)
    }

    /// The length of a line end here; 0 for none.
    fn line_end(&self, ahead: usize) -> usize {
        match (self.peek(ahead), self.peek(ahead + 1)) {
            (Some(b'\n'), _) => 1,
            (Some(b'\r'), Some(b'\n')) => 2,
            _ => 0,
        }
    }

    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.take();
        }
    }

    fn end_command(&mut self) {
        let words = std::mem::take(&mut self.words);
        if !std::mem::take(&mut self.is_piped) && !words.is_empty() {
            self.commands.push(words);
        }
    }

    fn commands(mut self) -> Result<Vec<Vec<Word>>, PlanError> {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => {
                    self.skip(1);
                    self.end_command();
                }
                b'\r' | b' ' | b'\t' => self.skip(1),
                b'\\' if self.line_end(1) > 0 => self.skip(1 + self.line_end(1)),
                b'#' => {
                    while self.peek(0).is_some_and(|byte| byte != b'\n') {
                        self.skip(1);
                    }
                }
                b';' => {
                    self.skip(1);
                    self.end_command();
                }
                b'&' => {
                    if self.peek(1) == Some(b'>') {
                        self.redirect()?;
                    } else {
                        self.skip(1);
                        self.end_command();
                    }
                }
                b'|' => {
                    let is_or = self.peek(1) == Some(b'|');
                    self.skip(1 + usize::from(is_or));
                    self.end_command();
                    // The output goes to another program, which a load does not have.
                    self.is_piped = !is_or;
                }
                b'>' | b'<' => self.redirect()?,
                b'(' | b')' => return Err(self.foreign(&(byte as char).to_string())),
                _ => {
                    let word = self.word()?;
                    let is_number = matches!(word.bytes.as_slice(), b"1" | b"2");
                    if is_number && self.peek(0) == Some(b'>') {
                        self.redirect()?;
                    } else {
                        self.words.push(word);
                    }
                }
            }
        }
        self.end_command();
        Ok(self.commands)
    }

    /// An output redirection: a load shows no output.
    fn redirect(&mut self) -> Result<(), PlanError> {
        if self.peek(0) == Some(b'<') {
            return Err(self.foreign("<"));
        }
        while self.peek(0).is_some_and(|byte| b"&>".contains(&byte)) {
            self.skip(1);
        }
        while self.peek(0).is_some_and(|byte| b" \t".contains(&byte)) {
            self.skip(1);
        }
        self.word().map(|_| ())
    }

    fn foreign(&self, what: &str) -> PlanError {
        at(self.line, CurlFault::Shell { what: what.to_owned() })
    }

    fn word(&mut self) -> Result<Word, PlanError> {
        let line = self.line;
        let mut bytes = Vec::new();
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                b'\'' => {
                    self.skip(1);
                    self.single(line, &mut bytes)?;
                }
                b'"' => {
                    self.skip(1);
                    self.double(line, &mut bytes)?;
                }
                b'$' if self.peek(1) == Some(b'\'') => {
                    self.skip(2);
                    self.ansi(line, &mut bytes)?;
                }
                b'$' if self.peek(1) == Some(b'"') => self.skip(1),
                b'$' | b'`' => self.variable(&mut bytes)?,
                b'\\' if self.line_end(1) > 0 => self.skip(1 + self.line_end(1)),
                b'\\' => {
                    self.skip(1);
                    bytes.push(self.take().unwrap_or(b'\\'));
                }
                _ => bytes.extend(self.take()),
            }
        }
        Ok(Word { bytes, line })
    }

    /// A dollar stands for itself unless a name, a brace or a bracket follows.
    fn variable(&mut self, bytes: &mut Vec<u8>) -> Result<(), PlanError> {
        let names = |byte: u8| byte.is_ascii_alphanumeric() || b"_{(*@#?!".contains(&byte);
        if self.peek(0) == Some(b'$') && !self.peek(1).is_some_and(names) {
            bytes.extend(self.take());
            return Ok(());
        }
        let rest = &self.text[self.place..];
        let end = rest.iter().skip(1).position(|byte| !byte.is_ascii_alphanumeric() && !b"_{}(".contains(byte));
        let name = String::from_utf8_lossy(&rest[..end.map_or(rest.len(), |end| end + 1)]).into_owned();
        Err(self.foreign(&name))
    }

    fn unfinished(&self, line: usize, quote: &'static str) -> PlanError {
        at(line, CurlFault::Quote { quote })
    }

    fn single(&mut self, line: usize, bytes: &mut Vec<u8>) -> Result<(), PlanError> {
        loop {
            match self.take() {
                None => return Err(self.unfinished(line, "'")),
                Some(b'\'') => return Ok(()),
                Some(byte) => bytes.push(byte),
            }
        }
    }

    fn double(&mut self, line: usize, bytes: &mut Vec<u8>) -> Result<(), PlanError> {
        loop {
            match self.peek(0) {
                None => return Err(self.unfinished(line, "\"")),
                Some(b'"') => {
                    self.skip(1);
                    return Ok(());
                }
                Some(b'\\') if self.line_end(1) > 0 => self.skip(1 + self.line_end(1)),
                Some(b'\\') if self.peek(1).is_some_and(|byte| b"$`\"\\".contains(&byte)) => {
                    self.skip(1);
                    bytes.extend(self.take());
                }
                Some(b'$' | b'`') => self.variable(bytes)?,
                Some(_) => bytes.extend(self.take()),
            }
        }
    }

    /// `$'...'`: the escapes of C, and characters by their numbers.
    fn ansi(&mut self, line: usize, bytes: &mut Vec<u8>) -> Result<(), PlanError> {
        let start = bytes.len();
        self.ansi_to_its_end(line, bytes)?;
        // A shell has no zeros: one ends the text within the quotes.
        if let Some(zero) = bytes[start..].iter().position(|byte| *byte == 0) {
            bytes.truncate(start + zero);
        }
        Ok(())
    }

    fn ansi_to_its_end(&mut self, line: usize, bytes: &mut Vec<u8>) -> Result<(), PlanError> {
        loop {
            match self.take() {
                None => return Err(self.unfinished(line, "$'")),
                Some(b'\'') => return Ok(()),
                Some(b'\\') => {
                    let Some(sign) = self.take() else { return Err(self.unfinished(line, "$'")) };
                    match sign {
                        b'a' => bytes.push(7),
                        b'b' => bytes.push(8),
                        b'e' | b'E' => bytes.push(27),
                        b'f' => bytes.push(12),
                        b'n' => bytes.push(b'\n'),
                        b'r' => bytes.push(b'\r'),
                        b't' => bytes.push(b'\t'),
                        b'v' => bytes.push(11),
                        b'x' => match self.digits(16, 2) {
                            Some(number) => bytes.push(number as u8),
                            None => bytes.extend_from_slice(b"\\x"),
                        },
                        b'u' => self.character(4, sign, bytes),
                        b'U' => self.character(8, sign, bytes),
                        b'0'..=b'7' => {
                            self.place -= 1;
                            bytes.push(self.digits(8, 3).unwrap_or(0) as u8);
                        }
                        b'c' => bytes.extend(self.take().map(|byte| byte & 0x1f)),
                        b'\\' | b'\'' | b'"' | b'?' => bytes.push(sign),
                        other => bytes.extend_from_slice(&[b'\\', other]),
                    }
                }
                Some(byte) => bytes.push(byte),
            }
        }
    }

    fn character(&mut self, most: usize, sign: u8, bytes: &mut Vec<u8>) {
        let Some(number) = self.digits(16, most) else { return bytes.extend_from_slice(&[b'\\', sign]) };
        // Browsers write characters beyond 16 bits as two surrogates.
        let is_high = (0xd800..0xdc00).contains(&number);
        let number = if is_high && self.peek(0) == Some(b'\\') && self.peek(1) == Some(b'u') {
            self.skip(2);
            let low = self.digits(16, 4).unwrap_or(0);
            0x1_0000 + ((number - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff)
        } else {
            number
        };
        let character = char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER);
        bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn digits(&mut self, radix: u32, most: usize) -> Option<u32> {
        let mut number = None;
        for _ in 0..most {
            let Some(digit) = self.peek(0).and_then(|byte| (byte as char).to_digit(radix)) else { break };
            number = Some(number.unwrap_or(0u32).wrapping_mul(radix).wrapping_add(digit));
            self.skip(1);
        }
        number
    }
}
