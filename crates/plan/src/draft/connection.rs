//! Connection options: the version of HTTP, streams, TLS, route overrides.

use std::net::IpAddr;
use std::time::Duration;

use super::{CONNECT_TIMEOUT_DEFAULT, Draft};
use crate::address::Scheme;
use crate::file::read_file;
use crate::text::{MILLI, check_count, check_span};
use crate::{
    Address, ConnectionLimits, Endpoint, NameOptions, Need, OwnCertificate, PlanError, Protocol, Proxy,
    ProxyHeaderOptions, ProxyHeaderVersion, ProxyKind, ProxyOptions, Remedy, RouteOverrides, STREAMS_MAX, Sources, Tls,
    TlsVersion, Trust, Version,
};

/// Options of connections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connection {
    /// The time limit of a connection's establishment.
    pub connect_timeout: Option<Duration>,
    /// Whether each request has a connection of its own.
    pub no_keepalive: bool,
    /// Whether no request is resent because its connection has ended.
    pub no_retry: bool,
    /// The version of HTTP.
    pub version: Option<Version>,
    /// The number of concurrent exchanges on each connection.
    pub streams: Option<u64>,
    /// The TLS options.
    pub security: Security,
    /// The source addresses of connections.
    pub sources: Option<Sources>,
    /// The addresses to connect to, in turn, instead of the host of the URL.
    pub places: Vec<Endpoint>,
    /// How the addresses of a name are used.
    pub names: NameOptions,
    /// The limits of kept connections.
    pub limits: ConnectionLimits,
    /// The route overrides.
    pub route_overrides: RouteOverrides,
    /// The proxies, and the header of the PROXY protocol.
    pub proxy: ProxyRequest,
}

/// Options of proxies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProxyRequest {
    /// The proxies.
    pub proxies: ProxyOptions,
    /// Further hosts that are reached without one.
    pub exceptions: Option<Vec<String>>,
    /// Whether plain HTTP goes through a tunnel as well.
    pub tunnels: bool,
    /// The version of the header.
    pub header: Option<ProxyHeaderVersion>,
    /// The addresses of the clients that the header names.
    pub clients: Vec<IpAddr>,
}

/// Options of TLS. Files are named by their paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Security {
    /// Whether certificates are not verified.
    pub insecure: bool,
    /// The file of the trusted CA certificates.
    pub cacert: Option<String>,
    /// The file of the client certificate.
    pub cert: Option<String>,
    /// The file of its key; it may be the same file.
    pub key: Option<String>,
    /// The requested and expected server name, when not that of the URL.
    pub sni: Option<String>,
    /// The offered protocols.
    pub alpn: Option<Vec<String>>,
    /// The offered key exchange groups.
    pub groups: Option<Vec<String>>,
    /// The lowest version.
    pub least: Option<TlsVersion>,
    /// Whether sessions are not resumed.
    pub no_resumption: bool,
}

impl Connection {
    pub(super) fn connect_timeout(&self) -> Result<Duration, PlanError> {
        check_span("--connect-timeout", self.connect_timeout.unwrap_or(CONNECT_TIMEOUT_DEFAULT), MILLI)
    }

    /// The route overrides, with the TLS options of proxies.
    ///
    /// # Errors
    /// The options contradict each other, or a file cannot be read.
    pub fn route_overrides(&self) -> Result<RouteOverrides, PlanError> {
        let (mut all, own) = (self.route_overrides.clone(), &self.proxy);
        let proxies = &mut all.proxies;
        // Those of a command of curl take precedence.
        if proxies.is_empty() {
            own.proxies.clone_into(proxies);
            proxies.each().for_each(|proxy| proxy.tunnels = own.tunnels);
            proxies.exceptions.extend(own.exceptions.clone().unwrap_or_default());
        }
        let given = [("--no-proxy", own.exceptions.is_some()), ("--proxy-tunnel", own.tunnels)];
        if let Some((flag, _)) = given.into_iter().find(|(_, is_given)| *is_given && proxies.is_empty()) {
            return Err(PlanError::Needs { flag, needed: Need::Proxy });
        }
        if all.proxy_header.is_none() {
            let with = |version| ProxyHeaderOptions { version, from: own.clients.clone() };
            all.proxy_header = own.header.map(with);
        }
        if all.proxy_header.is_none() && !own.clients.is_empty() {
            return Err(PlanError::Needs { flag: "--proxy-protocol-from", needed: Need::ProxyProtocol });
        }
        if !proxies.is_empty() && (all.unix.is_some() || !self.places.is_empty()) {
            let other = if all.unix.is_some() { "--unix-socket" } else { "--connect-addresses" };
            return Err(PlanError::Conflict { one: "--proxy", other, remedy: Remedy::OneWay });
        }
        for proxy in proxies.each().filter(|proxy| proxy.kind == ProxyKind::Https && proxy.tls.is_none()) {
            proxy.tls = Some(Box::new(self.security.of_proxy(&proxy.host)?));
        }
        Ok(all)
    }

