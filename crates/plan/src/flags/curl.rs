//! Commands of curl as the steps of a load, and other ways to a target.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::{Address, Flags, Scheme};
use crate::curl::{self, Sending};
use crate::redirect::Field;
use crate::{Place, PlanError, Remedy, Step, Target};

/// The targets of a scenario, and its steps.
pub(super) type Parts = (Vec<Target>, Vec<Step>);
/// Places, and the name and port to connect to.
pub(crate) type WayTo = (Vec<Place>, Option<(String, u16)>);

impl Flags {
    /// What the commands of curl stand for; `None` when there are none.
    pub(super) fn curl_steps(&self) -> Result<Option<Parts>, PlanError> {
        let sendings = match (&self.curl, &self.curl_file) {
            (None, None) => return Ok(None),
            (Some(_), Some(_)) => {
                return Err(PlanError::Conflict { one: "curl", other: "--curl", remedy: Remedy::InCurl });
            }
            (Some(words), None) => curl::of_words(words, &self.user_agent)?,
            (None, Some(path)) => curl::of_file("--curl", path, &self.user_agent)?,
        };
        let given = [
            ("URL", self.url.is_some()),
            ("-X", self.method.is_some()),
            ("-H", !self.headers.is_empty()),
            ("-d", self.data.is_some()),
        ];
        if let Some((one, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
            return Err(PlanError::Conflict { one, other: "curl", remedy: Remedy::InCurl });
        }
        self.refuse_grpc_flags()?;
        self.refuse_talk_flags()?;
        let parts = self.parts_of(sendings);
        match &self.curl_file {
            Some(path) => parts.map_err(|error| error.in_file(path)),
            None => parts,
        }
        .map(Some)
    }

    fn parts_of(&self, sendings: Vec<Sending>) -> Result<Parts, PlanError> {
        let is_single = sendings.len() == 1;
        let mut sendings = sendings;
        if let (Some(text), [only]) = (&self.curl_url, sendings.as_mut_slice()) {
            only.lead(text)?;
        }
        let (mut targets, mut steps) = (Vec::new(), Vec::new());
        for sending in sendings {
            let line = sending.line;
            let target = self.target_of(&sending).map_err(|error| error.at_line(line))?;
            let known = targets.iter().position(|known| *known == target);
            let index = known.unwrap_or_else(|| {
                targets.push(target);
                targets.len() - 1
            });
            steps.push(self.step_of(sending, index).map_err(|error| error.at_line(line))?);
        }
        if is_single && let (Some(target), Some(step)) = (targets.first_mut(), steps.first()) {
            target.url = format!("{}{}", target.url.trim_end_matches('/'), step.request.path);
        }
        Ok((targets, steps))
    }

    fn target_of(&self, sending: &Sending) -> Result<Target, PlanError> {
        let mut flags = self.with_way(sending);
        if !sending.form.url.is_tls() {
            // As curl: without TLS they mean nothing.
            (flags.insecure, flags.cacert, flags.cert, flags.key, flags.tls_min) = (false, None, None, None, None);
            flags.no_tls_resumption = self.no_tls_resumption;
        }
        flags.target(&Address { url: sending.form.url.origin(), scheme: Scheme::Http })
    }

    /// The flags with what a command says of the way to its target.
    fn with_way(&self, sending: &Sending) -> Self {
        let way = &sending.way;
        let mut flags = self.clone();
        flags.insecure |= way.insecure;
        flags.cacert = way.cacert.clone().or(flags.cacert).filter(|_| !flags.insecure);
        if way.cert.is_some() {
            (flags.cert, flags.key) = (way.cert.clone(), way.key.clone());
        }
        flags.tls_min = way.tls_min.clone().or(flags.tls_min);
        if way.http10 || way.http11 || way.http2 {
            (flags.http10, flags.http11, flags.http2) = (way.http10, way.http11, way.http2);
        }
        flags.no_tls_resumption |= way.no_resumption;
        flags.resolve.extend(way.resolve.iter().cloned());
        flags.connect_to.extend(way.connect_to.iter().cloned());
        flags.unix_socket = way.unix_socket.clone().or(flags.unix_socket);
        flags
    }

    fn step_of(&self, sending: Sending, target: usize) -> Result<Step, PlanError> {
        let mut form = sending.form.clone();
        if self.no_keepalive && !form.has("connection") {
            form.fields.push(Field::Plain("Connection".to_owned(), b"close".to_vec()));
        }
        let form = Arc::new(form);
        let request = form.request(&form.begin(), false);
        let follow = match sending.follow.clone() {
            Some(asked) => {
                let flags = self.with_way(&sending);
                Some(asked.with(form, flags.redirect_tls()?, flags.ways()?))
            }
            None => self.follow(&form)?,
        };
        Ok(Step {
            name: format!("{} {}", request.method, request.path),
            request,
            checks: self.checks()?,
            call: None,
            target,
            follow,
            pause: Duration::ZERO,
            is_shown: false,
            talk: None,
            timeout: match (&self.timeout, sending.timeout) {
                (None, Some(timeout)) => timeout,
                _ => self.timeout()?,
            },
            connect_timeout: match (&self.connect_timeout, sending.connect_timeout) {
                (None, Some(timeout)) => timeout,
                _ => self.connect_timeout()?,
            },
            keep_alive: !self.no_keepalive,
        })
    }

    /// What the flags say of where hosts are.
    pub(super) fn ways(&self) -> Result<Ways, PlanError> {
        let unix = self.unix_socket.as_deref().map(crate::places::parse_unix_socket).transpose()?;
        Ok(Ways { resolve: self.resolve.clone(), connect_to: self.connect_to.clone(), unix })
    }
}

/// What was said of where hosts are, in the words of curl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    pub(crate) resolve: Vec<String>,
    pub(crate) connect_to: Vec<String>,
    pub(crate) unix: Option<Arc<Path>>,
}

