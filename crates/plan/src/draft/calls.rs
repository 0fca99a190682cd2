//! gRPC calls: the method, the format of its messages, and the messages.

use std::sync::Arc;
use std::time::Duration;

use super::Draft;
use crate::grpc::{Call, MessageTypes, Reflection, Schema, Shape, format_timeout, read_messages};
use crate::text::check_span_max;
use crate::{Address, HttpVersion, Need, PlanError, Remedy, Request, StatusSet, Step, Version};

/// Options of gRPC calls. Files are named by their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOptions {
    /// `.proto` files.
    pub protos: Vec<String>,
    /// Folders of imported `.proto` files.
    pub import_paths: Vec<String>,
    /// Compiled descriptor sets.
    pub protosets: Vec<String>,
    /// The time between the messages of a stream.
    pub interval: Option<Duration>,
    /// Whether messages are compressed; `None`: not given.
    pub gzip: Option<bool>,
}

/// The method that go-stress-testing calls; its request has one string, of number 1.
const STRESS_PATH: &str = "/ApiServer/HelloWorld";

/// A method to call.
struct Method<'a> {
    service: &'a str,
    name: &'a str,
}

/// The least timeout of a reflection query, however short that of a call is.
const REFLECTION_TIME_MIN: Duration = Duration::from_secs(5);

impl Draft {
    /// The query that the target must answer before there can be a plan; `None` when the flags are sufficient.
    ///
    /// # Errors
    /// The first error, with its remedy.
    pub fn reflection(&self) -> Result<Option<Reflection>, PlanError> {
        if self.commands.is_some() {
            return Ok(None);
        }
        let address = self.url.as_ref().ok_or(PlanError::NoUrl)?;
        if !address.is_grpc() || self.request.call.has_schema() {
            return Ok(None);
        }
        let Some(method) = method_of(address)? else { return Ok(None) };
        // A call may have a short timeout; this query is sent once, before the load.
        let until = self.request.timeout()?.max(REFLECTION_TIME_MIN);
        self.reflection_of(address, Some(method.service.to_owned()), until, true).map(Some)
    }

    /// The query for the services of a target, or for one of them.
    ///
    /// # Errors
    /// The first error, with its remedy.
    pub fn catalog(&self, symbol: Option<String>) -> Result<Reflection, PlanError> {
        let address = self.url.as_ref().ok_or(PlanError::NoGrpcUrl)?;
        if !address.is_grpc() {
            return Err(PlanError::NotGrpc { url: address.to_string() });
        }
        self.reflection_of(address, symbol, self.request.timeout()?, false)
    }

    fn reflection_of(
        &self,
        address: &Address,
        symbol: Option<String>,
        timeout: Duration,
        is_of_load: bool,
    ) -> Result<Reflection, PlanError> {
        let mut target = self.target(address)?;
        if target.proxy.is_some() || target.proxy_header.is_some() {
            let flag = if target.proxy.is_some() { "--proxy" } else { "--proxy-protocol" };
            return Err(PlanError::Needs { flag, needed: Need::Schema });
        }
        // The query precedes the load, and is subject to the same target policy.
        let load = if is_of_load { Some(self.load.to_load(timeout)?) } else { None };
        target.target_policy = self.target_policy(load.as_ref().is_some_and(crate::Load::wants_consent));
        Ok(Reflection {
            target,
            headers: self.metadata(address)?,
            symbol,
            connect_timeout: self.connection.connect_timeout()?,
            timeout,
            load,
        })
    }

    /// A call as a step. `described`: the schema that the target returned.
    pub(super) fn call_step(&self, address: &Address, described: Option<&Schema>) -> Result<Step, PlanError> {
        let version = self.connection.version.filter(|version| *version != Version::Http2);
        let one = if self.request.method.is_some() { Some("-X") } else { version.map(Version::flag) };
        if let Some(one) = one {
            return Err(PlanError::Conflict { one, other: "grpc://", remedy: Remedy::GrpcIsHttp2 });
        }
        let requested = self.responses.status.clone();
        let is_requested = requested.is_some();
        let files = self.request.call.schema()?;
        let call = self.call(address, files.as_ref().or(described))?;
        let path = if method_of(address)?.is_some() { address.url.path() } else { STRESS_PATH }.to_owned();
        let request = Request {
            method: "POST".to_owned(),
            path,
            version: HttpVersion::Http11,
            headers: self.metadata(address)?,
            body: crate::BodyBytes::default(),
        };
        Ok(Step {
            dynamic_parts: None,
            name: request.path.clone(),
            request,
            call: Some(call),
            messaging: None,
            target: 0,
            follow: None,
            is_shown: false,
            checks: self.responses.checks_with(requested.unwrap_or_else(StatusSet::grpc_ok), is_requested),
            timeout: self.request.timeout()?,
            deadline: self.request.deadline()?,
            tags: Vec::new(),
            at_origins: Vec::new(),
            connect_timeout: self.connection.connect_timeout()?,
            keep_alive: !self.connection.no_keepalive,
            retries: !self.connection.no_retry,
        })
    }

