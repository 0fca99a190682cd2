//! RESP, the protocol of Redis, in versions 2 and 3: where its replies end, in bytes that are cut anywhere.
//!
//! Nothing is copied but lines that arrive in pieces. The memory of a [`Scanner`] is bounded: a line, and a counter for
//! each level of nesting.

use wire::decimal::push_decimal;

/// Maximum nesting of a reply.
pub(super) const DEPTH_MAX: usize = 32;
/// Maximum length of a bulk string: that of Redis.
pub(super) const BULK_BYTES_MAX: u64 = 512 << 20;
/// Maximum length of a line with its end: that of Redis.
pub(super) const LINE_BYTES_MAX: usize = 64 << 10;
/// Maximum number of elements of an aggregate: that of Redis.
pub(super) const ELEMENTS_MAX: u64 = u32::MAX as u64;
/// Maximum length of an error's first word.
const WORD_BYTES_MAX: usize = 32;
/// The first bytes of all lines.
const KINDS: &[u8] = b"+-:$*_,#(!=%~|>";

/// Why bytes are not RESP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// Not a reply.
    Reply,
    /// A bound is exceeded.
    TooLarge,
}

/// The meaning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RespLine {
    /// A value, all of it.
    Scalar,
    /// This number of bytes follow, and a line end.
    Bulk(u64),
    /// This number of values follow.
    Elements(u64),
}

/// The meaning of a line without its end.
pub(super) fn parse_line(line: &[u8]) -> Result<RespLine, Broken> {
    let (kind, text) = line.split_first().ok_or(Broken::Reply)?;
    let is_scalar = match kind {
        b'+' | b'-' => !text.contains(&b'\r'),
        b':' => number(text).is_some(),
        b',' => double(text).is_some(),
        b'(' => is_digits(text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text)),
        b'#' => matches!(text, b"t" | b"f"),
        b'_' => text.is_empty(),
        b'$' | b'*' => text == b"-1",
        _ => false,
    };
    if is_scalar {
        return Ok(RespLine::Scalar);
    }
    if !b"$!=*~>%|".contains(kind) || !is_digits(text) {
        return Err(Broken::Reply);
    }
    let digit = |sum: u64, digit: &u8| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    let count = text.iter().fold(0, digit);
    match kind {
        b'$' | b'!' | b'=' if count > BULK_BYTES_MAX => Err(Broken::TooLarge),
        // A verbatim string begins with its format, as in `txt:`.
        b'=' if count < 4 => Err(Broken::Reply),
        b'$' | b'!' | b'=' => Ok(RespLine::Bulk(count)),
        _ if count > ELEMENTS_MAX => Err(Broken::TooLarge),
        b'%' | b'|' => Ok(RespLine::Elements(2 * count)),
        _ => Ok(RespLine::Elements(count)),
    }
}

