//! What users do, one after the other.

use std::path::PathBuf;
use std::time::Duration;

use plan::{
    Bound, ExtractFrom, Ground, HeaderCheck, JsonCheck, MessageKind, OnFailure, Pattern, ResponseEnd, StatusSet,
    TextCheck, Think, Which,
};
use serde_json::Number;

use super::{Expression, Name};
use crate::source::Span;

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Where it begins.
    pub at: Span,
    /// The series that it is counted in: as given, or made of what it does.
    pub name: String,
    /// What it does.
    pub action: Action,
    /// What comes next when it fails; `None`: as the defaults say.
    pub on_failure: Option<OnFailure>,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// An exchange of HTTP.
    Request(Box<Request>),
    /// A call of gRPC.
    Call(Box<Call>),
    /// A connection of WebSocket or TCP, for as long as its steps last.
    Talk(Box<Talk>),
    /// A message on the connection around it.
    Send(Box<Message>),
    /// A message of the peer.
    Receive(Box<Receive>),
    /// A pause.
    Think(Think),
    /// Steps that are timed as one.
    Transaction {
        /// Pauses are part of its time.
        with_think: bool,
        /// One after the other.
        steps: Vec<Step>,
    },
    /// Several times, a number that is drawn.
    Repeat {
        /// At least so often.
        least: u32,
        /// At most so often.
        most: u32,
        /// One after the other.
        steps: Vec<Step>,
    },
    /// One of them, as often as its weight says.
    Choose(Vec<Choice>),
    /// Each once, in an order that is drawn.
    Shuffle(Vec<Step>),
    /// What a condition says.
    If {
        /// True or false.
        condition: Expression,
        /// When it is true.
        then: Vec<Step>,
        /// When it is not.
        otherwise: Vec<Step>,
    },
    /// Again and again.
    Loop {
        /// True or false.
        condition: Expression,
        /// It is looked at behind the steps, and ends the loop when it is true; else before them, and when it is false.
        is_until: bool,
        /// After so many rounds the step fails.
        most: u32,
        /// One after the other.
        steps: Vec<Step>,
    },
    /// Several at a time; what follows waits for all of them.
    Parallel {
        /// So many at most.
        most: u16,
        /// Requests and calls.
        steps: Vec<Step>,
    },
    /// Users wait for each other.
    Barrier(Barrier),
}

/// An exchange of HTTP.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// A token.
    pub method: String,
    /// Absolute, or relative to the target.
    pub url: Pattern,
    /// Names and values; those of the defaults are not among them.
    pub headers: Headers,
    /// What it carries.
    pub body: Option<Body>,
    /// What is taken from the answer.
    pub take: Vec<Extract>,
    /// What a good answer is.
    pub expect: Expect,
    /// From sent to done.
    pub timeout: Option<Duration>,
    /// Redirects are followed; `None`: as the defaults say.
    pub location: Option<bool>,
}

/// What a request carries.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A text with slots.
    Text(Pattern),
    /// The content of a file, as it is.
    File(PathBuf),
    /// JSON with slots in its strings.
    Json(Json),
    /// `application/x-www-form-urlencoded`.
    Form(Vec<(String, Pattern)>),
    /// `multipart/form-data`.
    Multipart(Vec<Part>),
}

/// A part of a form with files.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The name of the field.
    pub name: String,
    /// What is in it.
    pub value: PartValue,
}

/// What is in a part.
#[derive(Clone, Debug, PartialEq)]
pub enum PartValue {
    /// A text with slots.
    Text(Pattern),
    /// A file.
    File {
        /// Where it is.
        path: PathBuf,
        /// What it is called to the server.
        filename: Option<String>,
        /// Its media type.
        media_type: Option<String>,
    },
}

/// Headers by their names, in the order of the file. `None`: it is left out, also where defaults or the program itself have it.
pub type Headers = Vec<(String, Option<Pattern>)>;

/// JSON whose strings are patterns.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// null
    Null,
    /// true or false
    Bool(bool),
    /// As written.
    Number(Number),
    /// A number with more digits than the other can hold, as written.
    Digits(String),
    /// A string; one that is exactly a slot takes the type of its value.
    Text(Pattern),
    /// An array.
    List(Vec<Self>),
    /// An object, in the order of the file.
    Map(Vec<(Pattern, Self)>),
}

impl Json {
    /// Each text in it.
    pub fn patterns<'a>(&'a self, see: &mut dyn FnMut(&'a Pattern)) {
        match self {
            Self::Text(pattern) => see(pattern),
            Self::List(items) => items.iter().for_each(|item| item.patterns(see)),
            Self::Map(pairs) => pairs.iter().for_each(|(key, value)| {
                see(key);
                value.patterns(see);
            }),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Digits(_) => {}
        }
    }

