//! RADIUS: authentication (PAP, CHAP) and accounting over UDP; and a small server.
//!
//! - `packet`: the layout, and what the shared secret does; `dictionary`: attributes by name
//! - `request`: what a step writes; `connection`: the client's machine; `view`: packets as JSON
//! - `service`: the server

mod connection;
mod dictionary;
mod packet;
mod request;
mod service;
mod view;

use std::sync::Arc;
use std::time::Duration;

use protocol::{
    About, Connection, Endpoint, Key, KeyKind, Mistake, OwnFailure, Phrase, Protocol, Request, Resend, Scheme, Service,
    StepFields, TextHandle, Texts,
};

use connection::Client;
use dictionary::Attribute;
use packet::{
    ACCT_SESSION_ID, ACCT_STATUS_TYPE, CHAP_CHALLENGE, CHAP_PASSWORD, MESSAGE_AUTHENTICATOR, Secret, USER_NAME,
    USER_PASSWORD, VALUE_BYTES_MAX,
};
use request::{LISTED_BYTES_MAX, PASSWORD_BYTES_MAX, StepContent, value_of};

/// RADIUS as a protocol of this program.
pub(crate) const PROTOCOL: Radius = Radius;

// The positions of the failures.
const SECRET: u8 = 0;
const RESPONSE: u8 = 1;
const VALUE: u8 = 2;

/// The scheme of servers for accounting.
const ACCOUNTING_SCHEME: &str = "radius-acct";
/// The statuses of responses: their codes.
const STATUSES: [&str; 4] = ["Access-Accept", "Access-Reject", "Access-Challenge", "Accounting-Response"];

static ABOUT: About = About {
    name: "radius",
    title: "RADIUS",
    help: Phrase { en: "Authenticate a user, or account for a session", zh: "认证用户，或对会话计费" },
    schemes: &[
        Scheme::datagram("radius", "radius://", 1812),
        Scheme::datagram(ACCOUNTING_SCHEME, "radius-acct://", 1813),
    ],
    keys: &[
        Key::new("user", KeyKind::Text, "User-Name [default: the user of the URL]", "User-Name [默认：URL 中的用户名]"),
        Key::new(
            "password",
            KeyKind::Text,
            "Password of the user [default: that of the URL]",
            "用户的密码 [默认：URL 中的密码]",
        )
        .secret(),
        Key::new(
            "secret",
            KeyKind::Text,
            "Secret shared with the server; with another one most servers do not respond",
            "与服务端共享的密钥；密钥不一致时，多数服务端不会响应",
        )
        .needed()
        .secret()
        .of_connection(),
        Key::new(
            "method",
            KeyKind::Text,
            "How the password is sent: pap or chap [default: pap]",
            "密码的发送方式：pap 或 chap [默认：pap]",
        ),
        Key::new(
            "accounting",
            KeyKind::Text,
            "Send an Accounting-Request instead: start, stop or interim; radius-acct:// has its port, 1813",
            "改为发送 Accounting-Request：start、stop 或 interim；其端口 1813 用 radius-acct://",
        ),
        Key::new(
            "session",
            KeyKind::Text,
            "Acct-Session-Id; servers may take equal requests for one: in a scenario file, use a slot such as ${uuid()}",
            "Acct-Session-Id；服务端可能把相同的计费请求视为同一个，因此应使用 ${uuid()} 之类的占位符",
        ),
        Key::new(
            "attributes",
            KeyKind::Words,
            "Further attributes, as NAS-Port=7, Attr-200=0xff or 9.1=0xff (of a vendor); a request with a made value \
             that is not valid fails as radius-value",
            "其他属性，例如 NAS-Port=7、Attr-200=0xff 或 9.1=0xff（厂商属性）；占位符得出的值无效时，请求以 radius-value 计为失败",
        ),
        Key::new(
            "resend",
            KeyKind::Text,
            "Time without response after which a request is sent again, at most 5 times, each wait twice as long (RFC \
             5080); off for never [default: 2s]",
            "多久没有响应后重发请求；最多重发 5 次，每次等待时间加倍（RFC 5080）；off 表示不重发 [默认：2s]",
        ),
    ],
    main_key: "user",
    failures: &[
        OwnFailure::exchanging(
            "radius-secret",
            Phrase::new(
                "a response came whose authenticator does not match: the shared secret is another, or responses are \
                 forged",
                "收到的响应认证字不匹配：共享密钥不一致，或响应系伪造",
            ),
            Phrase::new(
                "compare the key 'secret' with what the server has for this machine's address",
                "请核对 'secret' 与服务端为本机地址配置的密钥是否一致",
            ),
        )
        .explained_in("radius-secret"),
        OwnFailure::exchanging(
            "radius-response",
            Phrase::new(
                "a response came with the right authenticator, but its code does not fit the request, or its \
                 attributes are malformed",
                "收到的响应认证字正确，但其 Code 与请求不符，或属性格式错误",
            ),
            Phrase::new(
                "check the port: authentication has 1812, accounting 1813 (radius-acct://)",
                "请检查端口：认证为 1812，计费为 1813（radius-acct://）",
            ),
        ),
        OwnFailure::exchanging(
            "radius-value",
            Phrase::new(
                "a value that was made for this request is too long or not valid; it was sent without it, or with the \
                 beginning of the password",
                "为该请求生成的值过长或无效；实际请求不含该值，或只含密码的开头部分",
            ),
            Phrase::new(
                "check the values: `user` and `session` have at most 253 bytes, `password` 128 (PAP), and each of \
                 `attributes` the form of its type",
                "请检查取值：`user` 和 `session` 不超过 253 字节，`password`（PAP）不超过 128 字节，`attributes` 的值符合其类型",
            ),
        ),
    ],
};

