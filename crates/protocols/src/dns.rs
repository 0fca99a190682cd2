//! DNS: one question in each query, over UDP or TCP (RFC 1035, RFC 6891); and a small name server.
//!
//! - `message`: what both sides need of a message; `connection`: the client's machines; `view`: messages as JSON
//! - `service`: the server

mod connection;
mod message;
mod service;
mod view;

use plan::{parse_span, percent_decoded};
use protocol::{
    About, Connection, Endpoint, Key, KeyKind, Mistake, OwnFailure, Phrase, Protocol, Request, Resend, Scheme, Service,
    StepFields, TextHandle, Texts,
};
use wire::dns::message::{CLASS_IN, RECURSION_DESIRED, push_name, push_name_text, push_opt};

use connection::{Datagrams, Stream};
use message::{A, NS, STATUSES, kind_of, push_kind};

/// DNS as a protocol of this program.
pub(crate) const PROTOCOL: Dns = Dns;

/// Maximum length of a step's name.
const LABEL_BYTES_MAX: usize = 40;
/// Maximum characters of a text that a mistake shows.
const SHOWN_CHARACTERS_MAX: usize = 100;
/// The smallest size of datagrams that EDNS offers: a smaller one counts as this (RFC 6891, 6.2.3).
const SIZE_MIN: u16 = 512;
/// Maximum size of datagrams that may be offered: longer ones are not read.
const SIZE_MAX: u64 = 4_096;
/// The size of datagrams that is offered: it passes every usual path in one piece.
const OFFERED_BYTES: u16 = 1_232;
/// Maximum times that a query is sent again, and the factor of each further wait.
const RESENDS_MAX: u32 = 2;
const RESEND_FACTOR: u32 = 2;
/// The bit of EDNS for DNSSEC (RFC 3225).
const DNSSEC_OK: u16 = 0x8000;

/// What stands in the place of a query whose question is not valid: no query has these flags.
const NO_QUESTION: [u8; 2] = [0xff; 2];
/// Maximum bytes of a name, and of a type, that are shown of such a question.
const GIVEN_BYTES_MAX: usize = 512;

// The positions of the failures.
const MESSAGE: u8 = 0;
const NAME: u8 = 1;

static ABOUT: About = About {
    name: "dns",
    title: "DNS",
    help: Phrase { en: "Ask a name server a question", zh: "向 DNS 服务器发送一个查询" },
    schemes: &[Scheme::datagram("dns", "dns://", 53), Scheme::stream("dns+tcp", "dns+tcp://", 53)],
    keys: &[
        Key::new(
            "name",
            KeyKind::Text,
            "The name in question, with the escapes of zone files (\\. and \\046) [default: that of the URL, as in \
             dns://host/NAME?type=TYPE, or . for the root]",
            "要查询的域名，可用区域文件的转义（\\. 和 \\046）[默认：URL 中的域名，如 dns://host/NAME?type=TYPE；没有则为根域 .]",
        ),
        Key::new(
            "type",
            KeyKind::Text,
            "The type of records in question: A, AAAA, MX, TXT and so on, or TYPE123 [default: that of the URL, or A; \
             NS without a name]",
            "要查询的记录类型：A、AAAA、MX、TXT 等，或 TYPE123 [默认：URL 中的类型，没有则为 A；没有域名时为 NS]",
        ),
        Key::new(
            "edns",
            KeyKind::Number { min: 0, max: SIZE_MAX },
            "The size of UDP responses that EDNS offers; 0: no EDNS [default: 1232]",
            "通过 EDNS 声明可接收的 UDP 响应大小；0 表示不使用 EDNS [默认：1232]",
        ),
        Key::new("dnssec", KeyKind::Switch, "Ask for the records of DNSSEC (DO)", "要求返回 DNSSEC 记录（DO）"),
        Key::new("no_recursion", KeyKind::Switch, "Ask for no recursion (RD off)", "不要求递归查询（RD 置 0）"),
        Key::new(
            "resend",
            KeyKind::Text,
            "Over UDP, the time without a response after which a query is sent again, as 500ms or 2s; once more after \
             twice that time [default: off]",
            "使用 UDP 时，超过该时间没有响应就重发查询，例如 500ms、2s；再过两倍时间重发第二次 [默认：off]",
        ),
    ],
    main_key: "name",
    failures: &[
        OwnFailure::exchanging(
            "dns-message",
            Phrase::new(
                "the response is not a valid DNS message, or over TCP not one to this query, or truncated",
                "响应不是有效的 DNS 报文，或 TCP 上的响应与该查询不符或被截断",
            ),
            Phrase::new(
                "check host and port, and send this query with another tool, such as dig: it shows what is wrong",
                "请检查主机和端口，并用 dig 等工具发送该查询，查看响应的问题",
            ),
        ),
        OwnFailure::exchanging(
            "dns-name",
            Phrase::new(
                "the name or the type that was made for this query is not valid; a query for the root was sent instead",
                "为该查询生成的域名或类型无效，实际发送的是对根域的查询",
            ),
            Phrase::new(
                "check the values in `name` and `type`: labels of 1 to 63 bytes, 255 bytes in all, no blanks",
                "检查 `name` 和 `type` 中的值：每段 1 到 63 字节，总共不超过 255 字节，不含空白",
            ),
        ),
    ],
};