    fn call(&self, address: &Address, schema: Option<&Schema>) -> Result<Call, PlanError> {
        let text = match self.request.read_body()? {
            Some(bytes) => Some(String::from_utf8(bytes.into_vec()).map_err(|_| PlanError::DataNotText)?),
            None => None,
        };
        let CallOptions { interval, gzip, .. } = self.request.call;
        let (messages, is_stream, response, types) = match method_of(address)? {
            None => (vec![stress_message(text.as_deref().unwrap_or_default())], (false, false), None, None),
            Some(method) => {
                let schema = schema.ok_or_else(|| PlanError::NoSchema { service: method.service.to_owned() })?;
                let method = schema.method(method.service, method.name)?;
                // Without data an empty message is sent.
                let messages = read_messages(text.as_deref().unwrap_or("{}"), &method);
                let messages = messages.map_err(|error| self.with_source(error, address))?;
                let response = Arc::new(Shape::new(&method.output()));
                let is_stream = (method.is_client_streaming(), method.is_server_streaming());
                (messages, is_stream, Some(response), Some(MessageTypes::new(&method)))
            }
        };
        if types.is_none() && !self.responses.json.is_empty() {
            return Err(PlanError::Needs { flag: "--expect-json", needed: Need::Method });
        }
        let (sends_stream, responses_stream) = is_stream;
        if interval.is_some() && !sends_stream {
            return Err(PlanError::Needs { flag: "--message-interval", needed: Need::ClientStream });
        }
        let interval = check_span_max("--message-interval", interval.unwrap_or_default())?;
        let is_gzipped = gzip == Some(true);
        Ok(Call { messages, interval, is_gzipped, sends_stream, responses_stream, response, types })
    }

    /// An error in a message, with the arguments that `onrush grpc describe` needs to show its fields.
    fn with_source(&self, mut error: PlanError, address: &Address) -> PlanError {
        if let PlanError::Json { source_words, .. } = &mut error {
            let options = &self.request.call;
            let files = options.protos.iter().map(|file| format!("--proto {file}"));
            let folders = options.import_paths.iter().map(|folder| format!("--import-path {folder}"));
            let sets = options.protosets.iter().map(|file| format!("--protoset {file}"));
            let words: Vec<String> = files.chain(folders).chain(sets).collect();
            *source_words = match words.is_empty() {
                false => words.join(" "),
                true => {
                    let insecure = if self.connection.security.insecure { "-k " } else { "" };
                    let scheme = if address.is_tls() { "grpcs" } else { "grpc" };
                    format!("{insecure}{scheme}://{}", address.host_header())
                }
            };
        }
        error
    }

    /// The metadata of the call: what gRPC requires, and that of the user.
    fn metadata(&self, address: &Address) -> Result<Vec<(String, Vec<u8>)>, PlanError> {
        let request = &self.request;
        let mut usual = vec![
            ("host", address.host_and_port()),
            ("user-agent", request.user_agent.clone()),
            ("te", "trailers".to_owned()),
            ("content-type", "application/grpc".to_owned()),
        ];
        if request.call.gzip == Some(true) {
            usual.extend([("grpc-encoding", "gzip".to_owned()), ("grpc-accept-encoding", "identity,gzip".to_owned())]);
        }
        if request.timeout.is_some() {
            usual.push(("grpc-timeout", format_timeout(request.timeout()?)));
        }
        usual.retain(|(name, value)| !request.has(name) && !value.is_empty());
        let usual = usual.into_iter().map(|(name, value)| (name.to_owned(), value.into_bytes()));
        Ok(usual.chain(request.said()).collect())
    }
}

impl CallOptions {
    /// Whether messages are described by files.
    pub fn has_schema(&self) -> bool {
        !self.protos.is_empty() || !self.protosets.is_empty()
    }

    /// The schema of the files that the flags name; `None` when they name none.
    ///
    /// # Errors
    /// A file is missing or invalid.
    pub fn schema(&self) -> Result<Option<Schema>, PlanError> {
        match (self.protos.is_empty(), self.protosets.is_empty()) {
            (false, false) => {
                let remedy = Remedy::OneSchema;
                Err(PlanError::Conflict { one: "--proto", other: "--protoset", remedy })
            }
            (false, true) => Schema::from_protos(&self.protos, &self.import_paths).map(Some),
            (true, _) if !self.import_paths.is_empty() => {
                Err(PlanError::Needs { flag: "--import-path", needed: Need::Proto })
            }
            (true, false) => Schema::from_sets(&self.protosets).map(Some),
            (true, true) => Ok(None),
        }
    }

    /// Checks that no option is given.
    pub(super) fn refuse(&self) -> Result<(), PlanError> {
        let given = [
            ("--proto", !self.protos.is_empty()),
            ("--import-path", !self.import_paths.is_empty()),
            ("--protoset", !self.protosets.is_empty()),
            ("--message-interval", self.interval.is_some()),
            ("--grpc-encoding", self.gzip.is_some()),
        ];
        let flag = given.iter().find(|(_, is_given)| *is_given);
        flag.map_or(Ok(()), |(flag, _)| Err(PlanError::Needs { flag, needed: Need::Grpc }))
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

/// The method in a URL; `None` when there is none at all.
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
