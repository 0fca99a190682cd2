//! The parts of an exchange, each in the form of its kind.

use std::borrow::Cow;
use std::fmt::Write;

use metrics::{GRPC_STATUSES, Part, PartKind, Sample};
use plan::Step;

use super::{Showing, visible};
use crate::Language;
use crate::format::{count, counted, is_of};
use crate::wrap::cut;

/// The most columns of an extracted value: one line on most screens, without the name before it.
const TAKEN_COLUMNS_MAX: usize = 200;

/// The most bytes of binary data that are shown, as numbers.
const HEX_BYTES_MAX: usize = 256;
const HEX_BYTES_PER_LINE: usize = 32;

/// Writes all recorded parts.
pub(super) fn write(sample: &Sample, step: Option<&Step>, showing: &Showing, text: &mut String) {
    let types = [true, false].map(|is_ours| type_of(&sample.parts, is_ours));
    let (mut sent, mut came) = (0, 0);
    for part in &sample.parts {
        let number = if part.is_ours { &mut sent } else { &mut came };
        *number += u64::from(part.kind == PartKind::Message);
        let content_type = types[usize::from(!part.is_ours)];
        one(part, *number, content_type, step, showing, text);
    }
    if sample.left_out > 0 {
        let (said, are) = (counted(sample.left_out, "byte"), is_of(sample.left_out, "is", "are"));
        let left_out = count(sample.left_out);
        let _ = writeln!(
            text,
            "* {}",
            showing.language.pick(format!("{said} more {are} not shown"), format!("另有 {left_out} 字节未显示"))
        );
    }
}

/// The name of the gRPC status of a call.
pub(super) fn grpc_status(sample: &Sample) -> Option<&'static str> {
    let of_part = |part: &Part| std::str::from_utf8(field(part, b"grpc-status")?).ok()?.parse::<usize>().ok();
    let number = sample.parts.iter().rev().filter(|part| !part.is_ours).find_map(of_part)?;
    GRPC_STATUSES.get(number).copied()
}

/// The content type that one side sends.
fn type_of(parts: &[Part], is_ours: bool) -> Option<&[u8]> {
    let head = parts.iter().rfind(|part| part.is_ours == is_ours && part.kind == PartKind::Head)?;
    field(head, b"content-type")
}

/// The value of a field, where a part has fields.
fn field<'a>(part: &'a Part, wanted: &[u8]) -> Option<&'a [u8]> {
    if !matches!(part.kind, PartKind::Head | PartKind::Trailers) {
        return None;
    }
    part.bytes.split(|byte| *byte == b'\n').find_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        name.trim_ascii().eq_ignore_ascii_case(wanted).then_some(value)
    })
}

fn one(
    part: &Part,
    number: u64,
    content_type: Option<&[u8]>,
    step: Option<&Step>,
    showing: &Showing,
    text: &mut String,
) {
    let sign = if part.is_ours { '>' } else { '<' };
    let language = showing.language;
    match part.kind {
        PartKind::Head => head(&part.bytes, sign, showing, text),
        PartKind::Trailers => lines(&part.bytes, sign, showing, text),
        PartKind::Body => {
            text.push_str(&content(&plan::text_of(content_type, &part.bytes), showing));
            text.push('\n');
        }
        PartKind::Message => {
            let (said, length) = (counted(part.bytes.len() as u64, "byte"), count(part.bytes.len() as u64));
            let title = language.pick(format!("[message {number}, {said}]"), format!("[消息 {number}，{length} 字节]"));
            let _ = writeln!(text, "{sign} {title}");
            let json = step.and_then(|step| step.call.as_ref()).and_then(|call| call.types.as_ref());
            let json = json.and_then(|types| types.json(part.is_ours, &part.bytes));
            let said = json.map_or_else(|| content(&part.bytes, showing), |json| content(json.as_bytes(), showing));
            let _ = writeln!(text, "{said}");
        }
        PartKind::Control => {
            let _ = writeln!(text, "{sign} [{}]", visible(&showing.hide(&String::from_utf8_lossy(&part.bytes))));
        }
        PartKind::Taken => {
            let said = String::from_utf8_lossy(&part.bytes);
            let (name, value) = said.split_once(' ').unwrap_or((&said, ""));
            let value = cut(&visible(&showing.hide_value(name, value)), TAKEN_COLUMNS_MAX);
            let _ = writeln!(
                text,
                "* {}",
                language.pick(format!("took {name} = {value}"), format!("提取 {name} = {value}"))
            );
        }
        PartKind::Raw => {
            let length = count(part.bytes.len() as u64);
            let title = language.pick(
                format!("[{}, not understood or incomplete]", counted(part.bytes.len() as u64, "byte")),
                format!("[{length} 字节无法解析，或不完整]"),
            );
            let _ = writeln!(text, "{sign} {title}");
            let _ = writeln!(text, "{}", content(&part.bytes, showing));
        }
    }
}

/// A head; bytes after its end, where that was not known, are content.
fn head(bytes: &[u8], sign: char, showing: &Showing, text: &mut String) {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").map_or(bytes.len(), |place| place + 4);
    lines(&bytes[..end], sign, showing, text);
    if end < bytes.len() {
        let _ = writeln!(text, "{}", content(&bytes[end..], showing));
    }
}

/// The lines of a head, each after a sign.
fn lines(bytes: &[u8], sign: char, showing: &Showing, text: &mut String) {
    for line in String::from_utf8_lossy(bytes).lines() {
        let line = match &showing.secrets {
            Some(known) => known.hide(&masked_line(line)),
            None => line.to_owned(),
        };
        let _ = writeln!(text, "{sign} {}", visible(line.trim_end_matches('\r')));
    }
}

/// A line of a head with masked secrets.
pub(crate) fn masked_line(line: &str) -> String {
    match line.split_once(':') {
        Some((name, _)) if plan::is_secret_field(name) => format!("{name}: ***"),
        _ => plan::masked(line),
    }
}

/// Content, as text where it is one.
fn content(bytes: &[u8], showing: &Showing) -> String {
    let text = match std::str::from_utf8(bytes).map_err(|error| (error.valid_up_to(), error.error_len())) {
        Ok(text) => Some(Cow::Borrowed(text)),
        // A character that was cut at the limit.
        Err((length, None)) => Some(String::from_utf8_lossy(&bytes[..length])),
        Err(_) => None,
    };
    match text {
        Some(text) => visible(&showing.hide(&text)),
        None => numbers(bytes, showing.language),
    }
}

/// Binary data as numbers.
fn numbers(bytes: &[u8], language: Language) -> String {
    let length = count(bytes.len() as u64);
    let mut text = language
        .pick(format!("[{}, not text]", counted(bytes.len() as u64, "byte")), format!("[{length} 字节的非文本内容]"));
    for line in bytes[..bytes.len().min(HEX_BYTES_MAX)].chunks(HEX_BYTES_PER_LINE) {
        text.push_str("\n ");
        line.iter().for_each(|byte| {
            let _ = write!(text, " {byte:02x}");
        });
    }
    if bytes.len() > HEX_BYTES_MAX {
        text.push_str(" ...");
    }
    text
}
