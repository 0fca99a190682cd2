//! The status of a call.

/// The highest known status code.
const LAST: u8 = 16;
/// Number of status counters: the known codes, and one for all others.
pub const STATUS_COUNT: usize = LAST as usize + 2;

/// The status of a call (`grpc-status`); unknown codes are one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Status(u8);

impl Status {
    /// The call succeeded.
    pub const OK: Self = Self(0);
    /// The call was cancelled.
    pub const CANCELLED: Self = Self(1);
    /// The outcome is unknown.
    pub const UNKNOWN: Self = Self(2);
    /// The deadline passed.
    pub const DEADLINE_EXCEEDED: Self = Self(4);
    /// Not found.
    pub const NOT_FOUND: Self = Self(5);
    /// The caller is not permitted.
    pub const PERMISSION_DENIED: Self = Self(7);
    /// A quota or limit was exceeded.
    pub const RESOURCE_EXHAUSTED: Self = Self(8);
    /// The method is not implemented.
    pub const UNIMPLEMENTED: Self = Self(12);
    /// An internal error.
    pub const INTERNAL: Self = Self(13);
    /// The service is unavailable.
    pub const UNAVAILABLE: Self = Self(14);
    /// Missing or invalid credentials.
    pub const UNAUTHENTICATED: Self = Self(16);

    /// The status of a code.
    pub fn from_number(number: u32) -> Self {
        Self(number.min(u32::from(LAST) + 1) as u8)
    }

    /// The status of a response without `grpc-status`, from its HTTP status (`doc/http-grpc-status-mapping.md` of
    /// github.com/grpc/grpc).
    pub fn from_http_status(status: u16) -> Self {
        match status {
            400 | 431 => Self::INTERNAL,
            401 => Self::UNAUTHENTICATED,
            403 => Self::PERMISSION_DENIED,
            404 => Self::UNIMPLEMENTED,
            429 | 502 | 503 | 504 => Self::UNAVAILABLE,
            _ => Self::UNKNOWN,
        }
    }

    /// The status of a stream that was reset with this error code (`doc/PROTOCOL-HTTP2.md` there). The document defines
    /// none for a closed stream, for `HTTP_1_1_REQUIRED`, and for unknown codes.
    pub fn from_reset_code(code: u32) -> Self {
        match code {
            0..=4 | 6 | 9 | 10 => Self::INTERNAL,
            7 => Self::UNAVAILABLE,
            8 => Self::CANCELLED,
            11 => Self::RESOURCE_EXHAUSTED,
            12 => Self::PERMISSION_DENIED,
            _ => Self::UNKNOWN,
        }
    }

    /// Its counter index, below [`STATUS_COUNT`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The status in a trailer; `None` when it is not a number.
    #[inline]
    pub fn read(value: &[u8]) -> Option<Self> {
        match value {
            [digit @ b'0'..=b'9'] => Some(Self(digit - b'0')),
            [b'1'..=b'9', rest @ ..] if value.len() <= 9 && rest.iter().all(u8::is_ascii_digit) => {
                Some(Self::from_number(value.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))))
            }
            _ => None,
        }
    }
}

/// The text of `grpc-message` (percent-encoded UTF-8); invalid encoding is kept unchanged.
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