/// The protocol of DNS.
pub(crate) struct Dns;

impl Protocol for Dns {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn prepare(&self, endpoint: &Endpoint, fields: &StepFields<'_>) -> Result<Box<dyn Request>, Mistake> {
        let of_url = UrlQuestion::read(endpoint)?;
        let resend = resend_of(fields)?;
        if resend.is_some() && !endpoint.is_datagram && !endpoint.scheme.is_empty() {
            let wrong = [
                "has no meaning over TCP, which loses nothing: leave resend out, or write dns://",
                "对 TCP 没有意义，TCP 不会丢失数据：请去掉 resend，或改用 dns://",
            ];
            return Err(mistake(Some("resend"), b"resend", wrong));
        }
        let (size, dnssec) = edns_of(fields)?;
        // Steps of scenario files are named before their URL is known, so a type that only it could say is not shown.
        let of_name = of_url.name.as_ref().map(|_| Given::Constant(A));
        let name = given(fields, "name", wire_name)?.or(of_url.name.map(Given::Constant));
        let kind = given(fields, "type", known_kind)?.or(of_url.kind.map(Given::Constant)).or(of_name);
        let default = if name.is_some() { A } else { NS };
        let mut queries = Queries {
            label: label(name.as_ref(), kind.as_ref()),
            name: name.unwrap_or_else(|| Given::Constant(vec![0])),
            kind: kind.unwrap_or(Given::Constant(default)),
            flags: if fields.is_on("no_recursion") { 0 } else { RECURSION_DESIRED },
            edns: (size > 0).then_some((size, dnssec)),
            resend,
            is_datagram: endpoint.is_datagram,
            constant: Vec::new(),
        };
        if let (Given::Constant(_), Given::Constant(_)) = (&queries.name, &queries.kind) {
            let mut constant = Vec::new();
            queries.write(&Texts::new(&[]), &mut constant);
            queries.constant = constant;
        }
        Ok(Box::new(queries))
    }

    fn statuses(&self) -> &'static [&'static str] {
        &STATUSES
    }

    fn silence(&self) -> Option<Phrase> {
        Some(Phrase::new(
            "a name server may drop requests: look at its access control and its limit of responses, or raise -t",
            "域名服务可能丢弃请求：请查看服务端的访问控制与响应限速，或调大 -t",
        ))
    }

    fn serve(&self) -> Option<Box<dyn Service>> {
        Some(Box::new(service::Server::default()))
    }
}

/// A mistake with a text as it was written.
fn mistake(key: Option<&'static str>, text: &[u8], [en, zh]: [&str; 2]) -> Mistake {
    let text: String = String::from_utf8_lossy(text).chars().take(SHOWN_CHARACTERS_MAX).collect();
    Mistake { key, en: format!("'{text}' {en}"), zh: format!("'{text}' {zh}") }
}

/// A name as it is on the wire.
fn wire_name(text: &[u8], key: Option<&'static str>) -> Result<Vec<u8>, Mistake> {
    let mut name = Vec::new();
    let wrong = [
        "is not a name of DNS: write labels of 1 to 63 bytes with dots between them, at most 255 bytes in all; . is \
         the root, names in other scripts begin with xn--, and other bytes are written as \\032",
        "不是有效的域名：各段为 1 到 63 字节，以点分隔，总共不超过 255 字节；根域写作 .，其他文字的域名用 xn-- 形式，\
         其他字节写成 \\032",
    ];
    push_name(text, &mut name).ok_or_else(|| mistake(key, text, wrong))?;
    Ok(name)
}

