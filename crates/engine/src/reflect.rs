//! gRPC server reflection: queries a target for its services before a run, on one blocking connection.

mod received;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use metrics::GRPC_STATUSES;
use plan::{Reflection, SCHEMA_BYTES_MAX, missing_imports};
use prost::Message;
use wire::grpc::reflection::{PATHS, Question, ReflectionBody, Request, Response};
use wire::grpc::{Status, push_message};
use wire::hpack::FieldList;
use wire::http2::{Client, Event};
use wire::tls::{ClientConfig, Refused, Session};

use crate::scenario_runtime::http2_fields;
use crate::{ResolveError, TlsError, client_tls, faults, resolve};
use received::Received;

/// Most files that one symbol may need.
const FILES_MAX: usize = 10_000;
const BUFFER_BYTES: usize = 64 * 1024;
/// Cost of a response beside its bytes.
const RESPONSE_BYTES: u64 = 64;

/// Why the services of a target are not known.
#[derive(Debug, thiserror::Error)]
pub enum ReflectError {
    /// Its name does not resolve.
    #[error("{0}")]
    Resolve(#[from] ResolveError),
    /// The TLS settings are invalid.
    #[error("{0}")]
    Settings(#[from] TlsError),
    /// The connection failed.
    #[error(
        "cannot ask {address} for its services: {reason}; start the server, check address and port (with TLS: grpcs://), or describe them with --proto FILE"
    )]
    Connection {
        /// Address that was tried.
        address: SocketAddr,
        /// Error of the system.
        reason: std::io::Error,
    },
    /// TLS handshake failed.
    #[error("no TLS session with {address}: {}", .fault.name())]
    Tls {
        /// Address of the target.
        address: SocketAddr,
        /// The TLS fault.
        fault: metrics::TlsFault,
        /// The certificate, when it was refused.
        refused: Option<Box<Refused>>,
    },
    /// It did not respond in time.
    #[error(
        "{address} did not say within {limit:?} what services it has; it may not speak gRPC; check the port, raise -t, or describe them with --proto FILE"
    )]
    TimedOut {
        /// Address of the target.
        address: SocketAddr,
        /// The time limit.
        limit: Duration,
    },
    /// It closed, or sent something that is no gRPC response.
    #[error(
        "{address} gave no answer of gRPC ({reason}); check that the port speaks gRPC, with TLS for grpcs:// and without for grpc://"
    )]
    Broken {
        /// Address of the target.
        address: SocketAddr,
        /// What came instead.
        reason: String,
    },
    /// It has no reflection.
    #[error("{address} does not offer server reflection; describe its services with --proto FILE or --protoset FILE")]
    Refused {
        /// Address of the target.
        address: SocketAddr,
    },
    /// It responds with an error status.
    #[error(
        "{address} refuses server reflection with {status} ({message}); give metadata with -H, or describe its services with --proto FILE"
    )]
    Status {
        /// Address of the target.
        address: SocketAddr,
        /// The name of the status.
        status: &'static str,
        /// The status message.
        message: String,
    },
    /// It does not know the requested symbol.
    #[error("{address} knows no '{symbol}'; it has: {known}")]
    NoSymbol {
        /// Address of the target.
        address: SocketAddr,
        /// The requested symbol.
        symbol: String,
        /// Services that it has.
        known: String,
    },
    /// The description is too large.
    #[error("{address} describes more than {most} bytes or {FILES_MAX} files; describe the service with --proto FILE")]
    TooLarge {
        /// Address of the target.
        address: SocketAddr,
        /// Limit: [`SCHEMA_BYTES_MAX`].
        most: u64,
    },
}

/// The names of all services of a target, in order.
///
/// # Errors
/// It cannot be queried, or does not respond.
pub fn list_services(reflection: &Reflection) -> Result<Vec<String>, ReflectError> {
    Asker::connect(reflection)?.services()
}

