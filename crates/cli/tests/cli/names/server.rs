//! A name server that answers every question in the way that a test says, over UDP and TCP.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What the server answers to questions for IPv4 addresses; there are none of IPv6.
#[derive(Clone, Debug)]
pub(super) enum Says {
    /// These addresses, each valid for a second.
    Addresses(Vec<Ipv4Addr>),
    /// The same, valid for a day.
    Lasting(Vec<Ipv4Addr>),
    /// Nothing at all.
    Nothing,
    /// The same over TCP; over UDP that it does not fit.
    Truncates(Vec<Ipv4Addr>),
    /// The same behind two aliases.
    Aliases(Vec<Ipv4Addr>),
    /// An alias without its addresses; those of the alias to a question for it.
    AliasAlone(Vec<Ipv4Addr>),
    /// Two aliases of each other.
    Circle,
    /// A response code without records.
    Code(u16),
    /// An answer with another id.
    Lies,
}

impl Says {
    pub(super) fn addresses(all: &[Ipv4Addr]) -> Self {
        Self::Addresses(all.to_vec())
    }
}

const TTL_S: u32 = 1;
const DAY_S: u32 = 86_400;
const ALIAS: &[u8] = b"\x05alias\x04test\x00";
const OTHER: &[u8] = b"\x05other\x04test\x00";
/// Points at the name of the question.
const POINTER: &[u8] = &[0xc0, 12];
const UDP_BYTES_MAX: usize = 1_232;

/// It ends with the process.
pub(super) struct NameServer {
    address: String,
    says: Arc<Mutex<Says>>,
    questions: Arc<AtomicU64>,
}

impl NameServer {
    pub(super) fn start(says: Says) -> Self {
        // Both kinds of sockets on one port.
        let (udp, tcp) = std::iter::repeat_with(|| {
            let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
            let tcp = TcpListener::bind(udp.local_addr().expect("an address"));
            tcp.ok().map(|tcp| (udp, tcp))
        })
        .flatten()
        .next()
        .expect("some port is free");
        let address = udp.local_addr().expect("an address").to_string();
        let server = Self { address, says: Arc::new(Mutex::new(says)), questions: Arc::default() };
        let (says, questions) = (server.says.clone(), server.questions.clone());
        std::thread::spawn(move || {
            let mut question = [0; 4_096];
            while let Ok((length, from)) = udp.recv_from(&mut question) {
                questions.fetch_add(1, Ordering::Relaxed);
                let says = says.lock().expect("it lives").clone();
                if !matches!(says, Says::Nothing) {
                    // The asker may be gone.
                    let _ = udp.send_to(&answer(&question[..length], &says, false), from);
                }
            }
        });
        let says = server.says.clone();
        std::thread::spawn(move || {
            for stream in tcp.incoming().map_while(Result::ok) {
                // The asker may be gone.
                let _ = over_tcp(stream, &says.lock().expect("it lives"));
            }
        });
        server
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn says(&self, says: Says) {
        *self.says.lock().expect("it lives") = says;
    }

    /// Questions over UDP so far.
    pub(super) fn questions(&self) -> u64 {
        self.questions.load(Ordering::Relaxed)
    }
}

fn over_tcp(mut stream: TcpStream, says: &Says) -> std::io::Result<()> {
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let mut question = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut question)?;
    let answer = answer(&question, says, true);
    stream.write_all(&[&(answer.len() as u16).to_be_bytes()[..], &answer].concat())
}

fn record(owner: &[u8], kind: u16, data: &[u8]) -> Vec<u8> {
    lasting(owner, kind, data, TTL_S)
}

fn lasting(owner: &[u8], kind: u16, data: &[u8], ttl_s: u32) -> Vec<u8> {
    let (kind, class, length) = (kind.to_be_bytes(), 1_u16.to_be_bytes(), (data.len() as u16).to_be_bytes());
    [owner, &kind, &class, &ttl_s.to_be_bytes(), &length, data].concat()
}

fn answer(question: &[u8], says: &Says, is_tcp: bool) -> Vec<u8> {
    let end = 12 + question[12..].iter().position(|byte| *byte == 0).expect("a name") + 5;
    let (name, kind) = (&question[12..end - 4], u16::from_be_bytes([question[end - 4], question[end - 3]]));
    let addresses = |owner: &[u8], all: &[Ipv4Addr]| -> Vec<Vec<u8>> {
        let all = if kind == 1 { all } else { &[] };
        all.iter().map(|address| record(owner, 1, &address.octets())).collect()
    };
    let (mut flags, mut id) = (0x8180_u16, [question[0], question[1]]);
    let records = match says {
        Says::Addresses(all) => addresses(POINTER, all),
        Says::Lasting(all) => {
            let all = if kind == 1 { &all[..] } else { &[] };
            all.iter().map(|address| lasting(POINTER, 1, &address.octets(), DAY_S)).collect()
        }
        Says::Nothing => Vec::new(),
        Says::Truncates(all) if is_tcp => addresses(POINTER, all),
        Says::Truncates(_) => {
            flags |= 0x0200;
            Vec::new()
        }
        Says::Aliases(all) if name == OTHER => addresses(POINTER, all),
        Says::Aliases(all) => {
            let aliases = vec![record(POINTER, 5, ALIAS), record(ALIAS, 5, OTHER)];
            [aliases, addresses(OTHER, all)].concat()
        }
        Says::AliasAlone(all) if name == ALIAS => addresses(POINTER, all),
        Says::AliasAlone(_) => vec![record(POINTER, 5, ALIAS)],
        Says::Circle if name == ALIAS => vec![record(POINTER, 5, OTHER)],
        Says::Circle => vec![record(POINTER, 5, ALIAS)],
        Says::Code(code) => {
            flags |= code;
            Vec::new()
        }
        Says::Lies => {
            id[1] ^= 1;
            addresses(POINTER, &[Ipv4Addr::new(127, 0, 0, 9)])
        }
    };
    let message = |flags: u16, records: &[Vec<u8>]| {
        let counts = [flags, 1, records.len() as u16, 0, 0].map(u16::to_be_bytes).concat();
        [&id[..], &counts, &question[12..end], &records.concat()].concat()
    };
    match message(flags, &records) {
        long if long.len() > UDP_BYTES_MAX && !is_tcp => message(flags | 0x0200, &[]),
        whole => whole,
    }
}
