//! The secret token for reading and control.

use std::io::Read;

/// Bytes of a generated token.
const BYTES: usize = 24;
/// The fewest characters of a user's token.
const CHARS_MIN: usize = 16;
/// The most.
const CHARS_MAX: usize = 256;

/// A new token, from the random numbers of the kernel.
///
/// # Errors
/// They cannot be read.
pub fn new_token() -> std::io::Result<String> {
    let mut bytes = [0; BYTES];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What is wrong with a user's token, in English and Chinese.
pub fn token_fault(token: &str) -> Option<(String, String)> {
    let is_plain = token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte));
    let fits = (CHARS_MIN..=CHARS_MAX).contains(&token.len());
    (!is_plain || !fits).then(|| {
        (
            format!("wants {CHARS_MIN} to {CHARS_MAX} letters, digits or any of -_.~"),
            format!("需要 {CHARS_MIN} 到 {CHARS_MAX} 个字母、数字或 -_.~"),
        )
    })
}

/// Whether two texts are equal, in a time that does not reveal where they differ.
pub(crate) fn is_same(given: &[u8], wanted: &[u8]) -> bool {
    let differ = given.iter().zip(wanted).fold(0, |differ, (one, other)| differ | (one ^ other));
    given.len() == wanted.len() && differ == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_and_differ() {
        let tokens = [new_token().expect("random bytes"), new_token().expect("random bytes")];
        assert_ne!(tokens[0], tokens[1]);
        assert!(tokens.iter().all(|token| token.len() == 2 * BYTES && token_fault(token).is_none()));
        for bad in ["", "short", "has a blank in it, sadly", "0123456789abcdef\n"] {
            assert!(token_fault(bad).is_some(), "{bad}");
        }
        assert!(is_same(b"abc", b"abc") && !is_same(b"abd", b"abc") && !is_same(b"ab", b"abc") && !is_same(b"", b"a"));
    }
}
