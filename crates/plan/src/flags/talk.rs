//! The flags of WebSocket and of plain TCP: what is sent, and where an answer ends.

use std::time::Duration;

use super::{Address, Flags, Header, Scheme, read_data};
use crate::places::{parse_places, parse_sources};
use crate::{
    AnswerEnd, HttpVersion, MESSAGE_BYTES_MAX, Message, MessageKind, Need, Place, PlanError, Remedy, Request, Sources,
    Step, Talk, parse_count, parse_duration,
};

/// Bytes of the seed of random data, when none is given.
const SEED_DEFAULT: u64 = 1;
/// The longest delimiter; the machine that looks for it has the same bound.
const DELIMITER_BYTES_MAX: usize = 64;
/// The largest answer of a known length.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024 * 1024;

impl Flags {
    /// What only connections of WebSocket or TCP have is not given.
    pub(super) fn refuse_talk_flags(&self) -> Result<(), PlanError> {
        let flag = self.ws_flags().into_iter().chain(self.tcp_flags()).find(|(_, is_given)| *is_given);
        flag.map_or(Ok(()), |(flag, _)| Err(PlanError::Needs { flag, needed: Need::Talk }))
    }

    fn ws_flags(&self) -> [(&'static str, bool); 3] {
        [
            ("--ws-type", self.ws_type.is_some()),
            ("--subprotocol", !self.subprotocols.is_empty()),
            ("--ws-deflate", self.ws_deflate),
        ]
    }

    fn tcp_flags(&self) -> [(&'static str, bool); 5] {
        [
            ("--data-bytes", self.data_bytes.is_some()),
            ("--until", self.until.is_some()),
            ("--read-bytes", self.read_bytes.is_some()),
            ("--length-prefix", self.length_prefix.is_some()),
            ("--no-answer", self.no_answer),
        ]
    }

    /// A message and its answer as a step. `listens`: there may be no message.
    pub(super) fn talk_step(&self, address: &Address, listens: bool) -> Result<Step, PlanError> {
        let is_ws = address.scheme == Scheme::WebSocket;
        let scheme = if is_ws { "ws://" } else { "tcp://" };
        let given = [
            ("-X", self.method.is_some()),
            ("--http1.0", self.http10),
            ("--http1.1", self.http11),
            ("--http2", self.http2),
            ("--streams", self.streams.is_some()),
            ("--expect-status", self.expect_status.is_some()),
            ("-H", !is_ws && !self.headers.is_empty()),
        ];
        if let Some((one, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
            return Err(PlanError::Conflict { one, other: scheme, remedy: Remedy::TalkIsNoHttp });
        }
        if !is_ws && let Some((flag, _)) = self.ws_flags().into_iter().find(|(_, is_given)| *is_given) {
            return Err(PlanError::Needs { flag, needed: Need::WebSocket });
        }
        let message = self.message(is_ws)?;
        let answer = self.answer_end(is_ws, message.as_ref())?;
        // Nothing is sent, and nothing is waited for.
        if message.is_none() && !listens && !is_ws {
            return Err(PlanError::NothingToSend);
        }
        let message = match message {
            None if is_ws && !listens => {
                Some(Message { kind: MessageKind::Ping, bytes: Vec::new(), is_numbered: false })
            }
            message => message,
        };
        let request = self.opening(address, is_ws)?;
        let name = if is_ws { request.path.clone() } else { address.host_and_port() };
        Ok(Step {
            name,
            request,
            call: None,
            talk: Some(Talk {
                message,
                answer,
                subprotocols: self.subprotocols.clone(),
                offers_deflate: self.ws_deflate,
            }),
            target: 0,
            follow: None,
            pause: self.pause.as_deref().map_or(Ok(Duration::ZERO), |text| parse_duration("--pause", text))?,
            is_shown: false,
            checks: self.content_checks(false)?,
            timeout: self.timeout()?,
            connect_timeout: self.connect_timeout()?,
            keep_alive: !self.no_keepalive,
        })
    }

    /// How a connection of WebSocket is asked for.
    fn opening(&self, address: &Address, is_ws: bool) -> Result<Request, PlanError> {
        let mut headers = Vec::new();
        if is_ws {
            let asked = self.headers.iter().map(|text| Header::parse(text)).collect::<Result<Vec<_>, _>>()?;
            let own =
                ["upgrade", "connection", "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions"];
            if let Some(header) =
                asked.iter().find(|header| own.iter().any(|own| header.name.eq_ignore_ascii_case(own)))
            {
                return Err(PlanError::HeaderOfHandshake { header: header.name.clone() });
            }
            let is_asked = |name: &str| asked.iter().any(|header| header.name.eq_ignore_ascii_case(name));
            for (name, value) in [("Host", address.host_header()), ("User-Agent", self.user_agent.clone())] {
                if !is_asked(name) {
                    headers.push((name.to_owned(), value.into_bytes()));
                }
            }
            headers.extend(asked.into_iter().filter_map(|header| Some((header.name, header.value?))));
        }
        Ok(Request {
            method: "GET".to_owned(),
            path: address.path_and_query(),
            version: HttpVersion::Http11,
            headers,
            body: Vec::new(),
        })
    }

    fn message(&self, is_ws: bool) -> Result<Option<Message>, PlanError> {
        if self.numbered && is_ws {
            return Ok(Some(Message { kind: MessageKind::Text, bytes: Vec::new(), is_numbered: true }));
        }
        if self.seed.is_some() && self.data_bytes.is_none() {
            return Err(PlanError::Needs { flag: "--seed", needed: Need::DataBytes });
        }
        let (bytes, is_raw) = match (&self.data, &self.data_bytes) {
            (Some(_), Some(_)) => {
                let (one, other, remedy) = ("-d", "--data-bytes", Remedy::OneMessage);
                return Err(PlanError::Conflict { one, other, remedy });
            }
            (Some(text), None) => match text.strip_prefix("hex:") {
                Some(digits) => (Some(read_hex(digits)?), true),
                None => (Some(read_data(text)?), false),
            },
            (None, Some(text)) => {
                let count = parse_count("--data-bytes", text, 1, MESSAGE_BYTES_MAX)?;
                let seed = self.seed.as_deref().map(|text| parse_count("--seed", text, 0, u64::MAX)).transpose()?;
                (Some(random_bytes(seed.unwrap_or(SEED_DEFAULT), count as usize)), true)
            }
            (None, None) => (None, false),
        };
        let kind = match (is_ws, self.ws_type.as_deref(), &bytes) {
            (false, _, _) => MessageKind::Plain,
            (true, None, None) => return Ok(None),
            (true, None, Some(bytes)) if is_raw || std::str::from_utf8(bytes).is_err() => MessageKind::Binary,
            (true, None | Some("text"), _) => MessageKind::Text,
            (true, Some("binary"), _) => MessageKind::Binary,
            (true, Some("ping"), _) => MessageKind::Ping,
            (true, Some(other), _) => {
                let (flag, choices) = ("--ws-type", "text, binary, ping");
                return Err(PlanError::Choice { flag, value: other.to_owned(), choices });
            }
        };
        let Some(bytes) = bytes.or((kind == MessageKind::Ping).then(Vec::new)) else {
            return if is_ws { Err(PlanError::Needs { flag: "--ws-type", needed: Need::Data }) } else { Ok(None) };
        };
        match kind {
            MessageKind::Text if std::str::from_utf8(&bytes).is_err() => Err(PlanError::TextNotUtf8),
            MessageKind::Ping if bytes.len() > PING_BYTES_MAX => Err(PlanError::PingTooLarge { most: PING_BYTES_MAX }),
            MessageKind::Plain if bytes.is_empty() => Err(PlanError::NothingToSend),
            kind => Ok(Some(Message { kind, bytes, is_numbered: false })),
        }
    }

    fn answer_end(&self, is_ws: bool, message: Option<&Message>) -> Result<AnswerEnd, PlanError> {
        let ends: Vec<&'static str> =
            self.tcp_flags()[1..].iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| *flag).collect();
        if let [one, other, ..] = ends[..] {
            return Err(PlanError::Conflict { one, other, remedy: Remedy::OneEnd });
        }
        if is_ws {
            return match ends[..] {
                [] => Ok(AnswerEnd::Message),
                ["--no-answer"] => Ok(AnswerEnd::None),
                [one, ..] => Err(PlanError::Conflict { one, other: "ws://", remedy: Remedy::MessagesEnd }),
            };
        }
        if let Some(text) = &self.until {
            return match unescape(text) {
                Some(bytes) if (1..=DELIMITER_BYTES_MAX).contains(&bytes.len()) => Ok(AnswerEnd::Until(bytes)),
                _ => Err(PlanError::Until { value: text.clone(), most: DELIMITER_BYTES_MAX }),
            };
        }
        if let Some(text) = &self.read_bytes {
            return parse_count("--read-bytes", text, 1, ANSWER_BYTES_MAX).map(AnswerEnd::Bytes);
        }
        if let Some(text) = self.length_prefix.as_deref() {
            let (digits, is_little_endian) = text.strip_suffix("le").map_or((text, false), |digits| (digits, true));
            let width = match digits {
                "1" => 1,
                "2" => 2,
                "4" => 4,
                "8" => 8,
                _ => {
                    let (flag, choices) = ("--length-prefix", "1, 2, 4, 8, 2le, 4le, 8le");
                    return Err(PlanError::Choice { flag, value: text.to_owned(), choices });
                }
            };
            return Ok(AnswerEnd::LengthPrefix { width, is_little_endian });
        }
        match message {
            // A load without an end of answers would measure nothing but sending.
            Some(_) if !self.no_answer => Err(PlanError::NoAnswerEnd),
            _ => Ok(AnswerEnd::None),
        }
    }

    pub(super) fn sources(&self) -> Result<Sources, PlanError> {
        self.source_ip.as_deref().map_or(Ok(Sources::Usual), parse_sources)
    }

    pub(super) fn places(&self) -> Result<Vec<Place>, PlanError> {
        self.to.as_deref().map_or(Ok(Vec::new()), parse_places)
    }
}

/// RFC 6455, 5.5.
const PING_BYTES_MAX: usize = 125;

/// Pairs of hexadecimal digits; spaces between them mean nothing.
fn read_hex(text: &str) -> Result<Vec<u8>, PlanError> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).ok().filter(|text| text.len() == 2 && !text.starts_with('+'))?;
        u8::from_str_radix(text, 16).ok()
    };
    digits.chunks(2).map(byte).collect::<Option<Vec<u8>>>().ok_or_else(|| PlanError::Hex { value: text.to_owned() })
}

/// What people write for bytes that they cannot type: `\n`, `\r`, `\t`, `\0`, `\\`, `\xHH`.
fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        out.push(match rest.next()? {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'0' => 0,
            b'\\' => b'\\',
            b'x' => {
                let pair = [rest.next()?, rest.next()?];
                let text = std::str::from_utf8(&pair).ok().filter(|text| !text.starts_with('+'))?;
                u8::from_str_radix(text, 16).ok()?
            }
            _ => return None,
        });
    }
    Some(out)
}

/// The same seed gives the same bytes (SplitMix64, by its published constants).
fn random_bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed;
    let mut bytes = Vec::with_capacity(count + 8);
    while bytes.len() < count {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.extend_from_slice(&(word ^ word >> 31).to_le_bytes());
    }
    bytes.truncate(count);
    bytes
}
