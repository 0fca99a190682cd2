//! How a call ended.

/// The highest number that is known.
const LAST: u8 = 16;
/// Counters for statuses: the known ones, and one for all others.
pub const STATUS_COUNT: usize = LAST as usize + 2;

/// The status of a call (`grpc-status`); numbers that are not known are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Status(u8);

impl Status {
    /// It went well.
    pub const OK: Self = Self(0);
    /// It took longer than it may.
    pub const DEADLINE_EXCEEDED: Self = Self(4);
    /// No such thing.
    pub const NOT_FOUND: Self = Self(5);
    /// More than a bound allows.
    pub const RESOURCE_EXHAUSTED: Self = Self(8);
    /// No such method.
    pub const UNIMPLEMENTED: Self = Self(12);
    /// Something that must not be.
    pub const INTERNAL: Self = Self(13);

    /// The status of a number.
    pub fn of(number: u32) -> Self {
        Self(number.min(u32::from(LAST) + 1) as u8)
    }

    /// Its number, below [`STATUS_COUNT`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// What a trailer says; `None` when that is no number.
    #[inline]
    pub fn read(value: &[u8]) -> Option<Self> {
        match value {
            [digit @ b'0'..=b'9'] => Some(Self(digit - b'0')),
            [b'1'..=b'9', rest @ ..] if value.len() <= 9 && rest.iter().all(u8::is_ascii_digit) => {
                Some(Self::of(value.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))))
            }
            _ => None,
        }
    }
}

/// What `grpc-message` says (percent-encoded UTF-8); what is wrongly encoded stays as it is.
pub fn percent_decode(value: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value;
    while let [first, tail @ ..] = rest {
        let digit = |at: usize| tail.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The value of `grpc-message` for a text.
pub fn percent_encode(text: &str) -> Vec<u8> {
    let mut value = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        if matches!(byte, b' '..=b'~') && byte != b'%' {
            value.push(byte);
        } else {
            let digit =
                |half: u8| char::from_digit(u32::from(half), 16).map_or(b'0', |digit| digit.to_ascii_uppercase() as u8);
            value.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    value
}