/// The kind of a step's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pap,
    Chap,
    /// With this Acct-Status-Type.
    Accounting(u32),
}

/// The words of the key `accounting`, and their Acct-Status-Types.
const ACCOUNTING: [(&str, u32); 3] = [("start", 1), ("stop", 2), ("interim", 3)];

/// A value of a request.
enum Value {
    /// One of the URL, or none.
    Fixed(Vec<u8>),
    /// A text of the step.
    Given(TextHandle),
}

impl Value {
    fn get<'a>(&'a self, texts: &Texts<'a>) -> &'a [u8] {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::Given(text) => texts.get(*text),
        }
    }

    /// The value, if it is the same in each request.
    fn constant<'a>(&'a self, fields: &StepFields<'a>) -> Option<&'a [u8]> {
        match self {
            Self::Fixed(bytes) => Some(bytes),
            Self::Given(text) => fields.constant(*text),
        }
    }
}

/// The protocol RADIUS.
pub(crate) struct Radius;

impl Protocol for Radius {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn prepare(&self, endpoint: &Endpoint, fields: &StepFields<'_>) -> Result<Box<dyn Request>, Mistake> {
        if !matches!(endpoint.path.as_str(), "" | "/") {
            let en = format!("a radius URL has no path, not '{}': radius://user:password@host:1812", endpoint.path);
            let zh = format!("radius URL 不含路径，而这里是 '{}'：radius://user:password@host:1812", endpoint.path);
            return Err(Mistake { key: None, en, zh });
        }
        let secret = constant(fields, "secret")?.unwrap_or_default();
        if secret.is_empty() && !fields.only_connects() {
            return Err(mistake(
                "secret",
                "secret is empty: give the one that the server has for this client",
                "secret 为空：请给出服务端为该客户端配置的密钥",
            ));
        }
        let kind = kind_of(fields)?;
        if endpoint.scheme == ACCOUNTING_SCHEME && !matches!(kind, Kind::Accounting(_)) && !fields.only_connects() {
            return Err(mistake(
                "accounting",
                "radius-acct:// is for accounting: give accounting (start, stop or interim), or write radius://",
                "radius-acct:// 用于计费：请给出 accounting（start、stop 或 interim），或改用 radius://",
            ));
        }
        let given_or = |key: &'static str, default: &str| {
            fields.text(key).map_or_else(|| Value::Fixed(default.as_bytes().to_vec()), Value::Given)
        };
        let content = StepContent {
            kind,
            user: given_or("user", &endpoint.user),
            password: given_or("password", endpoint.password.as_deref().unwrap_or_default()),
            session: given_or("session", ""),
            listed: fields.words("attributes").iter().map(|text| listed(*text, fields)).collect::<Result<_, _>>()?,
        };
        if !fields.only_connects() {
            let has_password = fields.text("password").is_some() || endpoint.password.is_some();
            check(&content, has_password, fields)?;
        }
        Ok(Box::new(Step { content, secret: Arc::new(Secret::new(secret)), resend: resend_of(fields)? }))
    }

    fn statuses(&self) -> &'static [&'static str] {
        &STATUSES
    }

    fn silence(&self) -> Option<Phrase> {
        Some(Phrase::new(
            "a RADIUS server does not respond to clients that it does not know, or whose shared secret is another: \
             check both there, and --radius-secret",
            "RADIUS 服务端不会响应未登记的客户端，也不响应共享密钥不一致的请求：请检查服务端的客户端配置和 --radius-secret",
        ))
    }

    fn silence_section(&self) -> Option<&'static str> {
        Some("radius-secret")
    }

    fn serve(&self) -> Option<Box<dyn Service>> {
        Some(Box::new(service::Server::default()))
    }
}

