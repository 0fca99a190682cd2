//! Questions to name servers: both kinds of addresses over UDP, and over TCP what does not fit.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use wire::dns::{AddressKind, Answer, Question};

/// How long one server may take before the next is asked.
const SERVER_TIME_MAX: Duration = Duration::from_millis(1_500);
/// Times that each server is asked.
const ROUNDS: usize = 2;
/// Aliases that are asked for, one after the other.
const ALIASES_MAX: usize = 8;
const UDP_BYTES_MAX: usize = 65_535;
/// Messages that are no answers to the question, before the server counts as silent: a flood of them ends.
const OTHERS_MAX: usize = 10_000;

/// The addresses of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Records {
    pub(crate) addresses: Vec<IpAddr>,
    /// How long they are valid.
    pub(super) ttl: Duration,
}

/// Why there are no addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LookupFault {
    /// The name does not exist, or has no address.
    NoName,
    /// No server has an answer.
    Server(String),
}

/// Asks servers for the addresses of the first of some names that exists.
pub(super) fn ask(servers: &[SocketAddr], names: &[String], until: Instant) -> Result<Records, LookupFault> {
    let mut last = LookupFault::NoName;
    for name in names {
        match ask_for(servers, name, until) {
            Ok(records) => return Ok(records),
            Err(fault) => last = fault,
        }
    }
    Err(last)
}

/// Both kinds of addresses of a name.
fn ask_for(servers: &[SocketAddr], name: &str, until: Instant) -> Result<Records, LookupFault> {
    let kinds = [AddressKind::V4, AddressKind::V6];
    let answers = std::thread::scope(|scope| {
        let lookups = kinds.map(|kind| scope.spawn(move || resolve(servers, name, kind, until)));
        lookups.map(|answer| answer.join().unwrap_or_else(|_| Err(LookupFault::Server("no answer".to_owned()))))
    });
    let mut found: Option<Records> = None;
    let mut fault = LookupFault::NoName;
    for answer in answers {
        match answer {
            Ok(records) => match &mut found {
                None => found = Some(records),
                Some(all) => {
                    all.addresses.extend(records.addresses);
                    all.ttl = all.ttl.min(records.ttl);
                }
            },
            Err(LookupFault::NoName) => {}
            Err(other) => fault = other,
        }
    }
    found.ok_or(fault)
}

/// One kind of addresses of a name, through its aliases.
fn resolve(servers: &[SocketAddr], name: &str, kind: AddressKind, until: Instant) -> Result<Records, LookupFault> {
    let (mut name, mut ttl) = (name.to_owned(), u32::MAX);
    for _ in 0..ALIASES_MAX {
        match ask_servers(servers, &name, kind, until)? {
            Answer::Addresses(addresses, valid) => {
                return Ok(Records { addresses, ttl: Duration::from_secs(ttl.min(valid).into()) });
            }
            Answer::Alias(other, valid) => (name, ttl) = (other, ttl.min(valid)),
            _ => return Err(LookupFault::NoName),
        }
    }
    Err(LookupFault::Server(format!("'{name}' is an alias of an alias, without an end")))
}

fn ask_servers(servers: &[SocketAddr], name: &str, kind: AddressKind, until: Instant) -> Result<Answer, LookupFault> {
    let mut reason = "no name server".to_owned();
    for server in std::iter::repeat_n(servers, ROUNDS).flatten() {
        let question = Question::new(random_id(), name, kind).ok_or(LookupFault::NoName)?;
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        let until = Instant::now() + left.min(SERVER_TIME_MAX);
        let answer = over_udp(*server, &question, until).and_then(|answer| match answer {
            Answer::Truncated => over_tcp(*server, &question, until),
            answer => Ok(answer),
        });
        match answer {
            Ok(Answer::Refused(code)) => reason = format!("{server} answers with {}", code_name(code)),
            Ok(Answer::Truncated) => reason = format!("{server} gives no complete answer"),
            Ok(answer) => return Ok(answer),
            Err(error) => reason = format!("{server}: {error}"),
        }
    }
    Err(LookupFault::Server(reason))
}

fn over_udp(server: SocketAddr, question: &Question, until: Instant) -> io::Result<Answer> {
    let any: IpAddr = if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    // The kernel drops what others send.
    socket.connect(server)?;
    socket.send(&question.message())?;
    let mut message = vec![0; UDP_BYTES_MAX];
    for _ in 0..OTHERS_MAX {
        let length = read_before(
            || left(until),
            |left| {
                socket.set_read_timeout(Some(left))?;
                socket.recv(&mut message)
            },
        )?;
        if let Ok(answer) = question.read(&message[..length]) {
            return Ok(answer);
        }
    }
    Err(silence())
}

fn over_tcp(server: SocketAddr, question: &Question, until: Instant) -> io::Result<Answer> {
    let mut stream = TcpStream::connect_timeout(&server, left(until)?)?;
    let message = question.message();
    stream.set_write_timeout(Some(left(until)?))?;
    stream.write_all(&[&(message.len() as u16).to_be_bytes()[..], &message].concat())?;
    let mut length = [0; 2];
    read_until(&mut stream, &mut length, until)?;
    let mut answer = vec![0; usize::from(u16::from_be_bytes(length))];
    read_until(&mut stream, &mut answer, until)?;
    question.read(&answer).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "no answer to the question"))
}

/// Fills a buffer, however slowly the bytes come.
fn read_until(stream: &mut TcpStream, mut buffer: &mut [u8], until: Instant) -> io::Result<()> {
    while !buffer.is_empty() {
        let count = read_before(
            || left(until),
            |left| {
                stream.set_read_timeout(Some(left))?;
                stream.read(buffer)
            },
        )?;
        match count {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => buffer = &mut buffer[count..],
        }
    }
    Ok(())
}

fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(silence()) } else { Ok(left) }
}

fn silence() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "no answer")
}

/// Reads, with what is left of the time as the limit. A read with a limit is interrupted when the process is stopped and
/// goes on; a read that timed out has an error of its own on each system.
fn read_before(
    left: impl Fn() -> io::Result<Duration>,
    mut read: impl FnMut(Duration) -> io::Result<usize>,
) -> io::Result<usize> {
    loop {
        match read(left()?) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                return Err(silence());
            }
            done => return done,
        }
    }
}

/// A number that others cannot guess: with it and the port of the socket an answer is known to be one.
fn random_id() -> u16 {
    RandomState::new().build_hasher().finish() as u16
}

/// The name of a response code.
fn code_name(code: u8) -> String {
    match code {
        1 => "FORMERR".to_owned(),
        2 => "SERVFAIL".to_owned(),
        4 => "NOTIMP".to_owned(),
        5 => "REFUSED".to_owned(),
        code => format!("code {code}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_is_interrupted_goes_on_until_its_time_is_up() {
        let more = || Ok(Duration::from_secs(1));
        let mut results = [Err(io::ErrorKind::Interrupted.into()), Ok(7)].into_iter();
        assert_eq!(read_before(more, |_| results.next().expect("two are enough")).expect("something came"), 7);
        let none = read_before(more, |_| Err(io::ErrorKind::WouldBlock.into())).expect_err("nothing came");
        assert_eq!(none.kind(), io::ErrorKind::TimedOut);
        let late = read_before(|| Err(silence()), |_| Ok(7)).expect_err("its time is up");
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
    }
}