/// The names of all services, and the files that describe them, with all imports.
///
/// # Errors
/// It cannot be queried, or does not respond.
pub fn describe_all(reflection: &Reflection) -> Result<(Vec<String>, Vec<Vec<u8>>), ReflectError> {
    let mut asker = Asker::connect(reflection)?;
    let (names, mut files) = (asker.services()?, Vec::new());
    for name in &names {
        for file in asker.files(name)? {
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    Ok((names, files))
}

/// The files that describe a symbol, with all imports.
///
/// # Errors
/// It cannot be queried, or does not know the symbol.
pub fn describe(reflection: &Reflection, symbol: &str) -> Result<Vec<Vec<u8>>, ReflectError> {
    Asker::connect(reflection)?.files(symbol)
}

fn open(address: SocketAddr, wait: Duration) -> Result<TcpStream, ReflectError> {
    let stream = TcpStream::connect_timeout(&address, wait);
    let ready = stream.and_then(|stream| stream.set_nodelay(true).map(|()| stream));
    ready.map_err(|reason| ReflectError::Connection { address, reason })
}

/// A reflection client: sends queries one after the other.
struct Asker<'a> {
    reflection: &'a Reflection,
    address: SocketAddr,
    stream: TcpStream,
    tls: Option<(ClientConfig, Session)>,
    http2: Client,
    until: Instant,
    /// Index in [`PATHS`] of the version that the target supports.
    version: usize,
    /// Received bytes that are not processed yet.
    plain: Vec<u8>,
    /// Bytes that may still come as responses.
    left_bytes: u64,
}

/// The end of a response.
struct ResponseEnd {
    status: Option<Status>,
    message: String,
    responses: Vec<Response>,
}

impl<'a> Asker<'a> {
    fn connect(reflection: &'a Reflection) -> Result<Self, ReflectError> {
        let tls = client_tls(&reflection.target)?;
        let address = resolve(&reflection.target, reflection.connect_timeout)?.address;
        let stream = open(address, reflection.connect_timeout)?;
        let until = Instant::now() + reflection.timeout;
        let (http2, plain, left_bytes) = (Client::default(), Vec::new(), SCHEMA_BYTES_MAX);
        let mut asker = Self { reflection, address, stream, tls: None, http2, until, version: 0, plain, left_bytes };
        asker.begin(tls)?;
        Ok(asker)
    }

    fn begin(&mut self, tls: Option<ClientConfig>) -> Result<(), ReflectError> {
        if let Some(config) = tls {
            self.shake_hands(config)?;
        }
        let mut out = Vec::new();
        self.http2.start(&mut out);
        self.send(&out)
    }

    /// Reconnects: the target takes no more queries on this connection.
    fn connect_again(&mut self) -> Result<(), ReflectError> {
        let wait = self.reflection.connect_timeout.min(self.left()?);
        self.stream = open(self.address, wait)?;
        self.http2 = Client::default();
        self.plain.clear();
        let tls = self.tls.take().map(|(config, _)| config);
        self.begin(tls)
    }

    fn broken(&self, reason: &str) -> ReflectError {
        ReflectError::Broken { address: self.address, reason: reason.to_owned() }
    }

    fn insecure(&self, fault: metrics::TlsFault) -> ReflectError {
        ReflectError::Tls { address: self.address, fault, refused: None }
    }

    fn shake_hands(&mut self, config: ClientConfig) -> Result<(), ReflectError> {
        let mut flight = Vec::new();
        let begun = config.session().and_then(|mut session| session.start(&mut flight).map(|()| session));
        self.tls = match begun {
            Ok(session) => Some((config, session)),
            Err(fault) => return Err(self.insecure(faults::tls_fault(fault))),
        };
        self.write(&flight)?;
        while self.tls.as_ref().is_some_and(|(_, session)| session.is_handshaking()) {
            if !self.receive()? {
                return Err(self.insecure(metrics::TlsFault::ClosedEarly));
            }
        }
        match self.tls.as_ref().and_then(|(_, session)| session.alpn()) {
            Some(b"h2") => Ok(()),
            _ => Err(self.insecure(metrics::TlsFault::NoProtocol)),
        }
    }

    fn left(&self) -> Result<Duration, ReflectError> {
        let left = self.until.saturating_duration_since(Instant::now());
        let (address, limit) = (self.address, self.reflection.timeout);
        if left.is_zero() { Err(ReflectError::TimedOut { address, limit }) } else { Ok(left) }
    }

    fn reported(&self, error: std::io::Error) -> ReflectError {
        match error.kind() {
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => {
                ReflectError::TimedOut { address: self.address, limit: self.reflection.timeout }
            }
            _ => ReflectError::Connection { address: self.address, reason: error },
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ReflectError> {
        let left = self.left()?;
        self.stream
            .set_write_timeout(Some(left))
            .and_then(|()| self.stream.write_all(bytes))
            .map_err(|error| self.reported(error))
    }

    fn send(&mut self, plain: &[u8]) -> Result<(), ReflectError> {
        let Some((_, session)) = &mut self.tls else { return self.write(plain) };
        let mut sealed = Vec::new();
        if session.seal(plain, &mut sealed).is_err() {
            return Err(self.broken("the TLS session is closed"));
        }
        self.write(&sealed)
    }

    /// Waits for bytes. False when there will be none.
    fn receive(&mut self) -> Result<bool, ReflectError> {
        let mut buffer = vec![0; BUFFER_BYTES];
        let count = loop {
            let left = self.left()?;
            match self.stream.set_read_timeout(Some(left)).and_then(|()| self.stream.read(&mut buffer)) {
                Ok(count) => break count,
                // The system does not restart a read with a time limit when the process was halted for a moment.
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.reported(error)),
            }
        };
        let Some((config, session)) = &mut self.tls else {
            self.plain.extend_from_slice(&buffer[..count]);
            return Ok(count > 0);
        };
        let mut back = Vec::new();
        let fed = session.feed(&mut buffer[..count], &mut self.plain, &mut back);
        if let Err(fault) = fed {
            let (fault, refused) = (faults::tls_fault(fault), config.refused().map(Box::new));
            // The alert gives the reason; a failure to send it changes nothing.
            let _ = self.write(&back);
            return Err(ReflectError::Tls { address: self.address, fault, refused });
        }
        if !back.is_empty() {
            self.write(&back)?;
        }
        Ok(count > 0)
    }

    /// Sends one query, on a stream of its own; both versions are tried.
    fn ask(&mut self, question: &Question) -> Result<Vec<Response>, ReflectError> {
        loop {
            let ended = self.call(PATHS[self.version], question)?;
            match ended.status {
                Some(Status::OK) => return Ok(ended.responses),
                Some(Status::UNIMPLEMENTED) if self.version + 1 < PATHS.len() => self.version += 1,
                Some(Status::UNIMPLEMENTED) => return Err(ReflectError::Refused { address: self.address }),
                Some(status) => {
                    return Err(ReflectError::Status {
                        address: self.address,
                        status: GRPC_STATUSES[status.index()],
                        message: ended.message,
                    });
                }
                None => return Err(self.broken("no grpc-status")),
            }
        }
    }

    fn call(&mut self, path: &str, question: &Question) -> Result<ResponseEnd, ReflectError> {
        let (host, question) = (String::new(), Some(question.clone()));
        let mut body = Vec::new();
        push_message(&Request { host, question }.encode_to_vec(), false, &mut body);
        let fields = http2_fields("POST", path, &self.headers(), self.reflection.target.tls.is_some());
        let fields = fields.iter().map(|(name, value)| (name.as_slice(), value.as_slice()));
        // One number for each version: its fields are the same each time.
        let request = wire::http2::Request::new(self.version as u32, fields, body);
        while !self.http2.can_send() {
            if self.http2.is_used_up() {
                self.connect_again()?;
            } else if !self.step(&mut Received::default())? {
                return Err(self.broken("it closed the connection"));
            }
        }
        let mut out = Vec::new();
        let stream = self.http2.send(&request, 0, &mut out);
        self.send(&out)?;
        let mut received = Received { stream, left_bytes: self.left_bytes, ..Received::default() };
        while !received.is_over {
            if !self.step(&mut received)? {
                return Err(self.broken("it closed the connection"));
            }
        }
        self.left_bytes = received.left_bytes;
        if let Some(status) = received.http_status.filter(|status| *status != 200) {
            return Err(self.broken(&format!("HTTP status {status}")));
        }
        Ok(ResponseEnd { status: received.status, message: received.message, responses: received.responses })
    }

    /// Headers of a query: it is not compressed, and has a timeout of its own.
    fn headers(&self) -> Vec<(String, Vec<u8>)> {
        let is_ours = |name: &str| ["grpc-encoding", "grpc-timeout"].iter().any(|own| name.eq_ignore_ascii_case(own));
        self.reflection.headers.iter().filter(|(name, _)| !is_ours(name)).cloned().collect()
    }

    /// Waits for bytes and processes them. False when there will be none.
    fn step(&mut self, received: &mut Received) -> Result<bool, ReflectError> {
        if self.plain.is_empty() && !self.receive()? {
            return Ok(false);
        }
        let (plain, mut fields, mut out) = (std::mem::take(&mut self.plain), FieldList::default(), Vec::new());
        let mut rest = &plain[..];
        let mut fault = None;
        loop {
            match self.http2.handle(rest, &mut fields, &mut out) {
                Ok((taken, event)) => {
                    rest = &rest[taken..];
                    let is_done = matches!(event, Event::NeedMore) && rest.is_empty();
                    received.take(&event);
                    self.http2.resume(&mut out);
                    if is_done || received.is_over {
                        break;
                    }
                }
                Err(error) => {
                    fault = Some(error.to_string());
                    break;
                }
            }
        }
        self.plain = rest.to_vec();
        if !out.is_empty() {
            self.send(&out)?;
        }
        if received.is_too_large {
            return Err(ReflectError::TooLarge { address: self.address, most: SCHEMA_BYTES_MAX });
        }
        match fault.or(received.fault.take()) {
            Some(reason) => Err(self.broken(&reason)),
            None => Ok(true),
        }
    }

    fn services(&mut self) -> Result<Vec<String>, ReflectError> {
        let responses = self.ask(&Question::ListServices(String::new()))?;
        let mut names = Vec::new();
        for response in responses {
            match response.said {
                Some(ReflectionBody::Services(services)) => {
                    names.extend(services.service.into_iter().map(|service| service.name))
                }
                Some(ReflectionBody::Error(refusal)) => {
                    return Err(self.refusal(refusal.error_code, refusal.error_message));
                }
                _ => {}
            }
        }
        names.sort();
        Ok(names)
    }

    fn refusal(&self, code: i32, message: String) -> ReflectError {
        let status = Status::from_number(u32::try_from(code).unwrap_or(u32::MAX));
        ReflectError::Status { address: self.address, status: GRPC_STATUSES[status.index()], message }
    }

    fn files(&mut self, symbol: &str) -> Result<Vec<Vec<u8>>, ReflectError> {
        let (mut files, mut bytes) = (Vec::new(), 0);
        let mut questions = vec![Question::FileContainingSymbol(symbol.to_owned())];
        while let Some(question) = questions.pop() {
            for response in self.ask(&question)? {
                match response.said {
                    Some(ReflectionBody::DescriptorFiles(found)) => files.extend(found.files),
                    Some(ReflectionBody::Error(refusal)) if refusal.error_code == Status::NOT_FOUND.index() as i32 => {
                        let Question::FileContainingSymbol(symbol) = question else {
                            return Err(self.refusal(refusal.error_code, refusal.error_message));
                        };
                        let known = self.services().map_or("-".to_owned(), |names| names.join(", "));
                        return Err(ReflectError::NoSymbol { address: self.address, symbol, known });
                    }
                    Some(ReflectionBody::Error(refusal)) => {
                        return Err(self.refusal(refusal.error_code, refusal.error_message));
                    }
                    _ => {}
                }
            }
            bytes = files.iter().map(|file: &Vec<u8>| file.len() as u64).sum::<u64>().max(bytes);
            if files.len() > FILES_MAX || bytes > SCHEMA_BYTES_MAX {
                return Err(ReflectError::TooLarge { address: self.address, most: SCHEMA_BYTES_MAX });
            }
            if questions.is_empty() {
                let missing = missing_imports(&files).map_err(|error| self.broken(&error.to_string()))?;
                if let Question::FileByFilename(requested) = &question
                    && missing.contains(requested)
                {
                    return Err(self.broken(&format!("it does not have '{requested}', which another file imports")));
                }
                questions.extend(missing.into_iter().map(Question::FileByFilename));
            }
        }
        Ok(files)
    }
}
