//! The keys of steps: the verb is the key.

use super::common::{
    CHOICE, DEADLINE, EXPECTS, FILE_BODY, HEADERS, MEET, MESSAGE, NAME, ON_FAILURE, ON_FAILURE_OF_ALL, PART, RECEIVE,
    STEPS_FIELD, TAGS, TAKES, TIMEOUT,
};
use super::custom::objects;
use super::flow::FLOW;
use super::sending::{AUTH_KEY, QUERY_KEY};
use super::shared::calls;
use super::{Field, Kind, Object, field};

const LOCATION: Field = field("location", Kind::Switch, "Follow redirects", "跟随重定向");
const BODY: Field = field(
    "body",
    Kind::Either(&[Kind::Pattern, Kind::Object(&FILE_BODY)]),
    "What is sent: a text with slots, or {file: PATH}",
    "请求体：文本（可以有占位符）或 {file: 路径}",
);
const JSON: Field =
    field("json", Kind::Json, "JSON to send, with slots in its strings", "要发送的 JSON，字符串中可以有占位符");
const FORM: Field =
    field("form", Kind::Named(&Kind::Either(&[Kind::Pattern, Kind::Nothing])), "A form to send", "要提交的表单");
const MULTIPART: Field = field(
    "multipart",
    Kind::Named(&Kind::Either(&[Kind::Pattern, Kind::Nothing, Kind::Object(&PART)])),
    "A form with files: {field: text, file: {file: PATH}}",
    "带文件的表单：文本字段写 name: 文本，文件字段写 name: {file: 路径}",
);
const WITH_THINK: Field = field("with_think", Kind::Switch, "Pauses are part of its time", "把思考时间计入耗时");

macro_rules! request {
    ($($verb:literal, $english:literal, $chinese:literal;)*) => {
        [$(Object {
            title: concat!("a ", $verb, " step"),
            title_zh: concat!($verb, " 步骤"),
            id: $verb,
            fields: &[
                field($verb, Kind::Pattern, $english, $chinese).needed(),
                NAME, HEADERS, AUTH_KEY, QUERY_KEY, BODY, JSON, FORM, MULTIPART, TAKES, EXPECTS, TIMEOUT, DEADLINE, TAGS, LOCATION, ON_FAILURE,
            ],
            any_of: &[],
        }),*]
    };
}

const REQUESTS: [Object; 8] = request! {
    "get", "GET this URL", "以 GET 请求该 URL";
    "post", "POST to this URL", "以 POST 请求该 URL";
    "put", "PUT to this URL", "以 PUT 请求该 URL";
    "patch", "PATCH this URL", "以 PATCH 请求该 URL";
    "delete", "DELETE this URL", "以 DELETE 请求该 URL";
    "head", "HEAD of this URL", "以 HEAD 请求该 URL";
    "options", "OPTIONS of this URL", "以 OPTIONS 请求该 URL";
    "request", "Any method and a URL, like: PROPFIND /files", "以任意方法请求，写作“方法 URL”，如：PROPFIND /files";
};

