//! Validation of UTF-8 in pieces: an error is found with the first invalid byte.

/// The bytes of an incomplete character.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Utf8 {
    bytes: [u8; 4],
    length: u8,
}

impl Utf8 {
    /// Validates the next piece. False when the text can no longer be UTF-8.
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

    /// Whether the text may end here.
    pub(super) fn is_whole(&self) -> bool {
        self.length == 0
    }
}
