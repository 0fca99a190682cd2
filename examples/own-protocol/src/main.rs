//! onrush with one more protocol: a private RPC over TCP, with a login and a checksum.
//!
//! A frame is its length (4 bytes), a checksum (FNV-1a, 4 bytes), a byte that says what it is, and a text. What it is: `L` a
//! login, `W` welcome; `C` a call, `R` the reply; `X` no.

use std::collections::HashMap;

use onrush::protocol::*;

const HEAD: usize = 8;
const FRAME_BYTES_MAX: usize = 1024 * 1024;
const REMEDY: Phrase = Phrase::new("see the log of the server", "请查看服务端日志");

static ABOUT: About = About {
    name: "own",
    title: "Own protocol",
    help: Phrase::new("Call the server with a text", "以一段文本调用服务端"),
    schemes: &[Scheme::stream("own", "own://", 7777)],
    keys: &[Key::new("call", KeyKind::Text, "The text", "文本").needed()],
    main_key: "call",
    // By their numbers: `Fault::Custom(0)` and so on.
    failures: &[
        OwnFailure::exchanging("own-checksum", Phrase::new("a frame has a wrong checksum", "帧的校验和错误"), REMEDY),
        OwnFailure::exchanging("own-length", Phrase::new("a frame has no valid length", "帧的长度不合法"), REMEDY),
        OwnFailure::exchanging("own-frame", Phrase::new("a frame makes no sense here", "收到意外的帧"), REMEDY),
        OwnFailure::connecting("own-login", Phrase::new("the login was refused", "登录被拒绝"), REMEDY),
    ],
};

struct Own;

impl Protocol for Own {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn prepare(&self, endpoint: &Endpoint, fields: &StepFields<'_>) -> Result<Box<dyn Request>, Mistake> {
        Ok(Box::new(Call { password: endpoint.password.clone(), text: fields.text("call") }))
    }

    fn serve(&self) -> Option<Box<dyn Service>> {
        Some(Box::<Server>::default())
    }
}

struct Call {
    password: Option<String>,
    text: Option<TextHandle>,
}

impl Request for Call {
    fn connect(&self, _number: u64) -> Connection {
        Box::new(Client { password: self.password.clone(), ..Client::default() })
    }

    fn write(&self, texts: &Texts<'_>, out: &mut Vec<u8>) {
        push(b'C', self.text.map_or(b"", |text| texts.get(text)), out);
    }

    fn view(&self, response: &[u8], json: &mut Vec<u8>) {
        push_json_text(response, json);
    }
}

#[derive(Default)]
struct Client {
    password: Option<String>,
    is_ready: bool,
    units: Units,
}

impl ProtocolConnection for Client {
    fn start(&mut self, out: &mut Vec<u8>) {
        match &self.password {
            Some(password) => push(b'L', password.as_bytes(), out),
            None => self.is_ready = true,
        }
    }

    fn room(&self) -> usize {
        usize::from(self.is_ready)
    }

    fn handle<'a>(&mut self, input: &'a mut [u8], scratch: &'a mut Scratch, _: Mask, _: &mut Vec<u8>) -> Handled<'a> {
        let (taken, frame) = self.units.next(input, &mut scratch.custom, length)?;
        let Some((kind, bytes)) = frame.map(body).transpose()? else { return Ok((taken, ConnectionEvent::NeedMore)) };
        let event = match (kind, self.is_ready) {
            (b'W', false) => ConnectionEvent::Ready,
            (b'X', false) => return Err(Fault::Custom(3)),
            (b'R', true) => ConnectionEvent::Response { tag: ALONE, bytes, status: "OK", is_success: true },
            (b'X', true) => ConnectionEvent::Response { tag: ALONE, bytes, status: "REFUSED", is_success: false },
            _ => return Err(Fault::Custom(2)),
        };
        self.is_ready = true;
        Ok((taken, event))
    }

    fn is_idle(&self) -> bool {
        self.units.begun().is_empty()
    }
}

#[derive(Default)]
struct Server(HashMap<u64, Units>);

impl Service for Server {
    fn handle(&mut self, connection: u64, mut bytes: &[u8], replies: &mut Replies) {
        let (units, mut lent) = (self.0.entry(connection).or_default(), Vec::new());
        while let Ok((taken, Some(frame))) = units.next(bytes, &mut lent, length) {
            match body(frame) {
                Ok((b'L', b"secret")) => push(b'W', b"", replies.buffer(connection)),
                Ok((b'C', text)) if text != b"refuse" => {
                    push(b'R', &text.to_ascii_uppercase(), replies.buffer(connection));
                }
                Ok(_) => push(b'X', b"no", replies.buffer(connection)),
                Err(_) => return replies.close(connection),
            }
            bytes = &bytes[taken..];
        }
    }

    fn close(&mut self, connection: u64) {
        self.0.remove(&connection);
    }
}

fn push(kind: u8, text: &[u8], out: &mut Vec<u8>) {
    let body = [&[kind], text].concat();
    out.extend_from_slice(&((HEAD + body.len()) as u32).to_be_bytes());
    out.extend_from_slice(&checksum(&body).to_be_bytes());
    out.extend_from_slice(&body);
}

fn length(bytes: &[u8]) -> Result<Option<usize>, Fault> {
    let Some(length) = bytes.first_chunk().map(|length| u32::from_be_bytes(*length) as usize) else { return Ok(None) };
    if (HEAD + 1..=FRAME_BYTES_MAX).contains(&length) { Ok(Some(length)) } else { Err(Fault::Custom(1)) }
}

fn body(frame: &[u8]) -> Result<(u8, &[u8]), Fault> {
    let (sum, body) = (&frame[4..HEAD], &frame[HEAD..]);
    if sum == checksum(body).to_be_bytes() { Ok((body[0], &body[1..])) } else { Err(Fault::Custom(0)) }
}

fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

fn main() -> std::process::ExitCode {
    onrush::main_with(&[&Own])
}