fn known_kind(text: &[u8], key: Option<&'static str>) -> Result<u16, Mistake> {
    let wrong = [
        "is not a type of records that a question can have: write A, AAAA, MX, TXT and so on, or TYPE123; transfers of \
         zones are not supported",
        "不是可查询的记录类型：应为 A、AAAA、MX、TXT 等，或 TYPE123；不支持区域传送",
    ];
    kind_of(text).ok_or_else(|| mistake(key, text, wrong))
}

/// The question that a URL asks (RFC 4501).
struct UrlQuestion {
    name: Option<Vec<u8>>,
    kind: Option<u16>,
}

impl UrlQuestion {
    fn read(endpoint: &Endpoint) -> Result<Self, Mistake> {
        if !endpoint.user.is_empty() || endpoint.password.is_some() {
            let wrong = ["has no meaning in DNS: write dns://host/name", "在 DNS 中没有意义：应为 dns://host/name"];
            return Err(mistake(None, b"user:password@", wrong));
        }
        let (path, query) = endpoint.path.split_once('?').unwrap_or((&endpoint.path, ""));
        let name = percent_decoded(path.strip_prefix('/').unwrap_or(path));
        let name = match name.is_empty() {
            true => None,
            // A blank is written as %20 in a URL.
            false => Some(wire_name(name.replace(' ', "\\032").as_bytes(), None)?),
        };
        let mut kind = None;
        for parameter in query.split(['&', ';']).filter(|parameter| !parameter.is_empty()) {
            let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = percent_decoded(value);
            match key.to_ascii_lowercase().as_str() {
                "type" if kind.is_some() => {
                    let wrong = [
                        "is a second type: a question has one, so write a step for each",
                        "是第二个类型：一个查询只有一个类型，请为每个类型各写一个步骤",
                    ];
                    return Err(mistake(None, parameter.as_bytes(), wrong));
                }
                "type" => kind = Some(known_kind(value.as_bytes(), None)?),
                "class" if value.eq_ignore_ascii_case("IN") => {}
                _ => {
                    let wrong = [
                        "is not known in a dns URL: write dns://host/name?type=AAAA",
                        "不是 dns URL 的参数：应为 dns://host/name?type=AAAA",
                    ];
                    return Err(mistake(None, parameter.as_bytes(), wrong));
                }
            }
        }
        Ok(Self { name, kind })
    }
}

/// The size of datagrams that is offered, and the flags of EDNS.
fn edns_of(fields: &StepFields<'_>) -> Result<(u16, u16), Mistake> {
    let size = fields.number("edns").and_then(|size| u16::try_from(size).ok()).unwrap_or(OFFERED_BYTES);
    if (1..SIZE_MIN).contains(&size) {
        let wrong = [
            "is too small: a server takes less than 512 for 512; write 0 (no EDNS), or 512 to 4096",
            "太小：服务端把小于 512 的值当作 512；应为 0（不使用 EDNS）或 512 到 4096",
        ];
        return Err(mistake(Some("edns"), size.to_string().as_bytes(), wrong));
    }
    let wrong = ["needs EDNS: leave it out, or edns: 0", "需要 EDNS：请去掉它，或去掉 edns: 0"];
    match fields.is_on("dnssec") {
        true if size == 0 => Err(mistake(Some("dnssec"), b"dnssec", wrong)),
        is_on => Ok((size, if is_on { DNSSEC_OK } else { 0 })),
    }
}

fn resend_of(fields: &StepFields<'_>) -> Result<Option<Resend>, Mistake> {
    let Some(text) = fields.text("resend") else { return Ok(None) };
    let constant = fields.constant(text).and_then(|text| std::str::from_utf8(text).ok());
    let after = match constant {
        Some("off") => return Ok(None),
        constant => constant.and_then(|text| parse_span("resend", text, Resend::AFTER_MIN).ok()),
    };
    let wrong = [
        "is no wait before a query is sent again: write off, or a time of 1ms or more as 500ms or 2s, the same in each \
         query",
        "不是有效的重发等待时间：应为 off，或不短于 1ms 的时间，例如 500ms、2s，且每个查询都相同",
    ];
    let after = after.ok_or_else(|| mistake(Some("resend"), fields.written(text), wrong))?;
    let longest = after.saturating_mul(RESEND_FACTOR.pow(RESENDS_MAX));
    Ok(Some(Resend { after, factor: RESEND_FACTOR, longest, jitter_percent: 0, most: RESENDS_MAX }))
}

/// A part of a question: the same in each query, or made for it.
enum Given<T> {
    Constant(T),
    Made(TextHandle),
}

