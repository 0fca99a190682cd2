//! Steps of users.

use std::path::PathBuf;
use std::time::Duration;

use plan::{
    Absent, Bound, CheckOf, CustomRequest, ExtractFrom, HeaderCheck, JsonCheck, MessageKind, Pattern, PlannedEnd,
    ResponseEnd, StatusSet, TextCheck, TextContext, Think, Which,
};
use serde_json::Number;

use super::{AfterFailure, Expression, Name, Rounds};
use crate::source::Span;

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The position of its beginning.
    pub at: Span,
    /// The series that it is counted in: the given name, or one derived from the action.
    pub name: String,
    /// The action.
    pub action: Action,
    /// The action after a failure; `None`: the default.
    pub on_failure: Option<AfterFailure>,
    /// The time after which its success counts as missed.
    pub deadline: Option<Deadline>,
    /// Its tags, each as `key=value`.
    pub tags: Vec<String>,
}

/// The deadline of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// Its time.
    pub span: Duration,
    /// Its position.
    pub at: Span,
}

/// The action of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// An HTTP exchange.
    Request(Box<Request>),
    /// A gRPC call.
    Call(Box<Call>),
    /// A request of a custom protocol.
    Custom(Box<Custom>),
    /// A WebSocket or TCP connection, for the duration of its steps.
    Messaging(Box<Messaging>),
    /// A message sent on the enclosing connection.
    Send(Box<Message>),
    /// A message from the peer.
    Receive(Box<Receive>),
    /// A pause.
    Think(Think),
    /// Steps that are timed as one.
    Transaction {
        /// Whether pauses are part of its time.
        with_think: bool,
        /// The steps in sequence.
        steps: Vec<Step>,
    },
    /// One of several alternatives, chosen by weight.
    Choose(Vec<Choice>),
    /// Each step once, in random order.
    Shuffle(Vec<Step>),
    /// A conditional.
    If {
        /// True or false.
        condition: Expression,
        /// The steps when it is true.
        then: Vec<Step>,
        /// The steps when it is false.
        otherwise: Vec<Step>,
    },
    /// A loop.
    Loop(Box<Loop>),
    /// Variables that are set, in order.
    Set(Vec<SetValue>),
    /// Values of figures.
    Record(Vec<SetValue>),
    /// A change of the user's cookies.
    Cookies(CookieChange),
    /// A condition that should be true; the name of the step is that of the check.
    Check(Expression),
    /// A planned end of something.
    End(PlannedEnd),
    /// Concurrent steps; the next step waits for all of them.
    Parallel {
        /// The maximum number at a time.
        most: u16,
        /// Requests and calls.
        steps: Vec<Step>,
    },
    /// A barrier at which users wait for each other.
    Barrier(Barrier),
    /// The steps of a fragment.
    Do(Box<FragmentCall>),
}

/// An HTTP exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The method, an HTTP token.
    pub method: String,
    /// The URL, absolute or relative to the target.
    pub url: Pattern,
    /// Names and values, without those of the defaults.
    pub headers: Headers,
    /// The body.
    pub body: Option<Body>,
    /// The extractions from the response.
    pub take: Vec<Extract>,
    /// The expectations on a good response.
    pub expect: Expect,
    /// The time limit from sent to done.
    pub timeout: Option<Duration>,
    /// Whether redirects are followed; `None`: the default.
    pub location: Option<bool>,
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A text with slots.
    Text(Pattern),
    /// The content of a file, unchanged.
    File(PathBuf),
    /// The content of the file of a row, whose path is the one slot.
    RowFile(Pattern),
    /// JSON with slots in its strings.
    Json(Json),
    /// `application/x-www-form-urlencoded`.
    Form(Vec<(String, Pattern)>),
    /// `multipart/form-data`.
    Multipart(Vec<Part>),
}

/// A part of a multipart form.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The name of the field.
    pub name: String,
    /// The value of the field.
    pub value: PartValue,
}

/// The value of a part.
#[derive(Clone, Debug, PartialEq)]
pub enum PartValue {
    /// A text with slots.
    Text(Pattern),
    /// The file of a row of a folder.
    RowFile {
        /// The path: one slot.
        path: Pattern,
        /// The file name that is sent to the server; `None`: its own.
        filename: Option<String>,
        /// Its media type.
        media_type: Option<String>,
    },
    /// A file.
    File {
        /// The path.
        path: PathBuf,
        /// The file name that is sent to the server.
        filename: Option<String>,
        /// Its media type.
        media_type: Option<String>,
    },
}

