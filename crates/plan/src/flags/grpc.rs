//! The flags of gRPC: which method is called, what its messages look like, and what is sent.

use std::sync::Arc;
use std::time::Duration;

use super::{
    Address, CONNECT_TIMEOUT_DEFAULT, Flags, Header, MILLI, Scheme, TIMEOUT_DEFAULT, or_default, read_data, read_url,
};
use crate::grpc::{Call, MessageTypes, Reflection, Schema, Shape, format_timeout, read_messages};
use crate::{Checks, HttpVersion, Need, PlanError, Remedy, Request, StatusSet, Step, parse_duration};

/// What go-stress-testing calls; its request has one string, of number 1.
const STRESS_PATH: &str = "/ApiServer/HelloWorld";

/// A method to call.
struct Method<'a> {
    service: &'a str,
    name: &'a str,
}

/// A server has so long to say what its services are, however short the time of a call is.
const REFLECTION_TIME_MIN: Duration = Duration::from_secs(5);

impl Flags {
    /// What the target must be asked before there can be a plan; `None` when the flags say all.
    ///
    /// # Errors
    /// The first thing that is wrong, with its remedy.
    pub fn reflection(&self) -> Result<Option<Reflection>, PlanError> {
        if self.curl.is_some() || self.curl_file.is_some() {
            return Ok(None);
        }
        let address = read_url(self.url.as_deref().ok_or(PlanError::NoUrl)?)?;
        if address.scheme != Scheme::Grpc || self.has_schema() {
            return Ok(None);
        }
        let Some(method) = method_of(&address)? else { return Ok(None) };
        // A call may be given up soon; this question is asked once, before the load.
        let until = self.timeout()?.max(REFLECTION_TIME_MIN);
        self.reflection_of(&address, Some(method.service.to_owned()), until).map(Some)
    }

    /// How a target is asked for its services, or for one of them.
    ///
    /// # Errors
    /// The first thing that is wrong, with its remedy.
    pub fn catalog(&self, symbol: Option<String>) -> Result<Reflection, PlanError> {
        let address = read_url(self.url.as_deref().ok_or(PlanError::NoGrpcUrl)?)?;
        if address.scheme != Scheme::Grpc {
            return Err(PlanError::NotGrpc { url: address.to_string() });
        }
        self.reflection_of(&address, symbol, self.timeout()?)
    }

    fn reflection_of(
        &self,
        address: &Address,
        symbol: Option<String>,
        timeout: Duration,
    ) -> Result<Reflection, PlanError> {
        Ok(Reflection {
            target: self.target(address)?,
            headers: self.metadata(address)?,
            symbol,
            connect_timeout: self.connect_timeout()?,
            timeout,
        })
    }

    pub(super) fn timeout(&self) -> Result<Duration, PlanError> {
        or_default("-t", &self.timeout, TIMEOUT_DEFAULT, MILLI, "1ms")
    }

    pub(super) fn connect_timeout(&self) -> Result<Duration, PlanError> {
        or_default("--connect-timeout", &self.connect_timeout, CONNECT_TIMEOUT_DEFAULT, MILLI, "1ms")
    }

    /// Messages are described by files.
    pub fn has_schema(&self) -> bool {
        !self.protos.is_empty() || !self.protosets.is_empty()
    }

    /// What the files say that the flags name; `None` when they name none.
    ///
    /// # Errors
    /// A file is missing or wrong.
    pub fn schema(&self) -> Result<Option<Schema>, PlanError> {
        match (self.protos.is_empty(), self.protosets.is_empty()) {
            (false, false) => {
                let remedy = Remedy::OneSchema;
                Err(PlanError::Conflict { one: "--proto", other: "--protoset", remedy })
            }
            (false, true) => Schema::of_protos(&self.protos, &self.import_paths).map(Some),
            (true, _) if !self.import_paths.is_empty() => {
                Err(PlanError::Needs { flag: "--import-path", needed: Need::Proto })
            }
            (true, false) => Schema::of_sets(&self.protosets).map(Some),
            (true, true) => Ok(None),
        }
    }

    /// What belongs to gRPC is not given.
    pub(super) fn refuse_grpc_flags(&self) -> Result<(), PlanError> {
        let given = [
            ("--proto", !self.protos.is_empty()),
            ("--import-path", !self.import_paths.is_empty()),
            ("--protoset", !self.protosets.is_empty()),
            ("--message-interval", self.message_interval.is_some()),
            ("--grpc-encoding", self.grpc_encoding.is_some()),
        ];
        let flag = given.iter().find(|(_, is_given)| *is_given);
        flag.map_or(Ok(()), |(flag, _)| Err(PlanError::Needs { flag, needed: Need::Grpc }))
    }

