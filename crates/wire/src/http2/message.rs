//! Validation of header fields as messages (RFC 9113, 8).

use super::Fault;
use crate::hpack::FieldList;

/// The content of a response head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResponseHead {
    pub(super) status: u16,
    pub(super) content_length: Option<u64>,
}

pub(super) fn response(fields: &FieldList) -> Result<ResponseHead, Fault> {
    let (mut status, mut content_length, mut is_past_pseudo) = (None, None, false);
    for (name, value) in fields.iter() {
        if name.first() == Some(&b':') {
            if is_past_pseudo || name != b":status" || status.is_some() {
                return Err(Fault::Headers);
            }
            status = Some(three_digits(value).ok_or(Fault::Headers)?);
        } else {
            is_past_pseudo = true;
            plain(name, value, &mut content_length)?;
        }
    }
    let status = status.ok_or(Fault::Headers)?;
    Ok(ResponseHead { status, content_length })
}

/// The announced length of a request's content.
pub(super) fn request(fields: &FieldList) -> Result<Option<u64>, Fault> {
    let (mut content_length, mut is_past_pseudo) = (None, false);
    let [mut method, mut scheme, mut path, mut authority] = [None::<&[u8]>; 4];
    for (name, value) in fields.iter() {
        if name.first() != Some(&b':') {
            is_past_pseudo = true;
            plain(name, value, &mut content_length)?;
            continue;
        }
        let place = match name {
            b":method" => &mut method,
            b":scheme" => &mut scheme,
            b":path" => &mut path,
            b":authority" => &mut authority,
            _ => return Err(Fault::Headers),
        };
        if is_past_pseudo || place.replace(value).is_some() {
            return Err(Fault::Headers);
        }
    }
    let is_whole = match method {
        Some(b"CONNECT") => scheme.is_none() && path.is_none() && authority.is_some(),
        Some(_) => scheme.is_some() && path.is_some_and(|path| !path.is_empty()),
        None => false,
    };
    if is_whole { Ok(content_length) } else { Err(Fault::Headers) }
}

pub(super) fn trailers(fields: &FieldList) -> Result<(), Fault> {
    for (name, value) in fields.iter() {
        if name.first() == Some(&b':') {
            return Err(Fault::Headers);
        }
        plain(name, value, &mut None)?;
    }
    Ok(())
}

/// Checks a field other than pseudo-fields: its name is in lower case, and it is not connection-specific (8.2).
fn plain(name: &[u8], value: &[u8], content_length: &mut Option<u64>) -> Result<(), Fault> {
    let is_bad = |byte: &u8| byte.is_ascii_uppercase() || *byte <= b' ' || *byte >= 0x7f || *byte == b':';
    if name.is_empty() || name.iter().any(is_bad) || value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n')) {
        return Err(Fault::Headers);
    }
    match name.len() {
        2 if name == b"te" && !value.eq_ignore_ascii_case(b"trailers") => return Err(Fault::Headers),
        7 if name == b"upgrade" => return Err(Fault::Headers),
        10 if name == b"connection" || name == b"keep-alive" => return Err(Fault::Headers),
        16 if name == b"proxy-connection" => return Err(Fault::Headers),
        17 if name == b"transfer-encoding" => return Err(Fault::Headers),
        14 if name == b"content-length" => {
            let number = decimal(value).ok_or(Fault::ContentLength)?;
            if content_length.replace(number).is_some_and(|earlier| earlier != number) {
                return Err(Fault::ContentLength);
            }
        }
        _ => {}
    }
    Ok(())
}

fn three_digits(value: &[u8]) -> Option<u16> {
    let [a, b, c] = *value else { return None };
    let is_number = value.iter().all(u8::is_ascii_digit) && a != b'0';
    is_number.then(|| u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0'))
}

/// Digits only, and no more than half of a `u64`, so that sums cannot overflow.
fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 18 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0u64, |sum, digit| sum * 10 + u64::from(digit - b'0')))
}