/// Headers by name, in the order of the file. `None`: the header is left out, also where defaults or the program itself
/// have it.
pub type Headers = Vec<(String, Option<Pattern>)>;

/// JSON whose strings are patterns.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// null
    Null,
    /// true or false
    Bool(bool),
    /// A number, as written.
    Number(Number),
    /// A number with more digits than the other variant can hold, as written.
    Digits(String),
    /// A string; if it is exactly one slot it takes the type of the slot's value.
    Text(Pattern),
    /// An array.
    List(Vec<Self>),
    /// An object, in the order of the file.
    Map(Vec<(Pattern, Self)>),
}

impl Json {
    /// Visits each text in it.
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

    /// The context of its strings.
    pub(crate) const GROUND: TextContext = TextContext::Json;
}

/// A gRPC call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// `grpc://host:port/package.Service/Method`.
    pub url: Pattern,
    /// The metadata.
    pub headers: Headers,
    /// The messages: one, or several for a method that takes a stream.
    pub messages: Vec<Json>,
    /// The extractions from the response.
    pub take: Vec<Extract>,
    /// The expectations on a good response.
    pub expect: Expect,
    /// The deadline.
    pub timeout: Option<Duration>,
}

/// A request of a custom protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct Custom {
    /// The server; `None`: the target of the file.
    pub url: Option<Pattern>,
    /// The request, with its texts as they are written.
    pub request: CustomRequest,
    /// The texts.
    pub texts: Vec<Pattern>,
    /// The extractions from the response.
    pub take: Vec<Extract>,
    /// The expectations on a good response.
    pub expect: Expect,
    /// The time limit from sent to done.
    pub timeout: Option<Duration>,
}

/// A WebSocket or TCP connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Messaging {
    /// The URL: `ws://`, `wss://` or `tcp://`.
    pub url: Pattern,
    /// Headers of the handshake.
    pub headers: Headers,
    /// Subprotocols offered in the handshake.
    pub subprotocols: Vec<String>,
    /// The end of the peer's messages; `None`: it is WebSocket, where messages are framed.
    pub responses: Option<ResponseEnd>,
    /// The time limit from the beginning to an open connection.
    pub timeout: Option<Duration>,
    /// The steps on the connection.
    pub steps: Vec<Step>,
}

/// A message that is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The content.
    pub data: MessageData,
    /// The message type; `None`: text.
    pub kind: Option<MessageKind>,
}

/// The content of a message.
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
    /// The time limit; `None`: the timeout of the enclosing step.
    pub within: Option<Duration>,
    /// The expectations; messages that do not meet them are skipped.
    pub expect: Expect,
    /// The extractions from it.
    pub take: Vec<Extract>,
}

/// An alternative of a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The weight, relative to those of the others.
    pub weight: u32,
    /// The steps; an empty list does nothing.
    pub steps: Vec<Step>,
}

/// A barrier at which users wait for each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Barrier {
    /// The name of the barrier.
    pub name: Name,
    /// The number of users that it waits for.
    pub users: u64,
    /// The time limit; `None`: no limit.
    pub within: Option<Duration>,
}

/// The expectations on a good response. Empty where none is given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expect {
    /// The statuses of a success: of HTTP, or of gRPC for a call.
    pub status: Option<StatusSet>,
    /// The same for a custom protocol; empty for its own.
    pub status_words: Vec<String>,
    /// Checks of the body, or the message.
    pub bodies: Vec<TextCheck>,
    /// Checks of the head.
    pub headers: Vec<HeaderCheck>,
    /// Checks of a JSON body.
    pub json: Vec<JsonCheck>,
    /// Bounds of the time from sent to done, in nanoseconds.
    pub time: Vec<Bound>,
    /// Bounds of the body size, in bytes.
    pub size: Vec<Bound>,
    /// What must not be there.
    pub absent: Absent,
    /// Those with slots, which are filled for each exchange.
    pub dynamic: Vec<DynamicExpect>,
}

/// An expectation with slots.
#[derive(Clone, Debug, PartialEq)]
pub struct DynamicExpect {
    /// What it looks at.
    pub of: CheckOf,
    /// Whether it must not be met.
    pub is_absent: bool,
    /// The text, the value, the path with its value, or the bound.
    pub text: Pattern,
    /// The position.
    pub at: Span,
}

/// A value that is extracted from a response.
#[derive(Clone, Debug, PartialEq)]
pub struct Extract {
    /// The name of the value.
    pub name: Name,
    /// The variable whose text takes the place of the response; `None`: the response itself.
    pub of: Option<Name>,
    /// The source.
    pub from: ExtractFrom,
    /// Which match, when there are several.
    pub which: Which,
    /// The value when nothing matches; `None`: the step fails.
    pub default: Option<Json>,
    /// Whether the value is a number; a text that is none fails the step.
    pub is_number: bool,
    /// Whether it is extracted from failed responses too.
    pub from_failed: bool,
}