/// The part of the question that a key says.
fn given<T>(
    fields: &StepFields<'_>,
    key: &'static str,
    read: impl Fn(&[u8], Option<&'static str>) -> Result<T, Mistake>,
) -> Result<Option<Given<T>>, Mistake> {
    let part = |text| match fields.constant(text) {
        Some(constant) => read(constant, Some(key)).map(Given::Constant),
        None => Ok(Given::Made(text)),
    };
    fields.text(key).map(part).transpose()
}

/// Type and name, as far as they are given and constant.
fn label(name: Option<&Given<Vec<u8>>>, kind: Option<&Given<u16>>) -> String {
    let mut label = Vec::new();
    if let Some(Given::Constant(kind)) = kind {
        push_kind(*kind, &mut label);
        label.push(b' ');
    }
    if let Some(Given::Constant(name)) = name {
        push_name_text(name, &mut label);
    }
    label.truncate(LABEL_BYTES_MAX);
    let label = String::from_utf8_lossy(&label);
    let label = label.trim_end();
    label.strip_suffix('.').filter(|label| !label.ends_with([' ', '\\'])).unwrap_or(label).to_owned()
}

/// The queries of a step.
struct Queries {
    label: String,
    name: Given<Vec<u8>>,
    kind: Given<u16>,
    flags: u16,
    /// The size of datagrams, and the flags of EDNS.
    edns: Option<(u16, u16)>,
    /// The message without its ID, where it is always the same.
    constant: Vec<u8>,
    resend: Option<Resend>,
    is_datagram: bool,
}

impl Queries {
    /// Appends the question; `None` where its name or type is not valid.
    fn push_question(&self, texts: &Texts<'_>, out: &mut Vec<u8>) -> Option<()> {
        match &self.name {
            Given::Constant(name) => out.extend_from_slice(name),
            Given::Made(text) => push_name(texts.get(*text), out)?,
        }
        let kind = match self.kind {
            Given::Constant(kind) => kind,
            Given::Made(text) => kind_of(texts.get(text))?,
        };
        out.extend_from_slice(&kind.to_be_bytes());
        out.extend_from_slice(&CLASS_IN.to_be_bytes());
        Some(())
    }
}

impl Queries {
    /// Appends name and type as they were given, or made.
    fn push_given(&self, texts: &Texts<'_>, out: &mut Vec<u8>) {
        match &self.name {
            Given::Constant(name) => push_name_text(name, out),
            Given::Made(text) => out.extend(texts.get(*text).iter().take(GIVEN_BYTES_MAX)),
        }
        out.push(b' ');
        match self.kind {
            Given::Constant(kind) => push_kind(kind, out),
            Given::Made(text) => out.extend(texts.get(text).iter().take(GIVEN_BYTES_MAX)),
        }
    }
}

impl Request for Queries {
    fn name(&self) -> String {
        self.label.clone()
    }

    fn connect(&self, number: u64) -> Connection {
        if self.is_datagram { Box::new(Datagrams::default()) } else { self.connect_stream(number) }
    }

    fn connect_stream(&self, _number: u64) -> Connection {
        Box::new(Stream::default())
    }

    fn resend(&self) -> Option<Resend> {
        self.resend.filter(|_| self.is_datagram)
    }

    /// A query without its ID; where the question is not valid, its texts instead, behind what begins no query.
    fn write(&self, texts: &Texts<'_>, out: &mut Vec<u8>) {
        if !self.constant.is_empty() {
            out.extend_from_slice(&self.constant);
            return;
        }
        let start = out.len();
        let fields = [self.flags, 1, 0, 0, u16::from(self.edns.is_some())];
        out.extend(fields.into_iter().flat_map(u16::to_be_bytes));
        match (self.push_question(texts, out), self.edns) {
            (None, _) => {
                out.truncate(start);
                out.extend_from_slice(&NO_QUESTION);
                self.push_given(texts, out);
            }
            (Some(()), Some((size, flags))) => push_opt(size, flags, out),
            (Some(()), None) => {}
        }
    }

    fn view_request(&self, request: &[u8], json: &mut Vec<u8>) {
        match request.strip_prefix(&NO_QUESTION) {
            Some(given) => view::view_no_question(given, json),
            None => view::view(&[&[0; 2], request].concat(), false, json),
        }
    }

    fn view(&self, response: &[u8], json: &mut Vec<u8>) {
        view::view(response, true, json);
    }
}

#[cfg(test)]
mod tests;