    /// The limits of kept connections.
    pub(super) fn limits(&self) -> Result<ConnectionLimits, PlanError> {
        match self.limits.flag().filter(|_| self.no_keepalive) {
            Some(other) => Err(PlanError::Conflict { one: "--no-keepalive", other, remedy: Remedy::LimitsAreOfKept }),
            None => Ok(self.limits),
        }
    }

    /// Checks that no limit of kept connections is given: those of messages end as their steps say.
    pub(super) fn refuse_limits(&self, scheme: Scheme) -> Result<(), PlanError> {
        let other = scheme.prefix();
        let conflict = |one| PlanError::Conflict { one, other, remedy: Remedy::MessagingIsNoHttp };
        self.limits.flag().map_or(Ok(()), |flag| Err(conflict(flag)))
    }

    /// The protocol, and the number of concurrent exchanges on each connection.
    pub(super) fn protocol(&self, address: &Address) -> Result<(Protocol, u32), PlanError> {
        match address.scheme {
            Scheme::WebSocket => return Ok((Protocol::WebSocket, 1)),
            Scheme::Tcp => return Ok((Protocol::Tcp, 1)),
            Scheme::Custom(_) => return Ok((Protocol::Custom, 1)),
            Scheme::Http | Scheme::Grpc => {}
        }
        let is_tls = address.is_tls();
        let streams = self.streams.map(|count| check_count("--streams", count, 1, STREAMS_MAX)).transpose()?;
        let wants_streams = streams.is_some_and(|count| count > 1);
        let requested = self.version;
        if wants_streams && let Some(requested) = requested.filter(|version| *version != Version::Http2) {
            let (one, other, remedy) = (requested.flag(), "--streams", Remedy::StreamsAreHttp2);
            return Err(PlanError::Conflict { one, other, remedy });
        }
        if wants_streams && self.no_keepalive {
            return Err(PlanError::Conflict { one: "--no-keepalive", other: "--streams", remedy: Remedy::StreamsStay });
        }
        if streams.is_some() && !is_tls && requested != Some(Version::Http2) && !address.is_grpc() {
            return Err(PlanError::Needs { flag: "--streams", needed: Need::Http2 });
        }
        let protocol = match (requested, is_tls) {
            (Some(Version::Http2), _) => Protocol::Http2,
            _ if wants_streams || address.is_grpc() => Protocol::Http2,
            (None, true) => Protocol::Negotiated,
            _ => Protocol::Http1,
        };
        Ok((protocol, streams.unwrap_or(1) as u32))
    }
}

impl Security {
    /// The first TLS option that was given.
    fn requested(&self) -> Option<&'static str> {
        // `--insecure` is no error where no certificate is shown, as with curl.
        let given = [
            ("--cacert", self.cacert.is_some()),
            ("--cert", self.cert.is_some()),
            ("--key", self.key.is_some()),
            ("--sni", self.sni.is_some()),
            ("--alpn", self.alpn.is_some()),
            ("--tls-groups", self.groups.is_some()),
            ("--tls-min", self.least.is_some()),
            ("--no-tls-resumption", self.no_resumption),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
    }

    fn trust(&self) -> Result<Trust, PlanError> {
        match (self.insecure, &self.cacert) {
            (true, Some(_)) => {
                let remedy = Remedy::TrustOneWay;
                Err(PlanError::Conflict { one: "--insecure", other: "--cacert", remedy })
            }
            (true, None) => Ok(Trust::Anybody),
            (false, Some(path)) => Ok(Trust::Pem(read_file("--cacert", path)?)),
            (false, None) => Ok(Trust::System),
        }
    }

    /// The TLS options of the connection to a proxy: it is trusted as the target is, and gets no client certificate.
    fn of_proxy(&self, host: &str) -> Result<Tls, PlanError> {
        Ok(Tls {
            trust: self.trust()?,
            groups: self.groups.clone().unwrap_or_default(),
            only_tls13: self.least == Some(TlsVersion::Tls13),
            resumes: !self.no_resumption,
            ..Tls::of_proxy(host)
        })
    }