impl Ways {
    /// Where a host and port are. `places`: those that were named by themselves.
    pub(crate) fn to(&self, host: &str, port: u16, mut places: Vec<Place>) -> Result<WayTo, PlanError> {
        let mut dial = None;
        for text in &self.connect_to {
            let wrong = || PlanError::ConnectTo { value: text.clone() };
            let [from, from_port, to, to_port] = *fields(text, 4).ok_or_else(wrong)? else { return Err(wrong()) };
            let from_port = if from_port.is_empty() { port } else { port_of(from_port).ok_or_else(wrong)? };
            let to_port = if to_port.is_empty() { port } else { port_of(to_port).ok_or_else(wrong)? };
            let fits = (from.is_empty() || from.eq_ignore_ascii_case(host)) && from_port == port;
            // As curl: the first that fits.
            if fits && dial.is_none() {
                dial = Some((if to.is_empty() { host } else { to }.to_owned(), to_port));
            }
        }
        let (looked_up, port) = dial.as_ref().map_or((host, port), |(host, port)| (host.as_str(), *port));
        let mut found = None;
        for text in &self.resolve {
            let wrong = || PlanError::Resolve { value: text.clone() };
            let rest = text.trim_start_matches('+');
            let is_removal = rest.starts_with('-');
            let [from, from_port, addresses] = *fields(rest, 3).ok_or_else(wrong)? else { return Err(wrong()) };
            if is_removal {
                return Err(wrong());
            }
            let from_port = port_of(from_port).ok_or_else(wrong)?;
            let first = addresses.split(',').next().unwrap_or_default();
            let address: IpAddr = without_brackets(first).parse().map_err(|_| wrong())?;
            if (from == "*" || from.eq_ignore_ascii_case(looked_up)) && from_port == port {
                found = Some(Place { address: Some(address), port });
            }
        }
        if let Some(place) = found {
            if !places.is_empty() {
                return Err(PlanError::Conflict { one: "--to", other: "--resolve", remedy: Remedy::OneWay });
            }
            places = vec![place];
        }
        Ok((places, dial))
    }
}

/// Parts between colons; brackets hold colons of their own. The last takes the rest.
fn fields(text: &str, count: usize) -> Option<Box<[&str]>> {
    let (mut all, mut start, mut depth) = (Vec::new(), 0, 0i32);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            b':' if depth == 0 && all.len() + 1 < count => {
                all.push(without_brackets(&text[start..index]));
                start = index + 1;
            }
            _ => {}
        }
    }
    all.push(if count == 3 { &text[start..] } else { without_brackets(&text[start..]) });
    (all.len() == count).then(|| all.into())
}

fn without_brackets(text: &str) -> &str {
    text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text)
}

fn port_of(text: &str) -> Option<u16> {
    text.parse().ok().filter(|port| *port > 0)
}
