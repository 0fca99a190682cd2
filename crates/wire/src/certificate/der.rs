//! The encoding of certificates (DER, X.690): each value has a tag, a length, and its bytes.

/// The tags used in certificates.
pub(super) mod tag {
    pub(crate) const BOOLEAN: u8 = 0x01;
    pub(crate) const INTEGER: u8 = 0x02;
    pub(crate) const BIT_STRING: u8 = 0x03;
    pub(crate) const OCTET_STRING: u8 = 0x04;
    pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
    pub(crate) const OBJECT_DESCRIPTOR: u8 = 0x07;
    pub(crate) const UTF8_STRING: u8 = 0x0c;
    pub(crate) const NUMERIC_STRING: u8 = 0x12;
    pub(crate) const PRINTABLE_STRING: u8 = 0x13;
    pub(crate) const T61_STRING: u8 = 0x14;
    pub(crate) const VIDEOTEX_STRING: u8 = 0x15;
    pub(crate) const IA5_STRING: u8 = 0x16;
    pub(crate) const UTC_TIME: u8 = 0x17;
    pub(crate) const GENERALIZED_TIME: u8 = 0x18;
    pub(crate) const GRAPHIC_STRING: u8 = 0x19;
    pub(crate) const VISIBLE_STRING: u8 = 0x1a;
    pub(crate) const GENERAL_STRING: u8 = 0x1b;
    pub(crate) const BMP_STRING: u8 = 0x1e;
    pub(crate) const SEQUENCE: u8 = 0x30;
    pub(crate) const SET: u8 = 0x31;
    /// A `dNSName` among general names.
    pub(crate) const DNS_NAME: u8 = implicit(2);
    /// An `iPAddress` among general names.
    pub(crate) const IP_ADDRESS: u8 = implicit(7);

    /// The tag of a numbered field in a sequence, around a value with a tag of its own (EXPLICIT).
    pub(crate) const fn explicit(number: u8) -> u8 {
        0xa0 | number
    }

    /// A number in place of a tag (IMPLICIT).
    pub(crate) const fn implicit(number: u8) -> u8 {
        0x80 | number
    }
}

/// First byte of tags of several bytes; certificates have none of these.
const LONG_TAG: u8 = 0x1f;
/// Maximum length bytes that are read: lengths up to four gigabytes, more than any certificate has.
const LENGTH_BYTES_MAX: usize = 4;

/// A reader over the rest of a series of values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    /// The next value with its tag; `None` at the end, and where the rest is no complete value.
    pub(super) fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        if tag & LONG_TAG == LONG_TAG {
            return None;
        }
        let (length, rest) = match first {
            0..0x80 => (usize::from(first), rest),
            _ => {
                // 0x80 alone means an indefinite length; DER has none.
                let bytes = usize::from(first & 0x7f);
                if !(1..=LENGTH_BYTES_MAX).contains(&bytes) {
                    return None;
                }
                let (length, rest) = rest.split_at_checked(bytes)?;
                (length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
            }
        };
        let (value, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, value))
    }

    /// The next value if it has this tag; otherwise it is not consumed.
    pub(super) fn take(&mut self, wanted: u8) -> Option<&'a [u8]> {
        let mut ahead = *self;
        let (tag, value) = ahead.next()?;
        (tag == wanted).then(|| {
            *self = ahead;
            value
        })
    }
}