/// A loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// What ends it.
    pub rounds: Rounds,
    /// The time from the beginning of one round to that of the next, at least.
    pub every: Option<Duration>,
    /// The steps of a round, in sequence.
    pub steps: Vec<Step>,
}

/// A call of a fragment.
#[derive(Clone, Debug, PartialEq)]
pub struct FragmentCall {
    /// The name of the fragment.
    pub fragment: Name,
    /// The arguments that the call gives.
    pub with: Vec<(Name, Json)>,
    /// All arguments of the fragment with their values: those that are given, and the other defaults.
    pub args: Vec<(String, Json)>,
    /// The steps of the fragment.
    pub steps: Vec<Step>,
}

/// A change of the cookies of a user.
#[derive(Clone, Debug, PartialEq)]
pub struct CookieChange {
    /// Whether all are removed first.
    pub clear: bool,
    /// Those that are set for the host of the target, by their names.
    pub set: Vec<(String, Pattern)>,
}

/// A variable that is set, or a figure that gets a value.
#[derive(Clone, Debug, PartialEq)]
pub struct SetValue {
    /// The variable or the figure.
    pub name: Name,
    /// Its value, with its type.
    pub value: Json,
}

impl Loop {
    /// The expression that it goes by.
    pub fn expression(&self) -> Option<&Expression> {
        match &self.rounds {
            Rounds::Times(expression) => Some(expression),
            Rounds::Items { list, .. } => Some(list),
            Rounds::Condition { condition, .. } => Some(condition),
            Rounds::Count { .. } | Rounds::During(_) => None,
        }
    }

    /// Its key in the file.
    pub(crate) fn verb(&self) -> &'static str {
        match self.rounds {
            Rounds::Count { .. } | Rounds::Times(_) => "repeat",
            Rounds::During(_) => "during",
            Rounds::Items { .. } => "for_each",
            Rounds::Condition { is_until: true, .. } => "until",
            Rounds::Condition { .. } => "while",
        }
    }
}

impl Step {
    /// The nested step lists, mutable.
    pub(crate) fn inner_mut(&mut self) -> Vec<&mut [Self]> {
        match &mut self.action {
            Action::Messaging(messaging) => vec![&mut messaging.steps],
            Action::Loop(one) => vec![&mut one.steps],
            Action::Do(call) => vec![&mut call.steps],
            Action::Transaction { steps, .. } | Action::Parallel { steps, .. } | Action::Shuffle(steps) => vec![steps],
            Action::Choose(choices) => choices.iter_mut().map(|choice| &mut choice.steps[..]).collect(),
            Action::If { then, otherwise, .. } => vec![then, otherwise],
            _ => Vec::new(),
        }
    }

    /// The variables that it fills, in order, without those that nested steps fill.
    pub fn fills(&self) -> Vec<&Name> {
        match &self.action {
            Action::Set(values) => values.iter().map(|one| &one.name).collect(),
            Action::Loop(one) => match &one.rounds {
                Rounds::Items { item, .. } => vec![item],
                _ => Vec::new(),
            },
            _ => self.takes().iter().map(|take| &take.name).collect(),
        }
    }

    /// Its extractions, in order.
    pub fn takes(&self) -> &[Extract] {
        match &self.action {
            Action::Request(request) => &request.take,
            Action::Call(call) => &call.take,
            Action::Custom(custom) => &custom.take,
            Action::Receive(receive) => &receive.take,
            _ => &[],
        }
    }

    /// The nested step lists.
    pub fn inner(&self) -> Vec<&[Self]> {
        match &self.action {
            Action::Messaging(messaging) => vec![&messaging.steps],
            Action::Loop(one) => vec![&one.steps],
            Action::Do(call) => vec![&call.steps],
            Action::Transaction { steps, .. } | Action::Parallel { steps, .. } | Action::Shuffle(steps) => vec![steps],
            Action::Choose(choices) => choices.iter().map(|choice| &choice.steps[..]).collect(),
            Action::If { then, otherwise, .. } => vec![then, otherwise],
            _ => Vec::new(),
        }
    }
}

/// The number of steps, nested ones included.
pub(super) fn count(steps: &[Step]) -> usize {
    steps.iter().map(|step| 1 + step.inner().into_iter().map(count).sum::<usize>()).sum()
}