    /// What its strings become a part of.
    pub(crate) const GROUND: Ground = Ground::Json;
}

/// A call of gRPC.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// `grpc://host:port/package.Service/Method`.
    pub url: Pattern,
    /// Metadata.
    pub headers: Headers,
    /// One, or several for a method that takes a stream.
    pub messages: Vec<Json>,
    /// What is taken from the answer.
    pub take: Vec<Extract>,
    /// What a good answer is.
    pub expect: Expect,
    /// The deadline.
    pub timeout: Option<Duration>,
}

/// A connection of WebSocket or TCP.
#[derive(Clone, Debug, PartialEq)]
pub struct Talk {
    /// `ws://`, `wss://` or `tcp://`.
    pub url: Pattern,
    /// Of the handshake.
    pub headers: Headers,
    /// Offered in the handshake.
    pub subprotocols: Vec<String>,
    /// Where messages of the peer end; `None`: it is WebSocket, and they say so themselves.
    pub responses: Option<ResponseEnd>,
    /// From the beginning to an open connection.
    pub timeout: Option<Duration>,
    /// What is said.
    pub steps: Vec<Step>,
}

/// A message that is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// What is in it.
    pub data: MessageData,
    /// As what it is sent; `None`: text.
    pub kind: Option<MessageKind>,
}

/// What is in a message.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageData {
    /// A text with slots.
    Text(Pattern),
    /// JSON with slots in its strings.
    Json(Json),
    /// These bytes.
    Bytes(Vec<u8>),
    /// The content of a file.
    File(PathBuf),
}

/// A message that is waited for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Receive {
    /// So long; `None`: the timeout of the step around it.
    pub within: Option<Duration>,
    /// What it must be; others are let go by.
    pub expect: Expect,
    /// What is taken from it.
    pub take: Vec<Extract>,
}

/// One way of several.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// How often, beside the weights of the others.
    pub weight: u32,
    /// None does nothing.
    pub steps: Vec<Step>,
}

/// Users wait for each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Barrier {
    /// The place.
    pub name: Name,
    /// So many of them.
    pub users: u64,
    /// No longer than that; `None`: for ever.
    pub within: Option<Duration>,
}

/// What a good answer is. Empty where nobody said anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expect {
    /// The statuses of a success: of HTTP, or of gRPC where a call is made.
    pub status: Option<StatusSet>,
    /// What stands in the body, or the message.
    pub bodies: Vec<TextCheck>,
    /// What stands in the head.
    pub headers: Vec<HeaderCheck>,
    /// What stands in a body of JSON.
    pub json: Vec<JsonCheck>,
    /// From sent to done, in nanoseconds.
    pub time: Vec<Bound>,
    /// Of the body, in bytes.
    pub size: Vec<Bound>,
}

/// A value that is taken from an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Extract {
    /// What it is called from then on.
    pub name: Name,
    /// Where it stands.
    pub from: ExtractFrom,
    /// Which, when there are several.
    pub which: Which,
    /// What it is when nothing is found; `None`: then the step fails.
    pub default: Option<Json>,
}

impl Step {
    /// The steps within.
    pub(crate) fn inner_mut(&mut self) -> Vec<&mut [Self]> {
        match &mut self.action {
            Action::Talk(talk) => vec![&mut talk.steps],
            Action::Transaction { steps, .. }
            | Action::Repeat { steps, .. }
            | Action::Loop { steps, .. }
            | Action::Parallel { steps, .. }
            | Action::Shuffle(steps) => vec![steps],
            Action::Choose(choices) => choices.iter_mut().map(|choice| &mut choice.steps[..]).collect(),
            Action::If { then, otherwise, .. } => vec![then, otherwise],
            _ => Vec::new(),
        }
    }

    /// The same.
    pub fn inner(&self) -> Vec<&[Self]> {
        match &self.action {
            Action::Talk(talk) => vec![&talk.steps],
            Action::Transaction { steps, .. }
            | Action::Repeat { steps, .. }
            | Action::Loop { steps, .. }
            | Action::Parallel { steps, .. }
            | Action::Shuffle(steps) => vec![steps],
            Action::Choose(choices) => choices.iter().map(|choice| &choice.steps[..]).collect(),
            Action::If { then, otherwise, .. } => vec![then, otherwise],
            _ => Vec::new(),
        }
    }
}

/// How many steps there are, with those within others.
pub(super) fn count(steps: &[Step]) -> usize {
    steps.iter().map(|step| 1 + step.inner().into_iter().map(count).sum::<usize>()).sum()
}
