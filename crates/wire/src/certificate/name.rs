//! An X.501 name as one line, as other tools write it: `C=CN, O=Example, CN=example.org`.

use super::der::{Reader, tag};

/// A distinguished name: a sequence of sets of attributes, each a kind and a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a>(pub(super) &'a [u8]);

impl core::fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut sets = Reader(self.0);
        let mut before = "";
        while let Some(set) = sets.take(tag::SET) {
            let mut attributes = Reader(set);
            while let Some(attribute) = attributes.take(tag::SEQUENCE) {
                let mut attribute = Reader(attribute);
                let Some(kind) = attribute.take(tag::OBJECT_IDENTIFIER) else { continue };
                let Some((form, value)) = attribute.next() else { continue };
                write!(f, "{before}{}={}", kind_of(kind), text_of(form, value))?;
                // Attributes of one set belong together.
                before = " + ";
            }
            before = ", ";
        }
        Ok(())
    }
}

/// The short name of a well-known attribute such as `CN`; the dotted numbers of any other.
fn kind_of(identifier: &[u8]) -> String {
    let known = match identifier {
        [0x55, 0x04, last] => match last {
            3 => "CN",
            4 => "surname",
            5 => "serialNumber",
            6 => "C",
            7 => "L",
            8 => "ST",
            9 => "streetAddress",
            10 => "O",
            11 => "OU",
            12 => "title",
            13 => "description",
            15 => "businessCategory",
            16 => "postalAddress",
            17 => "postalCode",
            41 => "name",
            42 => "givenName",
            43 => "initials",
            44 => "generationQualifier",
            45 => "uniqueIdentifier",
            46 => "dnQualifier",
            _ => return numbers_of(identifier),
        },
        // 0.9.2342.19200300.100.1.1 and .25
        [0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 0x01, 0x01] => "uid",
        [0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 0x01, 0x19] => "DC",
        // 1.2.840.113549.1.9.1
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x01] => "Email",
        _ => return numbers_of(identifier),
    };
    known.to_owned()
}

/// An object identifier as dotted numbers (X.690 8.19): seven bits per byte, the first two numbers in one.
fn numbers_of(identifier: &[u8]) -> String {
    let mut text = String::new();
    let mut number = 0u64;
    for byte in identifier {
        number = number.wrapping_shl(7) | u64::from(byte & 0x7f);
        if byte & 0x80 != 0 {
            continue;
        }
        if text.is_empty() {
            let first = (number / 40).min(2);
            text = format!("{first}.{}", number - first * 40);
        } else {
            text.push_str(&format!(".{number}"));
        }
        number = 0;
    }
    text
}

/// A value as readable text; one that is no text is shown as bytes.
fn text_of(form: u8, value: &[u8]) -> String {
    match form {
        tag::OBJECT_DESCRIPTOR
        | tag::UTF8_STRING
        | tag::NUMERIC_STRING
        | tag::PRINTABLE_STRING
        | tag::T61_STRING
        | tag::VIDEOTEX_STRING
        | tag::IA5_STRING
        | tag::GRAPHIC_STRING
        | tag::VISIBLE_STRING
        | tag::GENERAL_STRING => shown(&String::from_utf8_lossy(value)),
        tag::BMP_STRING => {
            let units = value.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
            shown(
                &char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>(),
            )
        }
        _ => value.iter().map(|byte| format!("{byte:02X}")).collect(),
    }
}

/// Text with control characters replaced: certificates come from untrusted peers, and control characters would move the
/// terminal.
pub(super) fn shown(text: &str) -> String {
    text.chars().map(|each| if each.is_control() { char::REPLACEMENT_CHARACTER } else { each }).collect()
}
