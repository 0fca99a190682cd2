//! The flags that say what is spoken: the version of HTTP, streams, TLS.

use super::{Address, Flags, Scheme, read_file};
use crate::{Need, OwnCertificate, PlanError, Protocol, Remedy, STREAMS_MAX, Tls, Trust, parse_count};

impl Flags {
    /// The protocol that is spoken, and how many exchanges go on at a time on each connection.
    pub(super) fn protocol(&self, address: &Address) -> Result<(Protocol, u32), PlanError> {
        match address.scheme {
            Scheme::WebSocket => return Ok((Protocol::WebSocket, 1)),
            Scheme::Tcp => return Ok((Protocol::Tcp, 1)),
            Scheme::Http | Scheme::Grpc => {}
        }
        let is_tls = address.is_tls();
        let versions = [("--http1.0", self.http10), ("--http1.1", self.http11), ("--http2", self.http2)];
        let asked: Vec<&'static str> = versions.iter().filter(|(_, is)| *is).map(|(flag, _)| *flag).collect();
        if let [one, other, ..] = asked[..] {
            return Err(PlanError::Conflict { one, other, remedy: Remedy::OneVersion });
        }
        let streams = self.streams.as_deref().map(|text| parse_count("--streams", text, 1, STREAMS_MAX)).transpose()?;
        let wants_streams = streams.is_some_and(|count| count > 1);
        if wants_streams && let Some(one) = asked.first().filter(|flag| **flag != "--http2") {
            return Err(PlanError::Conflict { one, other: "--streams", remedy: Remedy::StreamsAreHttp2 });
        }
        if wants_streams && self.no_keepalive {
            return Err(PlanError::Conflict { one: "--no-keepalive", other: "--streams", remedy: Remedy::StreamsStay });
        }
        if streams.is_some() && !is_tls && !self.http2 && address.scheme != Scheme::Grpc {
            return Err(PlanError::Needs { flag: "--streams", needed: Need::Http2 });
        }
        let protocol =
            match (self.http2 || wants_streams || address.scheme == Scheme::Grpc, self.http10 || self.http11, is_tls) {
                (true, _, _) => Protocol::Http2,
                (false, false, true) => Protocol::Negotiated,
                _ => Protocol::Http1,
            };
        Ok((protocol, streams.unwrap_or(1) as u32))
    }

    /// How connections are secured; `None` of a URL that asks for no security.
    pub(super) fn tls(&self, address: &Address, protocol: Protocol) -> Result<Option<Tls>, PlanError> {
        let given = [
            ("--insecure", self.insecure),
            ("--cacert", self.cacert.is_some()),
            ("--cert", self.cert.is_some()),
            ("--key", self.key.is_some()),
            ("--sni", self.sni.is_some()),
            ("--alpn", self.alpn.is_some()),
            ("--tls-groups", self.tls_groups.is_some()),
            ("--tls-min", self.tls_min.is_some()),
            ("--no-tls-resumption", self.no_tls_resumption),
        ];
        // A redirect may lead to where they have a meaning.
        if !address.is_tls() && self.location {
            return Ok(None);
        }
        if !address.is_tls() {
            let flag = given.iter().find(|(_, is_given)| *is_given);
            return flag.map_or(Ok(None), |(flag, _)| Err(PlanError::Needs { flag, needed: Need::Https }));
        }
        let trust = match (self.insecure, &self.cacert) {
            (true, Some(_)) => {
                let remedy = Remedy::TrustOneWay;
                return Err(PlanError::Conflict { one: "--insecure", other: "--cacert", remedy });
            }
            (true, None) => Trust::Anybody,
            (false, Some(path)) => Trust::Pem(read_file("--cacert", path)?),
            (false, None) => Trust::System,
        };
        let certificate = match (&self.cert, &self.key) {
            (None, None) => None,
            (None, Some(_)) => return Err(PlanError::Needs { flag: "--key", needed: Need::Cert }),
            // As curl: one file may hold both.
            (Some(cert), key) => Some(OwnCertificate {
                chain: read_file("--cert", cert)?,
                key: match key {
                    Some(key) => read_file("--key", key)?,
                    None => read_file("--cert", cert)?,
                },
            }),
        };
        let only_tls13 = match self.tls_min.as_deref() {
            None | Some("1.2") => false,
            Some("1.3") => true,
            Some(other) => {
                let value = other.to_owned();
                return Err(PlanError::Choice { flag: "--tls-min", value, choices: "1.2, 1.3" });
            }
        };
        Ok(Some(Tls {
            trust,
            certificate,
            name: self.sni.clone().unwrap_or_else(|| address.host().to_owned()),
            alpn: self.alpn(protocol)?,
            groups: self.tls_groups.as_deref().map(list).unwrap_or_default(),
            only_tls13,
            resumes: !self.no_tls_resumption,
        }))
    }

    fn alpn(&self, protocol: Protocol) -> Result<Vec<String>, PlanError> {
        let Some(text) = &self.alpn else {
            let usual: &[&str] = match protocol {
                // Servers that know no name for it would hang up.
                Protocol::Http1 if self.http10 => &[],
                Protocol::Http1 | Protocol::WebSocket => &["http/1.1"],
                Protocol::Tcp => &[],
                Protocol::Http2 => &["h2"],
                Protocol::Negotiated => &["h2", "http/1.1"],
            };
            return Ok(usual.iter().map(|name| (*name).to_owned()).collect());
        };
        let names = list(text);
        if names.is_empty() || names.iter().any(|name| name.len() > ALPN_NAME_BYTES_MAX) {
            let choices = "h2, http/1.1";
            return Err(PlanError::Choice { flag: "--alpn", value: text.clone(), choices });
        }
        Ok(names)
    }
}

/// RFC 7301, 3.1.
const ALPN_NAME_BYTES_MAX: usize = 255;

/// Words with commas between them.
fn list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
