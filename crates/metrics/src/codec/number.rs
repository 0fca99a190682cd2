//! Variable-length numbers, and a reader that validates everything.

use super::SnapshotError;

/// The largest count of one thing: sums of 256 such snapshots do not overflow.
const AMOUNT_MAX: u64 = 1 << 56;

/// Writes a number, seven bits per byte.
pub(super) fn put(out: &mut Vec<u8>, number: u64) {
    put_wide(out, number.into());
}

pub(super) fn put_wide(out: &mut Vec<u8>, mut number: u128) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Writes an optional number.
pub(super) fn put_option(out: &mut Vec<u8>, number: Option<u64>) {
    out.push(u8::from(number.is_some()));
    if let Some(number) = number {
        put(out, number);
    }
}

/// The rest of a snapshot, or of a section.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    /// Bytes of the snapshot after these.
    behind: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, behind: 0 }
    }

    /// A reader of the next bytes alone.
    pub(super) fn part(&mut self, length: usize) -> Result<Self, SnapshotError> {
        let rest = self.take(length)?;
        Ok(Self { rest, behind: self.behind + self.rest.len() })
    }

    pub(super) fn is_over(&self) -> bool {
        self.rest.is_empty()
    }

    #[cold]
    pub(super) fn damaged(&self) -> SnapshotError {
        SnapshotError::Damaged { left: self.rest.len() + self.behind }
    }

    /// The error of a premature end: the snapshot is truncated when nothing follows, else a section is too short for
    /// its content.
    #[cold]
    fn cut(&self) -> SnapshotError {
        if self.behind == 0 { SnapshotError::Cut } else { self.damaged() }
    }

    /// Returns an error unless the condition holds.
    pub(super) fn must(&self, holds: bool) -> Result<(), SnapshotError> {
        if holds { Ok(()) } else { Err(self.damaged()) }
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], SnapshotError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(|| self.cut())?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, SnapshotError> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn wide(&mut self) -> Result<u128, SnapshotError> {
        let mut number = 0;
        for shift in (0..u128::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u128::from(byte & 0x7f);
            number |= bits << shift;
            if byte & 0x80 == 0 {
                // The encoding of a number is unique: no trailing zeros, and no overflowing bit.
                self.must((byte > 0 || shift == 0) && number >> shift == bits)?;
                return Ok(number);
            }
        }
        Err(self.damaged())
    }

    pub(super) fn number(&mut self) -> Result<u64, SnapshotError> {
        let number = self.wide()?;
        u64::try_from(number).map_err(|_| self.damaged())
    }

    /// A number up to `most`.
    pub(super) fn up_to(&mut self, most: u64) -> Result<u64, SnapshotError> {
        let number = self.number()?;
        self.must(number <= most)?;
        Ok(number)
    }

    /// Reads a count.
    pub(super) fn amount(&mut self) -> Result<u64, SnapshotError> {
        self.up_to(AMOUNT_MAX)
    }

    pub(super) fn index(&mut self, below: usize) -> Result<usize, SnapshotError> {
        let number = self.number()?;
        self.must(number < below as u64)?;
        Ok(number as usize)
    }

    /// Reads the number of the items that follow, each of at least one byte: at most `most`.
    pub(super) fn length(&mut self, most: usize) -> Result<usize, SnapshotError> {
        let length = self.up_to(most as u64)? as usize;
        if length > self.rest.len() { Err(self.cut()) } else { Ok(length) }
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], SnapshotError> {
        let length = self.length(usize::MAX)?;
        self.take(length)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, SnapshotError> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map_err(|_| self.damaged())
    }

    pub(super) fn flag(&mut self) -> Result<bool, SnapshotError> {
        let byte = self.byte()?;
        self.must(byte <= 1)?;
        Ok(byte == 1)
    }

    pub(super) fn option(&mut self) -> Result<Option<u64>, SnapshotError> {
        if self.flag()? { self.number().map(Some) } else { Ok(None) }
    }
}