    fn certificate(&self) -> Result<Option<OwnCertificate>, PlanError> {
        match (&self.cert, &self.key) {
            (None, None) => Ok(None),
            (None, Some(_)) => Err(PlanError::Needs { flag: "--key", needed: Need::Cert }),
            // As curl: one file may contain both.
            (Some(cert), key) => {
                let chain = read_file("--cert", cert)?;
                let key = key.as_ref().map_or_else(|| Ok(chain.clone()), |key| read_file("--key", key))?;
                Ok(Some(OwnCertificate { chain, key }))
            }
        }
    }
}

impl Draft {
    /// Drops common options that do not fit a URL. Those that redirects may need stay.
    pub fn fit(&mut self, address: &Address) {
        let connection = &mut self.connection;
        if !address.is_tls() && !self.responses.location {
            connection.security = Security::default();
        }
        let is_http2 = connection.version == Some(Version::Http2) || address.is_tls();
        match address.scheme {
            Scheme::Http => connection.streams = connection.streams.filter(|_| is_http2),
            Scheme::Grpc => connection.version = None,
            Scheme::WebSocket | Scheme::Tcp | Scheme::Custom(_) => {
                (connection.version, connection.streams) = (None, None)
            }
        }
        if address.scheme != Scheme::Http {
            connection.security.alpn = None;
        }
    }

    /// The TLS options; `None` for a URL without TLS.
    pub(super) fn tls(&self, address: &Address, protocol: Protocol) -> Result<Option<Tls>, PlanError> {
        let security = &self.connection.security;
        // A redirect may lead to where they have an effect.
        let is_proxy_tls = |proxy: &Proxy| proxy.kind == ProxyKind::Https;
        let own = [&self.connection.route_overrides.proxies, &self.connection.proxy.proxies];
        let mut all = own.into_iter().flat_map(|proxies| [&proxies.plain, &proxies.secure]).flatten();
        let has_tls_proxy = all.any(is_proxy_tls);
        if !address.is_tls() && (self.responses.location || has_tls_proxy) {
            return Ok(None);
        }
        if !address.is_tls() {
            let requested = security.requested();
            return requested.map_or(Ok(None), |flag| Err(PlanError::Needs { flag, needed: Need::Https }));
        }
        self.connection.check_alpn(address, protocol)?;
        Ok(Some(Tls {
            trust: security.trust()?,
            certificate: security.certificate()?,
            name: security.sni.clone().unwrap_or_else(|| address.host().to_owned()),
            alpn: self.connection.alpn(protocol),
            groups: security.groups.clone().unwrap_or_default(),
            only_tls13: security.least == Some(TlsVersion::Tls13),
            resumes: !security.no_resumption,
        }))
    }
}

impl Connection {
    /// Checks that the offered protocols include the one in use: otherwise the server would be blamed for an impossible
    /// negotiation.
    fn check_alpn(&self, address: &Address, protocol: Protocol) -> Result<(), PlanError> {
        let Some(names) = &self.security.alpn else { return Ok(()) };
        let has_h2 = names.iter().any(|name| name == "h2");
        let is_wrong = match protocol {
            Protocol::Http2 => !has_h2,
            // A server that may choose will choose HTTP/2.
            Protocol::Http1 | Protocol::WebSocket => has_h2,
            Protocol::Negotiated | Protocol::Tcp | Protocol::Custom => false,
        };
        let one = match (address.scheme, self.version) {
            (Scheme::Grpc, _) => "grpcs://",
            (Scheme::WebSocket, _) => "wss://",
            (_, Some(version)) => version.flag(),
            (_, None) => "--streams",
        };
        let remedy = Remedy::AlpnOffersVersion;
        if is_wrong { Err(PlanError::Conflict { one, other: "--alpn", remedy }) } else { Ok(()) }
    }

    fn alpn(&self, protocol: Protocol) -> Vec<String> {
        if let Some(names) = &self.security.alpn {
            return names.clone();
        }
        let usual: &[&str] = match protocol {
            // Servers that have no protocol name for it would close the connection.
            Protocol::Http1 if self.version == Some(Version::Http10) => &[],
            Protocol::Http1 | Protocol::WebSocket => &["http/1.1"],
            Protocol::Tcp | Protocol::Custom => &[],
            Protocol::Http2 => &["h2"],
            Protocol::Negotiated => &["h2", "http/1.1"],
        };
        usual.iter().map(|name| (*name).to_owned()).collect()
    }
}