fn is_digits(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// The value of an integer.
pub(super) fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The value of a double, also infinite or not a number.
pub(super) fn double(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The line at the beginning without its end, and the bytes after it.
pub(super) fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    Some((bytes[..end].strip_suffix(b"\r")?, &bytes[end + 1..]))
}

/// The bulk string of this length at the beginning, and the bytes after it.
pub(super) fn split_bulk(bytes: &[u8], length: u64) -> Option<(&[u8], &[u8])> {
    let (bulk, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    Some((bulk, rest.strip_prefix(b"\r\n")?))
}

/// Appends a line of a length or a count.
pub(super) fn write_count(kind: u8, count: usize, out: &mut Vec<u8>) {
    out.push(kind);
    push_decimal(count as u64, out);
    out.extend_from_slice(b"\r\n");
}

/// Appends a bulk string.
pub(super) fn write_bulk(bytes: &[u8], out: &mut Vec<u8>) {
    write_count(b'$', bytes.len(), out);
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// Finds the ends of replies.
#[derive(Default)]
pub(super) struct Scanner {
    /// The aggregates that are not complete, the outermost first: the number of values to come, and whether it is an
    /// attribute, which is no value itself.
    open: [(u64, bool); DEPTH_MAX],
    depth: usize,
    /// Bytes of a bulk string to come, with its line end.
    bulk: u64,
    /// A line that has not arrived whole.
    line: Vec<u8>,
    is_within: bool,
    is_push: bool,
    /// The beginning of the first error, as much as its word needs; not of errors inside other values.
    error: Option<Vec<u8>>,
    is_error: bool,
}

/// What was found in some bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Scan {
    /// Bytes that need not be given again.
    pub(super) taken: usize,
    /// Those of them that are complete: not those of a begun line.
    pub(super) complete: usize,
    /// The complete bytes are not these but a line that arrived in pieces; it is lent.
    pub(super) is_joined: bool,
    /// Replies that ended here.
    pub(super) replies: u32,
    /// The bytes belong to a push, which is not a reply.
    pub(super) is_push: bool,
    /// The push ended here.
    pub(super) is_push_over: bool,
}

impl Scanner {
    /// Whether no part of a reply or push has arrived.
    pub(super) fn is_idle(&self) -> bool {
        !self.is_within && self.line.is_empty()
    }

    /// The incomplete line.
    pub(super) fn begun(&self) -> &[u8] {
        &self.line
    }

    /// The beginning of the first error since this was called last.
    pub(super) fn take_error(&mut self) -> Option<Vec<u8>> {
        self.error.take()
    }

    /// Scans this number of replies, or one push, or as much of them as there is; the input is not empty. What is
    /// broken is an error when it stands at the beginning, so that everything before it is complete.
    pub(super) fn scan(&mut self, input: &[u8], replies: u32, lent: &mut Vec<u8>) -> Result<Scan, Broken> {
        let mut scan = Scan::default();
        if !self.line.is_empty() {
            self.join(input, lent, &mut scan)?;
            return Ok(scan);
        }
        while scan.replies < replies && !scan.is_push_over && scan.taken < input.len() {
            let rest = &input[scan.taken..];
            if scan.taken > 0 && !self.is_within && rest[0] == b'>' {
                break;
            }
            match self.step(rest) {
                Err(broken) if scan.taken == 0 => return Err(broken),
                Err(_) => break,
                Ok(None) => {
                    self.line.extend_from_slice(rest);
                    scan.taken = input.len();
                    break;
                }
                Ok(Some((taken, is_over))) => {
                    scan.taken += taken;
                    scan.complete = scan.taken;
                    self.count(is_over, &mut scan);
                }
            }
        }
        Ok(scan)
    }

    /// Completes the line that arrived in pieces.
    fn join(&mut self, input: &[u8], lent: &mut Vec<u8>, scan: &mut Scan) -> Result<(), Broken> {
        let end = input.iter().position(|byte| *byte == b'\n');
        scan.taken = end.map_or(input.len(), |end| end + 1);
        if self.line.len() + scan.taken > LINE_BYTES_MAX {
            return Err(Broken::TooLarge);
        }
        self.line.extend_from_slice(&input[..scan.taken]);
        if end.is_some() {
            lent.clear();
            std::mem::swap(lent, &mut self.line);
            let is_over = self.handle_line(lent)?;
            scan.is_joined = true;
            self.count(is_over, scan);
        }
        Ok(())
    }

    fn count(&self, is_over: bool, scan: &mut Scan) {
        scan.is_push = self.is_push;
        scan.is_push_over = is_over && self.is_push;
        scan.replies += u32::from(is_over && !self.is_push);
    }

    /// The next line or piece of a bulk string: its length, and whether a reply or push is over. `None`: its line has
    /// no end yet.
    fn step(&mut self, rest: &[u8]) -> Result<Option<(usize, bool)>, Broken> {
        if self.bulk > 0 {
            return self.handle_bulk(rest).map(Some);
        }
        if !KINDS.contains(&rest[0]) {
            return Err(Broken::Reply);
        }
        let end = rest.iter().position(|byte| *byte == b'\n');
        if end.map_or(rest.len(), |end| end + 1) > LINE_BYTES_MAX {
            return Err(Broken::TooLarge);
        }
        end.map(|end| Ok((end + 1, self.handle_line(&rest[..=end])?))).transpose()
    }

    fn handle_bulk(&mut self, rest: &[u8]) -> Result<(usize, bool), Broken> {
        if self.bulk > 2 {
            let taken = usize::try_from(self.bulk - 2).map_or(rest.len(), |content| content.min(rest.len()));
            self.bulk -= taken as u64;
            if self.is_error {
                self.store_error(&rest[..taken]);
            }
            return Ok((taken, false));
        }
        if rest[0] != if self.bulk == 2 { b'\r' } else { b'\n' } {
            return Err(Broken::Reply);
        }
        self.bulk -= 1;
        Ok((1, self.bulk == 0 && self.end_value()))
    }

    /// Whether a reply or push is over with this line. Nothing changes if it is broken.
    fn handle_line(&mut self, line: &[u8]) -> Result<bool, Broken> {
        let line = line.strip_suffix(b"\r\n").ok_or(Broken::Reply)?;
        let (unit, kind) = (parse_line(line)?, line[0]);
        if self.is_within && kind == b'>' {
            return Err(Broken::Reply);
        }
        if self.depth == DEPTH_MAX && matches!(unit, RespLine::Elements(1..)) {
            return Err(Broken::TooLarge);
        }
        if !self.is_within {
            self.is_push = kind == b'>';
        }
        self.is_within = true;
        self.is_error = matches!(kind, b'-' | b'!') && self.depth == 0 && self.error.is_none();
        if self.is_error {
            self.store_error(if unit == RespLine::Scalar { &line[1..] } else { &[] });
        }
        match unit {
            RespLine::Elements(0) if kind == b'|' => return Ok(false),
            RespLine::Scalar | RespLine::Elements(0) => return Ok(self.end_value()),
            RespLine::Bulk(length) => self.bulk = length + 2,
            RespLine::Elements(count) => {
                self.open[self.depth] = (count, kind == b'|');
                self.depth += 1;
            }
        }
        Ok(false)
    }

    /// Whether this was the last value of a reply or push.
    fn end_value(&mut self) -> bool {
        while self.depth > 0 {
            let (left, is_attribute) = &mut self.open[self.depth - 1];
            *left -= 1;
            if *left > 0 {
                return false;
            }
            self.depth -= 1;
            if *is_attribute {
                return false;
            }
        }
        self.is_within = false;
        true
    }

    fn store_error(&mut self, bytes: &[u8]) {
        let error = self.error.get_or_insert_default();
        let room = WORD_BYTES_MAX + 1 - error.len();
        error.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

/// The first word of an error, as a status.
pub(super) fn status_of(error: &[u8]) -> &[u8] {
    let word = error.split(|byte| *byte == b' ').next().unwrap_or_default();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if (1..=WORD_BYTES_MAX).contains(&word.len()) && word.iter().all(is_plain) { word } else { b"ERROR" }
}
