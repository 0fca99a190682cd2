//! Visitors of a step: its texts with slots.

use plan::Pattern;

use crate::file::{Action, Body, Expect, Extract, Json, MessageData, PartValue, Step};

/// Visits each text with slots of a step, without those of nested steps, and of values that it sets one after the other.
pub(crate) fn patterns(step: &mut Step, see: &mut dyn FnMut(&mut Pattern)) {
    match &mut step.action {
        Action::Request(request) => {
            see(&mut request.url);
            request.headers.iter_mut().filter_map(|(_, value)| value.as_mut()).for_each(&mut *see);
            match &mut request.body {
                Some(Body::Text(text) | Body::RowFile(text)) => see(text),
                Some(Body::Json(value)) => json(value, see),
                Some(Body::Form(fields)) => fields.iter_mut().for_each(|(_, value)| see(value)),
                Some(Body::Multipart(parts)) => parts.iter_mut().for_each(|part| {
                    if let PartValue::Text(text) | PartValue::RowFile { path: text, .. } = &mut part.value {
                        see(text);
                    }
                }),
                Some(Body::File(_)) | None => {}
            }
            expects(&mut request.expect, see);
            defaults(&mut request.take, see);
        }
        Action::Call(call) => {
            see(&mut call.url);
            call.headers.iter_mut().filter_map(|(_, value)| value.as_mut()).for_each(&mut *see);
            call.messages.iter_mut().for_each(|message| json(message, see));
            expects(&mut call.expect, see);
            defaults(&mut call.take, see);
        }
        Action::Custom(custom) => {
            custom.url.iter_mut().for_each(&mut *see);
            custom.texts.iter_mut().for_each(&mut *see);
            expects(&mut custom.expect, see);
            defaults(&mut custom.take, see);
        }
        Action::Messaging(messaging) => {
            see(&mut messaging.url);
            messaging.headers.iter_mut().filter_map(|(_, value)| value.as_mut()).for_each(&mut *see);
        }
        Action::Send(message) => match &mut message.data {
            MessageData::Text(text) => see(text),
            MessageData::Json(value) => json(value, see),
            MessageData::Bytes(_) | MessageData::File(_) => {}
        },
        Action::Receive(receive) => {
            expects(&mut receive.expect, see);
            defaults(&mut receive.take, see);
        }
        Action::Cookies(change) => change.set.iter_mut().for_each(|(_, value)| see(value)),
        Action::Do(call) => call.args.iter_mut().for_each(|(_, value)| json(value, see)),
        _ => {}
    }
}

/// Visits the right sides of expectations.
pub(super) fn expects(expect: &mut Expect, see: &mut dyn FnMut(&mut Pattern)) {
    expect.dynamic.iter_mut().for_each(|expect| see(&mut expect.text));
}

fn defaults(takes: &mut [Extract], see: &mut dyn FnMut(&mut Pattern)) {
    takes.iter_mut().filter_map(|take| take.default.as_mut()).for_each(|value| json(value, see));
}

/// Visits each text of a value.
pub(super) fn json(value: &mut Json, see: &mut dyn FnMut(&mut Pattern)) {
    match value {
        Json::Text(text) => see(text),
        Json::List(items) => items.iter_mut().for_each(|item| json(item, see)),
        Json::Map(pairs) => pairs.iter_mut().for_each(|(key, value)| {
            see(key);
            json(value, see);
        }),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Digits(_) => {}
    }
}
