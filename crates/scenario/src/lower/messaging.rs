//! Exchanges on message connections: a sent message and the one that is awaited after it are one exchange.

use std::time::Duration;

use plan::draft::{Body as DraftBody, Draft};
use plan::{CheckOf, MessageKind, Rendering, ResponseEnd};

use super::marks::Marks;
use super::requests::PreparedPart;
use super::urls::Scheme;
use super::{DynamicParts, bodies};
use crate::diagnostic::Problem;
use crate::file::{Message, MessageData, Messaging, Receive, Step};

/// The messages of one exchange.
pub(super) struct Turn<'a> {
    pub(super) messaging: &'a Messaging,
    pub(super) send: Option<&'a Message>,
    pub(super) receive: Option<&'a Receive>,
    /// Whether nothing is sent in this block: a ping is exchanged.
    pub(super) is_alone: bool,
}

impl DynamicParts<'_> {
    /// An exchange on a message connection.
    pub(super) fn turn(&mut self, step: &Step, turn: &Turn<'_>) -> Result<PreparedPart, Problem> {
        let Turn { messaging, send, receive, is_alone } = turn;
        self.naming.at = step.at;
        let is_ws = messaging.responses.is_none();
        let (mut draft, mut marks) = (self.draft(), Marks::new(&self.mark));
        let place = self.place(&messaging.url, Scheme::WebSocket, &mut marks)?;
        self.go_to(&mut draft, &place.marked)?;
        self.add_messaging_flags(&mut draft, messaging, is_ws, &mut marks)?;
        let message = match send {
            Some(message) => Some(self.message(message, &mut draft)?),
            None => None,
        };
        if let Some(message) = &message {
            let bytes = message.constant().unwrap_or(b"-").to_vec();
            draft.request.body = Some(match draft.request.messaging.kind {
                Some(MessageKind::Binary) => DraftBody::Binary(bytes),
                _ => DraftBody::Bytes(bytes.into()),
            });
        }
        draft.request.messaging.end = match (receive, &messaging.responses) {
            (None, _) if !is_alone => Some(ResponseEnd::None),
            (_, Some(end)) => Some(end.clone()),
            (_, None) => None,
        };
        let within = receive.and_then(|receive| receive.within).or(messaging.timeout);
        if let Some(within) = within {
            draft.request.timeout = Some(within.max(Duration::from_millis(1)));
        }
        let empty = crate::file::Expect::default();
        let expect = receive.map_or(&empty, |receive| &receive.expect);
        // The defaults for HTTP responses do not apply to messages.
        draft.responses.bodies.extend(expect.bodies.iter().cloned());
        draft.responses.json.extend(expect.json.iter().cloned());
        let (mut target, mut made) = draft.part(None, receive.is_some() && send.is_none())?;
        self.add_more_expects(&mut made, expect, &empty);
        if let Some(messaging) = &mut made.messaging {
            let is_dynamic = expect.dynamic.iter().any(|one| matches!(one.of, CheckOf::Body | CheckOf::Json));
            messaging.awaits = made.checks.want_body() || is_dynamic;
        }
        let mut dynamic_parts = self.making_of((&mut target, &mut made), place.is_whole, &marks)?;
        dynamic_parts.takes = self.takings(receive.map_or(&[], |receive| &receive.take))?;
        dynamic_parts.expects = self.dynamic_checks(expect, &empty)?;
        dynamic_parts.messages = message.into_iter().filter(|message| message.constant().is_none()).collect();
        self.finish(step, (target, made), dynamic_parts)
    }

    fn add_messaging_flags(
        &self,
        draft: &mut Draft,
        messaging: &Messaging,
        is_ws: bool,
        marks: &mut Marks,
    ) -> Result<(), Problem> {
        if is_ws {
            self.add_headers(draft, &messaging.headers, marks)?;
            draft.request.messaging.subprotocols.clone_from(&messaging.subprotocols);
        } else {
            draft.request.headers.clear();
        }
        // Defaults that only HTTP has are meant for the requests of the file.
        (draft.request.method, draft.connection.version, draft.connection.streams) = (None, None, None);
        draft.responses = plan::draft::ResponseChecks::default();
        Ok(())
    }

    fn message(&mut self, message: &Message, draft: &mut Draft) -> Result<Rendering, Problem> {
        draft.request.messaging.kind = message.kind;
        match &message.data {
            MessageData::Text(pattern) => bodies::text_pieces(pattern).finish(self),
            MessageData::Json(json) => bodies::json_pieces(json).finish(self),
            MessageData::Bytes(bytes) => Ok(Rendering::from_bytes(bytes.clone())),
            MessageData::File(path) => Ok(Rendering::from_bytes(self.read(path)?)),
        }
    }
}
