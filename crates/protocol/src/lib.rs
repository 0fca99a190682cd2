//! Custom protocols: what to implement so that onrush can load a server with a protocol of your own.
//!
//! A protocol is one implementation of [`Protocol`]. From its [`About`] come its step key in scenario files, its flags,
//! its URL schemes, its failures and their texts; [`Protocol::prepare`] checks the fields of a step and makes a
//! [`Request`], which opens connections and writes requests. A connection is a machine over bytes
//! ([`wire::connection::ProtocolConnection`]): it owns no socket and no clock. [`Protocol::serve`] is the other side,
//! for tests and for `onrush serve`.
//!
//! - A response comes as pieces of its bytes ([`ConnectionEvent::Body`]) and then its status, a word
//!   ([`ConnectionEvent::Response`]). A failure is a violation of the protocol: [`Fault::Custom`], with its position in
//!   [`About::failures`].
//! - Plans, snapshots and messages to workers contain names, never positions.
//! - The table is registered once, before anything else is done ([`register`]).

#[cfg(test)]
#[macro_use]
extern crate claims;

mod about;
mod fields;
mod flags;
mod json;
mod registry;
mod resend;
mod service;
mod units;

pub use about::{About, Key, KeyKind, OwnFailure, Phrase};
pub use fields::{Mistake, StepFields, TextHandle, Texts};
pub use json::push_json_text;
pub use metrics::{Class, Stage};
pub use plan::{CheckedRequest, CustomEndpoint as Endpoint, CustomScheme as Scheme};
pub use registry::{by_name, flags_of, number_of, of_number, register, registered};
pub use resend::Resend;
pub use service::{Replies, Service};
pub use units::Units;
pub use wire::connection::{
    ALONE, Abandoned, ConnectionEvent, ExchangeStart, Fault, Handled, IdleState, Mask, Payload, ProtocolConnection,
    ResponseKind, Scratch, Stray, Tag,
};

/// A connection of a custom protocol.
pub type Connection = Box<dyn ProtocolConnection + Send>;

/// A custom protocol.
pub trait Protocol: Sync {
    /// Its names and texts.
    fn about(&self) -> &'static About;

    /// Prepares the requests of a step; called once before the run, as a check, and then by each thread.
    ///
    /// # Errors
    /// A field, or the URL, is not valid.
    fn prepare(&self, endpoint: &Endpoint, fields: &StepFields<'_>) -> Result<Box<dyn Request>, Mistake>;

    /// All statuses that responses may have, so that a misspelled one is refused before the run; none where they are not
    /// known.
    fn statuses(&self) -> &'static [&'static str] {
        &[]
    }

    /// Why no response may come at all, and what to look at: behind "no response within 1s; ". Of a protocol whose
    /// servers drop requests on purpose.
    fn silence(&self) -> Option<Phrase> {
        None
    }

    /// The section of the page `why` that explains such a silence.
    fn silence_section(&self) -> Option<&'static str> {
        None
    }

    /// The other side, if there is one.
    fn serve(&self) -> Option<Box<dyn Service>> {
        None
    }
}

/// The prepared requests of a step.
pub trait Request: Send + Sync {
    /// The name of the step, unless the user gives one: behind that of the protocol.
    fn name(&self) -> String {
        String::new()
    }

    /// The number of messages in one request.
    fn messages(&self) -> u32 {
        1
    }

    /// A new connection; `number` is its number in the whole run.
    fn connect(&self, number: u64) -> Connection;

    /// A connection whose idle state was stored ([`ProtocolConnection::park`]).
    fn resume(&self, _idle: IdleState) -> Connection {
        self.connect(0)
    }

    /// A connection over a stream, for exchanges whose responses do not fit into a datagram
    /// ([`ConnectionEvent::OverStream`]).
    fn connect_stream(&self, number: u64) -> Connection {
        self.connect(number)
    }

    /// When a request is sent again if no response comes; only over datagrams.
    fn resend(&self) -> Option<Resend> {
        None
    }

    /// Writes a request with these values of its texts. What differs on each connection, as an ID, is added by the
    /// connection when the exchange begins.
    fn write(&self, texts: &Texts<'_>, out: &mut Vec<u8>);

    /// The request as JSON, for the display of exchanges; nothing is written where its bytes are shown as they are.
    fn view_request(&self, _request: &[u8], _json: &mut Vec<u8>) {}

    /// The response as JSON, from its bytes: for checks, extractions, and the display of exchanges.
    fn view(&self, response: &[u8], json: &mut Vec<u8>);
}