fn mistake(key: &'static str, en: impl Into<String>, zh: impl Into<String>) -> Mistake {
    Mistake { key: Some(key), en: en.into(), zh: zh.into() }
}

/// The value of a key that is the same in each request.
fn constant<'a>(fields: &StepFields<'a>, key: &'static str) -> Result<Option<&'a [u8]>, Mistake> {
    let Some(text) = fields.text(key) else { return Ok(None) };
    let value = fields.constant(text).ok_or_else(|| {
        let en = format!("{key} has no slots: it is the same in each request of a step");
        mistake(key, en, format!("{key} 不能含占位符：同一步骤的每个请求都使用相同的值"))
    });
    value.map(Some)
}

fn kind_of(fields: &StepFields<'_>) -> Result<Kind, Mistake> {
    let wrong = |key, value: &[u8], words: &str| {
        let value = String::from_utf8_lossy(value);
        let en = format!("{key} is one of {words}, not '{value}'");
        mistake(key, en, format!("{key} 应为 {words} 之一，而不是 '{value}'"))
    };
    let kind = match constant(fields, "method")? {
        None | Some(b"pap") => Kind::Pap,
        Some(b"chap") => Kind::Chap,
        Some(other) => return Err(wrong("method", other, "pap, chap")),
    };
    let Some(word) = constant(fields, "accounting")? else { return Ok(kind) };
    if let Some(key) = ["method", "password"].into_iter().find(|key| fields.text(key).is_some()) {
        let en = format!("an Accounting-Request has no {key}: leave it out, or leave out accounting");
        return Err(mistake(key, en, format!("Accounting-Request 不含 {key}：请去掉它，或去掉 accounting")));
    }
    let known = ACCOUNTING.iter().find(|(known, _)| known.as_bytes() == word);
    known.map(|(_, status)| Kind::Accounting(*status)).ok_or_else(|| wrong("accounting", word, "start, stop, interim"))
}

fn resend_of(fields: &StepFields<'_>) -> Result<Option<Resend>, Mistake> {
    let text = String::from_utf8_lossy(constant(fields, "resend")?.unwrap_or(b"2s"));
    if text == "off" {
        return Ok(None);
    }
    match plan::parse_span("resend", &text, Resend::AFTER_MIN) {
        // RFC 5080, 2.2.1: IRT, MRT, RAND and MRC. The timeout of the request stands for MRD.
        Ok(after) => Ok(Some(Resend {
            after,
            factor: 2,
            longest: after.max(Duration::from_secs(16)),
            jitter_percent: 10,
            most: 5,
        })),
        Err(_) => {
            let en = format!("resend is a time of 1ms or more, as 500ms or 2s, or off, not '{text}'");
            let zh = format!("resend 应为不小于 1ms 的时间（如 500ms 或 2s）或 off，而不是 '{text}'");
            Err(mistake("resend", en, zh))
        }
    }
}