    /// A call as a step. `described`: what the target said of itself.
    pub(super) fn call_step(&self, address: &Address, described: Option<&Schema>) -> Result<Step, PlanError> {
        for (one, is_given) in [("-X", self.method.is_some()), ("--http1.0", self.http10), ("--http1.1", self.http11)] {
            if is_given {
                return Err(PlanError::Conflict { one, other: "grpc://", remedy: Remedy::GrpcIsHttp2 });
            }
        }
        let is_asked = self.expect_status.is_some();
        let status = self.expect_status.as_deref().map_or(Ok(StatusSet::grpc_ok()), StatusSet::parse_grpc)?;
        let files = self.schema()?;
        let call = self.call(address, files.as_ref().or(described))?;
        let path = if method_of(address)?.is_some() { address.url.path() } else { STRESS_PATH }.to_owned();
        let request = Request {
            method: "POST".to_owned(),
            path,
            version: HttpVersion::Http11,
            headers: self.metadata(address)?,
            body: Vec::new(),
        };
        Ok(Step {
            name: request.path.clone(),
            request,
            call: Some(call),
            talk: None,
            target: 0,
            follow: None,
            pause: Duration::ZERO,
            is_shown: false,
            checks: Checks { status, ..self.content_checks(is_asked)? },
            timeout: self.timeout()?,
            connect_timeout: self.connect_timeout()?,
            keep_alive: !self.no_keepalive,
        })
    }

    fn call(&self, address: &Address, schema: Option<&Schema>) -> Result<Call, PlanError> {
        let data = self.data.as_deref().map(read_data).transpose()?;
        let text = match data {
            Some(bytes) => Some(String::from_utf8(bytes).map_err(|_| PlanError::DataNotText)?),
            None => None,
        };
        let is_gzipped = match self.grpc_encoding.as_deref() {
            None | Some("identity") => false,
            Some("gzip") => true,
            Some(other) => {
                let (flag, choices) = ("--grpc-encoding", "gzip, identity");
                return Err(PlanError::Choice { flag, value: other.to_owned(), choices });
            }
        };
        let interval = self.message_interval.as_deref().map(|text| parse_duration("--message-interval", text));
        let interval = interval.transpose()?;
        let (messages, is_stream, answer, types) = match method_of(address)? {
            None => (vec![stress_message(text.as_deref().unwrap_or_default())], (false, false), None, None),
            Some(method) => {
                let schema = schema.ok_or_else(|| PlanError::NoSchema { service: method.service.to_owned() })?;
                let method = schema.method(method.service, method.name)?;
                // Nothing said is a message that says nothing.
                let messages = read_messages(text.as_deref().unwrap_or("{}"), &method)?;
                let answer = Arc::new(Shape::of(&method.output()));
                let is_stream = (method.is_client_streaming(), method.is_server_streaming());
                (messages, is_stream, Some(answer), Some(MessageTypes::of(&method)))
            }
        };
        let (sends_stream, answers_stream) = is_stream;
        if interval.is_some() && !sends_stream {
            return Err(PlanError::Needs { flag: "--message-interval", needed: Need::ClientStream });
        }
        let interval = interval.unwrap_or_default();
        Ok(Call { messages, interval, is_gzipped, sends_stream, answers_stream, answer, types })
    }

    /// What goes with the call: what gRPC wants, and what the user says.
    fn metadata(&self, address: &Address) -> Result<Vec<(String, Vec<u8>)>, PlanError> {
        let asked = self.headers.iter().map(|text| Header::parse(text)).collect::<Result<Vec<_>, _>>()?;
        let mut usual = vec![
            ("host", address.host_and_port()),
            ("user-agent", self.user_agent.clone()),
            ("te", "trailers".to_owned()),
            ("content-type", "application/grpc".to_owned()),
        ];
        if self.grpc_encoding.as_deref() == Some("gzip") {
            usual.extend([("grpc-encoding", "gzip".to_owned()), ("grpc-accept-encoding", "identity,gzip".to_owned())]);
        }
        if self.timeout.is_some() {
            usual.push(("grpc-timeout", format_timeout(self.timeout()?)));
        }
        usual.retain(|(name, _)| !asked.iter().any(|header| header.name.eq_ignore_ascii_case(name)));
        let usual = usual.into_iter().map(|(name, value)| (name.to_owned(), value.into_bytes()));
        Ok(usual.chain(asked.into_iter().filter_map(|header| Some((header.name, header.value?)))).collect())
    }
}

/// A message with one string, of number 1.
fn stress_message(text: &str) -> Vec<u8> {
    let mut message = Vec::new();
    if !text.is_empty() {
        message.push(0x0a);
        prost_reflect::prost::encoding::encode_varint(text.len() as u64, &mut message);
        message.extend_from_slice(text.as_bytes());
    }
    message
}

/// The method that a URL names; `None` when it names none at all.
fn method_of(address: &Address) -> Result<Option<Method<'_>>, PlanError> {
    let path = address.url.path();
    let wrong = || PlanError::GrpcPath { path: path.to_owned() };
    if address.url.query().is_some() {
        return Err(wrong());
    }
    if path == "/" {
        return Ok(None);
    }
    match path.strip_prefix('/').and_then(|path| path.split_once('/')) {
        Some((service, name)) if !service.is_empty() && !name.is_empty() && !name.contains('/') => {
            Ok(Some(Method { service, name }))
        }
        _ => Err(wrong()),
    }
}