const OTHERS: [Object; 12] = steps! {
    "grpc" {
        "grpc": Kind::Pattern,
            "Call this method: grpc://host:port/package.Service/Method",
            "调用方法：grpc://主机:端口/包名.服务/方法", needed;
        NAME;
        HEADERS;
        AUTH_KEY;
        "message": Kind::Named(&Kind::Json), "The message as JSON", "JSON 格式的消息";
        "messages": Kind::List(&Kind::Named(&Kind::Json)),
            "Several, for a method that takes a stream",
            "多条消息，用于客户端流和双向流的方法";
        TAKES;
        EXPECTS;
        TIMEOUT;
        DEADLINE;
        TAGS;
        ON_FAILURE;
    }
    "websocket" {
        "websocket": Kind::Pattern,
            "Open a WebSocket at this URL, for its steps",
            "连接该 WebSocket，执行其步骤期间保持", needed;
        NAME;
        HEADERS;
        AUTH_KEY;
        QUERY_KEY;
        "subprotocols": Kind::OneOrMore(&Kind::Text),
            "Offered in the handshake, in order of preference",
            "握手时提供的子协议，按优先顺序";
        TIMEOUT;
        TAGS;
        ON_FAILURE;
        STEPS_FIELD;
    }
    "tcp" {
        "tcp": Kind::Pattern,
            "Open a connection to tcp://host:port, for its steps",
            "连接 tcp://主机:端口，执行其步骤期间保持", needed;
        NAME;
        "until": Kind::Text, "A message ends behind this text, as --until", "消息以此文本结尾，同 --until";
        "read_bytes": Kind::Count, "The bytes of a message, as --read-bytes", "消息的字节数，同 --read-bytes";
        "length_prefix": Kind::Text,
            "A number in front of each message gives its length; its bytes, as --length-prefix",
            "消息前表示长度的字节数，同 --length-prefix";
        TIMEOUT;
        TAGS;
        ON_FAILURE;
        STEPS_FIELD;
    }
    "send" {
        "send": Kind::Either(&[Kind::Pattern, Kind::Object(&MESSAGE)]),
            "Send a message: a text, or {json: ...}, {hex: 0a ff}, {file: PATH}",
            "发送消息：文本，或 {json: ...}、{hex: 0a ff}、{file: 路径}", needed;
        NAME;
        ON_FAILURE;
    }
    "receive" {
        "receive": Kind::Either(&[Kind::Object(&RECEIVE), Kind::Nothing]), "Wait for a message", "等待消息", needed;
        NAME;
        ON_FAILURE;
    }
    "think" {
        "think": Kind::Text,
            "Pause: 2s, 1s-3s, exponential(2s), normal(2s, 0.5s), lognormal(2s, 0.4)",
            "思考时间：2s、1s-3s、exponential(2s)、normal(2s, 0.5s)、lognormal(2s, 0.4)", needed;
    }
    "transaction" {
        "transaction": Kind::Text,
            "Time these steps as one, under this name",
            "事务的名称；其步骤作为一个整体计时", needed;
        WITH_THINK;
        DEADLINE;
        ON_FAILURE_OF_ALL;
        STEPS_FIELD, needed;
    }
    "choose" {
        "choose": Kind::List(&Kind::Object(&CHOICE)),
            "Do one of them, as often as its weight says",
            "按权重执行其中之一", needed;
    }
    "shuffle" {
        "shuffle": Kind::Steps, "Do each once, in an order that is drawn", "以随机顺序各执行一次", needed;
    }
    "if" {
        "if": Kind::Expression,
            "A condition in JavaScript, like: price < 100",
            "JavaScript 条件，如：price < 100", needed;
        "then": Kind::MaybeSteps, "What is done when it is true", "条件成立时执行的步骤", needed;
        "else": Kind::MaybeSteps, "What is done when it is not", "条件不成立时执行的步骤";
    }
    "parallel" {
        "parallel": Kind::Count, "The requests in flight at a time", "同时进行的请求数", needed;
        ON_FAILURE;
        STEPS_FIELD, needed;
    }
    "barrier" {
        "barrier": Kind::Object(&MEET), "Wait for other users", "集合点：等待其他用户", needed;
    }
};

/// Any step, while its verb is unknown.
pub(crate) const STEP: Object = Object { title: "a step", title_zh: "步骤", id: "step", fields: &[], any_of: &[] };

/// The steps that every program has, by their verbs.
static STEPS: [&Object; REQUESTS.len() + OTHERS.len() + FLOW.len()] = {
    const BEHIND_REQUESTS: usize = REQUESTS.len();
    const BEHIND_OTHERS: usize = REQUESTS.len() + OTHERS.len();
    let mut all: [&Object; BEHIND_OTHERS + FLOW.len()] = [&REQUESTS[0]; BEHIND_OTHERS + FLOW.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = match at {
            0..BEHIND_REQUESTS => &REQUESTS[at],
            BEHIND_REQUESTS..BEHIND_OTHERS => &OTHERS[at - BEHIND_REQUESTS],
            _ => &FLOW[at - BEHIND_OTHERS],
        };
        at += 1;
    }
    all
};

/// All kinds of steps, by their verbs; last those of custom protocols.
pub(crate) fn steps() -> impl Iterator<Item = &'static Object> + Clone {
    STEPS.iter().copied().chain(calls()).chain(objects())
}

/// The object of the step with this verb.
pub(crate) fn verb_of(key: &str) -> Option<&'static Object> {
    steps().find(|object| object.id == key)
}