/// A listed attribute. What stands before its `=` has no slots.
fn listed(text: TextHandle, fields: &StepFields<'_>) -> Result<(Attribute, TextHandle), Mistake> {
    let written = String::from_utf8_lossy(fields.written(text));
    let wrong = |en: String, zh: String| Err(mistake("attributes", en, zh));
    let Some((name, _)) = written.split_once('=').filter(|(name, _)| !name.contains("${")) else {
        return wrong(
            format!("'{written}' has no '=' behind a name: write it as NAS-Port=7; only the value may have slots"),
            format!("'{written}' 的属性名后缺少 '='：应写成 NAS-Port=7；只有值可以含占位符"),
        );
    };
    let name = name.trim();
    let Some(attribute) = dictionary::named(name) else {
        let near = dictionary::nearest(name);
        return wrong(
            format!("the attribute '{name}' is not known; near it are {near}; others are written as Attr-200=0xff"),
            format!("未知的属性 '{name}'；相近的有 {near}；其他属性写成 Attr-200=0xff"),
        );
    };
    let key = match attribute.kind {
        USER_NAME => "user",
        USER_PASSWORD | CHAP_PASSWORD => "password",
        ACCT_STATUS_TYPE => "accounting",
        ACCT_SESSION_ID => "session",
        CHAP_CHALLENGE | MESSAGE_AUTHENTICATOR => {
            let en = format!("{name} is computed for each request: leave it out");
            return wrong(en, format!("{name} 会为每个请求自动计算：请去掉"));
        }
        _ => {
            let is_valid = |text: &[u8]| dictionary::encode(attribute, value_of(text), &mut Vec::new()).is_some();
            if fields.constant(text).is_none_or(is_valid) {
                return Ok((attribute, text));
            }
            let form = attribute.form();
            return wrong(
                format!("'{written}' is not valid: the value of {name} is {}", form.en),
                format!("'{written}' 无效：{name} 的值应为{}", form.zh),
            );
        }
    };
    wrong(format!("{name} has a key of its own: write it as '{key}'"), format!("{name} 有专用的键：请写在 '{key}' 中"))
}

/// Checks that a step has what its kind needs, and that it fits into a packet.
fn check(content: &StepContent, has_password: bool, fields: &StepFields<'_>) -> Result<(), Mistake> {
    let is_accounting = matches!(content.kind, Kind::Accounting(_));
    let length = |value: &Value| value.constant(fields).map(<[u8]>::len);
    if !is_accounting && length(&content.user) == Some(0) {
        return Err(mistake(
            "user",
            "there is no user: give user, or write it in the URL: radius://user:password@host",
            "没有用户名：请给出 user，或写在 URL 中：radius://user:password@host",
        ));
    }
    if !is_accounting && !has_password {
        return Err(mistake(
            "password",
            "there is no password: give password, or write it in the URL: radius://user:password@host",
            "没有密码：请给出 password，或写在 URL 中：radius://user:password@host",
        ));
    }
    if is_accounting && length(&content.session) == Some(0) {
        return Err(mistake(
            "session",
            "accounting needs the ID of the session: give session",
            "计费请求需要会话 ID：请给出 session",
        ));
    }
    let password_max = if content.kind == Kind::Pap { PASSWORD_BYTES_MAX } else { usize::MAX };
    let bounds = [
        ("user", length(&content.user), VALUE_BYTES_MAX),
        ("session", length(&content.session), VALUE_BYTES_MAX),
        ("password", length(&content.password), password_max),
    ];
    for (key, length, most) in bounds {
        if let Some(length) = length.filter(|length| *length > most) {
            let en = format!("{key} has {length} bytes; {most} are the most: shorten it");
            return Err(mistake(key, en, format!("{key} 有 {length} 字节，最多 {most} 字节：请缩短")));
        }
    }
    let mut encoded = Vec::new();
    for (attribute, text) in &content.listed {
        if let Some(text) = fields.constant(*text) {
            dictionary::encode(*attribute, value_of(text), &mut encoded);
        }
    }
    if encoded.len() > LISTED_BYTES_MAX {
        let en = format!("attributes have {} bytes; {LISTED_BYTES_MAX} are the most: leave some out", encoded.len());
        let zh = format!("attributes 共 {} 字节，最多 {LISTED_BYTES_MAX} 字节：请减少属性", encoded.len());
        return Err(mistake("attributes", en, zh));
    }
    Ok(())
}

/// A prepared step.
struct Step {
    content: StepContent,
    secret: Arc<Secret>,
    resend: Option<Resend>,
}

impl Request for Step {
    fn name(&self) -> String {
        match self.content.kind {
            Kind::Pap => "pap",
            Kind::Chap => "chap",
            Kind::Accounting(status) => ACCOUNTING.iter().find(|(_, own)| *own == status).map_or("", |(word, _)| word),
        }
        .to_owned()
    }

    fn connect(&self, number: u64) -> Connection {
        Box::new(Client::new(self.secret.clone(), number))
    }

    fn resend(&self) -> Option<Resend> {
        self.resend
    }

    fn write(&self, texts: &Texts<'_>, out: &mut Vec<u8>) {
        self.content.write(texts, out);
    }

    fn view_request(&self, request: &[u8], json: &mut Vec<u8>) {
        view::view(request, json);
    }

    fn view(&self, response: &[u8], json: &mut Vec<u8>) {
        view::view(response, json);
    }
}

#[cfg(test)]
mod tests;
