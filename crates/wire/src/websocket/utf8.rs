//! UTF-8 that comes in pieces: what is wrong is seen with the first byte that cannot be right.

/// The bytes of a character that is not complete.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Utf8 {
    bytes: [u8; 4],
    length: u8,
}

impl Utf8 {
    /// Looks at a piece. False when the text cannot be UTF-8 any more.
    pub(super) fn goes_on_with(&mut self, piece: &[u8]) -> bool {
        let mut rest = piece;
        while self.length > 0 {
            let [byte, tail @ ..] = rest else { return true };
            self.bytes[usize::from(self.length)] = *byte;
            self.length += 1;
            rest = tail;
            match std::str::from_utf8(&self.bytes[..usize::from(self.length)]) {
                Ok(_) => self.length = 0,
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return false,
            }
        }
        match std::str::from_utf8(rest) {
            Ok(_) => true,
            Err(error) if error.error_len().is_none() => {
                let tail = &rest[error.valid_up_to()..];
                self.bytes[..tail.len()].copy_from_slice(tail);
                self.length = tail.len() as u8;
                true
            }
            Err(_) => false,
        }
    }

    /// The text may end here.
    pub(super) fn is_whole(&self) -> bool {
        self.length == 0
    }
}
