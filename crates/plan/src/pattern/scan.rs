//! The end of a slot: the first `}` that belongs to no bracket and is in no string.

use super::{PatternError, PatternFault, SLOT_BYTES_MAX, SLOT_DEPTH_MAX};

/// The position of the `}` that closes the slot whose content begins at `start`.
pub(super) fn end_of_slot(text: &str, start: usize) -> Result<usize, PatternError> {
    let (mut open, mut quote) = (Vec::new(), None);
    let mut was_escaped = false;
    let opening = start - 2..start;
    for (offset, byte) in text[start..].bytes().enumerate() {
        let at = start + offset;
        if offset > SLOT_BYTES_MAX {
            // Without an end, the following text is no slot: that is the likelier error.
            let fault = if text[at..].contains('}') { PatternFault::TooLong } else { PatternFault::Open };
            return Err(fault.at(opening));
        }
        if let Some(end) = quote {
            let is_end = byte == end && !was_escaped;
            was_escaped = byte == b'\\' && !was_escaped;
            quote = quote.filter(|_| !is_end);
            continue;
        }
        match byte {
            b'\'' | b'"' | b'`' => (quote, was_escaped) = (Some(byte), false),
            b'}' if open.is_empty() => return Ok(at),
            b'(' | b'[' | b'{' => {
                open.push(byte);
                if open.len() > SLOT_DEPTH_MAX {
                    return Err(PatternFault::TooDeep.at(opening));
                }
            }
            b')' | b']' | b'}' => {
                let opened = open.pop();
                if opened != Some(partner(byte)) {
                    return Err(PatternFault::Brackets.at(at..at + 1));
                }
            }
            _ => {}
        }
    }
    Err(PatternFault::Open.at(opening))
}

fn partner(close: u8) -> u8 {
    match close {
        b')' => b'(',
        b']' => b'[',
        _ => b'{',
    }
}
