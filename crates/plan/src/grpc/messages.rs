//! From the text of `-d` to the messages of a call.

use std::fmt;

use prost_reflect::prost::Message;
use prost_reflect::{Cardinality, DynamicMessage, Kind, MessageDescriptor, MethodDescriptor, Value};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};

use super::MESSAGES_MAX;
use crate::PlanError;

/// The messages in a text. A method with a stream takes an array, or several values in sequence.
pub(crate) fn read_messages(text: &str, method: &MethodDescriptor) -> Result<Vec<Vec<u8>>, PlanError> {
    let kind = method.input();
    let messages = if method.is_client_streaming() {
        read_stream(text, &kind)?
    } else if text.trim().is_empty() {
        vec![DynamicMessage::new(kind)]
    } else {
        let mut values = read_values(text, &kind)?;
        match (values.len(), values.pop()) {
            (1, Some(message)) => vec![message],
            (given, _) => {
                return Err(PlanError::OneMessage { method: method.full_name().to_owned(), given });
            }
        }
    };
    Ok(messages.iter().map(Message::encode_to_vec).collect())
}

fn read_stream(text: &str, kind: &MessageDescriptor) -> Result<Vec<DynamicMessage>, PlanError> {
    let is_array = text.trim_start().starts_with('[') && !is_list(kind);
    let messages = if is_array {
        let mut reader = serde_json::Deserializer::from_slice(text.as_bytes());
        let read = Many(kind).deserialize(&mut reader).and_then(|messages| reader.end().map(|()| messages));
        read.map_err(|error| misfit(&error, kind, (1, 1)))?
    } else {
        read_values(text, kind)?
    };
    if messages.len() > MESSAGES_MAX {
        return Err(PlanError::TooManyMessages { most: MESSAGES_MAX });
    }
    Ok(messages)
}

/// Several values in sequence.
fn read_values(text: &str, kind: &MessageDescriptor) -> Result<Vec<DynamicMessage>, PlanError> {
    // A text that begins like JSON is parsed as JSON; anything else may be a word, as with go-stress-testing.
    let is_json = text.trim_start().starts_with(['{', '[']);
    let word = || lone_string(text, kind).filter(|_| !is_json).map(|message| vec![message]);
    let mut values = serde_json::Deserializer::from_slice(text.as_bytes()).into_iter::<IgnoredAny>();
    let (mut messages, mut from) = (Vec::new(), 0);
    loop {
        match values.next() {
            None => return Ok(messages),
            Some(Err(error)) if messages.is_empty() => return word().ok_or_else(|| misfit(&error, kind, (1, 1))),
            Some(Err(error)) => return Err(misfit(&error, kind, (1, 1))),
            Some(Ok(_)) => {}
        }
        let to = values.byte_offset();
        let value = &text[from..to];
        let start = from + value.len() - value.trim_start().len();
        let mut reader = serde_json::Deserializer::from_slice(&text.as_bytes()[start..to]);
        match DynamicMessage::deserialize(kind.clone(), &mut reader) {
            Ok(message) => messages.push(message),
            Err(error) if messages.is_empty() => {
                return word().ok_or_else(|| misfit(&error, kind, place(&text[..start])));
            }
            Err(error) => return Err(misfit(&error, kind, place(&text[..start]))),
        }
        from = to;
        if messages.len() > MESSAGES_MAX {
            return Err(PlanError::TooManyMessages { most: MESSAGES_MAX });
        }
    }
}

/// A text as the only string field of a message.
fn lone_string(text: &str, kind: &MessageDescriptor) -> Option<DynamicMessage> {
    let mut strings = kind.fields().filter(|field| field.kind() == Kind::String);
    let field = strings.next().filter(|field| field.cardinality() != Cardinality::Repeated)?;
    if strings.next().is_some() {
        return None;
    }
    let mut message = DynamicMessage::new(kind.clone());
    message.set_field(&field, Value::String(text.to_owned()));
    Some(message)
}

/// Whether the JSON form of this type is an array itself.
fn is_list(kind: &MessageDescriptor) -> bool {
    matches!(kind.full_name(), "google.protobuf.ListValue" | "google.protobuf.Value")
}

/// Line and column after a text, both from 1.
fn place(before: &str) -> (usize, usize) {
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before.len() - line_start + 1)
}

/// The error with its position in the whole text; `from` is where the value began.
fn misfit(error: &serde_json::Error, kind: &MessageDescriptor, from: (usize, usize)) -> PlanError {
    let (line, column) = (error.line().max(1), error.column());
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or_default().to_owned();
    PlanError::Json {
        message: kind.full_name().to_owned(),
        source_words: "grpc://HOST:PORT".to_owned(),
        line: from.0 + line - 1,
        column: if line == 1 { from.1 + column.max(1) - 1 } else { column },
        reason,
    }
}

/// An array of messages.
struct Many<'a>(&'a MessageDescriptor);

impl<'de> DeserializeSeed<'de> for Many<'_> {
    type Value = Vec<DynamicMessage>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Many<'_> {
    type Value = Vec<DynamicMessage>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut messages = Vec::new();
        // One more than allowed is enough to know.
        while messages.len() <= MESSAGES_MAX
            && let Some(message) = array.next_element_seed(self.0.clone())?
        {
            messages.push(message);
        }
        Ok(messages)
    }
}
