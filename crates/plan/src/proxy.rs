//! Proxies: which one a host is reached through, and the header of the PROXY protocol that a connection begins with.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::secrets::percent_decoded;
use crate::{PlanError, Sources, Tls, endpoints::parse_sources};

/// The default port of a proxy, as in curl.
const PORT: u16 = 1080;
/// That of a proxy that is reached by TLS.
const TLS_PORT: u16 = 443;
/// The longest user and password of SOCKS5 (RFC 1929), and the longest name (RFC 1928).
const SOCKS_BYTES_MAX: usize = 255;
/// Variables of the environment that name a proxy for connections without TLS.
pub const PROXY_VARIABLES: [&str; 3] = ["http_proxy", "all_proxy", "ALL_PROXY"];
/// The same for connections with TLS.
pub const SECURE_PROXY_VARIABLES: [&str; 4] = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
/// Variables of hosts that are reached without a proxy.
const EXCEPTION_VARIABLES: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// How a proxy is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProxyKind {
    /// HTTP: absolute URLs for plain HTTP, CONNECT for everything else.
    Http,
    /// The same over TLS.
    Https,
    /// SOCKS5 with the address of the target, which is looked up here.
    Socks5,
    /// SOCKS5 with the name of the target.
    Socks5ByName,
}

/// The schemes of proxies.
const SCHEMES: [(&str, ProxyKind); 4] = [
    ("http", ProxyKind::Http),
    ("https", ProxyKind::Https),
    ("socks5", ProxyKind::Socks5),
    ("socks5h", ProxyKind::Socks5ByName),
];

/// The user and the password of a proxy.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyCredentials {
    /// The user.
    pub user: String,
    /// The password.
    pub password: String,
}

impl fmt::Debug for ProxyCredentials {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ProxyCredentials").finish_non_exhaustive()
    }
}

/// A proxy that connections of a load go through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proxy {
    /// How it is spoken to.
    pub kind: ProxyKind,
    /// Its name or address, without brackets.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The user and the password, where it wants them.
    pub credentials: Option<ProxyCredentials>,
    /// The TLS options of the connection to it.
    pub tls: Option<Box<Tls>>,
    /// Whether plain HTTP goes through a tunnel as well.
    pub tunnels: bool,
    /// The host and port behind it, where they are not those of the URL.
    pub behind: Option<(String, u16)>,
    /// The addresses of the target, where it is looked up here.
    pub addresses: Vec<IpAddr>,
}

/// What a connection through a proxy begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyMode {
    /// Each request has the whole URL.
    Absolute,
    /// A tunnel to the target is opened.
    Tunnel,
}

impl Proxy {
    /// Parses `http://user:password@host:3128`.
    ///
    /// # Errors
    /// The text is invalid.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        read_proxy(text.trim()).ok_or_else(|| PlanError::Proxy { value: shown(text.trim()) })
    }

    /// The same with the user and the password apart: those in the URL take precedence.
    ///
    /// # Errors
    /// SOCKS5 cannot carry them.
    pub fn or_credentials(mut self, text: Option<&str>) -> Result<Self, PlanError> {
        let given = text.map(|text| {
            let (user, password) = text.split_once(':').unwrap_or((text, ""));
            ProxyCredentials { user: percent_decoded(user), password: percent_decoded(password) }
        });
        self.credentials = self.credentials.or(given);
        let fits = |one: &ProxyCredentials| fits_socks(&one.user) && fits_socks(&one.password);
        let is_good = !self.is_socks() || self.credentials.as_ref().is_none_or(fits);
        if is_good { Ok(self) } else { Err(PlanError::Proxy { value: self.place() }) }
    }

    /// The proxy, without its secrets: `http://host:3128`.
    pub fn place(&self) -> String {
        let scheme = SCHEMES.iter().find(|(_, kind)| *kind == self.kind).map_or("", |(scheme, _)| scheme);
        let (open, close) = if self.host.contains(':') { ("[", "]") } else { ("", "") };
        format!("{scheme}://{open}{}{close}:{}", self.host, self.port)
    }

    /// Whether both are the same proxy, whatever the addresses of targets behind it.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.kind, self.port, self.tunnels) == (other.kind, other.port, other.tunnels)
            && (&self.host, &self.credentials, &self.behind) == (&other.host, &other.credentials, &other.behind)
    }

    /// It speaks SOCKS5.
    #[inline]
    pub fn is_socks(&self) -> bool {
        matches!(self.kind, ProxyKind::Socks5 | ProxyKind::Socks5ByName)
    }

    /// The value of `Proxy-Authorization`.
    #[inline]
    pub fn authorization(&self) -> Option<Vec<u8>> {
        let ProxyCredentials { user, password } = self.credentials.as_ref()?;
        crate::Header::basic(&format!("{user}:{password}")).value
    }
}

/// Whether SOCKS5 can carry a user or a password.
fn fits_socks(text: &str) -> bool {
    (1..=SOCKS_BYTES_MAX).contains(&text.len())
}

fn read_proxy(text: &str) -> Option<Proxy> {
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    let kind = SCHEMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(scheme)).map(|(_, kind)| *kind)?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if rest.contains(['/', '?', '#']) {
        return None;
    }
    let (login, place) = rest.rsplit_once('@').map_or((None, rest), |(login, place)| (Some(login), place));
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, port.strip_prefix(':').or(port.is_empty().then_some("")))
        }
        None => place.split_once(':').map_or((place, Some("")), |(host, port)| (host, Some(port))),
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':') || byte >= 0x80;
    if host.is_empty() || !host.bytes().all(is_plain) {
        return None;
    }
    let default = if kind == ProxyKind::Https { TLS_PORT } else { PORT };
    let port = match port? {
        "" => default,
        port => port.parse().ok().filter(|port| *port > 0)?,
    };
    let credentials = login.map(|login| {
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        ProxyCredentials { user: percent_decoded(user), password: percent_decoded(password) }
    });
    let is_socks = matches!(kind, ProxyKind::Socks5 | ProxyKind::Socks5ByName);
    if is_socks && credentials.as_ref().is_some_and(|one| !fits_socks(&one.user) || !fits_socks(&one.password)) {
        return None;
    }
    let host = host.to_owned();
    Some(Proxy { kind, host, port, credentials, tls: None, tunnels: false, behind: None, addresses: Vec::new() })
}

/// A proxy in an error message: without its secrets.
fn shown(text: &str) -> String {
    match (text.rsplit_once('@'), text.split_once("://")) {
        (Some((_, place)), Some((scheme, _))) => format!("{scheme}://***@{place}"),
        (Some((_, place)), None) => format!("***@{place}"),
        // It may be a password before a forgotten host.
        (None, Some((scheme, place))) if has_words(place) => format!("{scheme}://***"),
        (None, None) if has_words(text) => "***".to_owned(),
        (None, _) => text.to_owned(),
    }
}

/// Whether a place has more than a host and a port.
fn has_words(place: &str) -> bool {
    !place.starts_with('[') && place.matches(':').count() > 1
}

/// The proxies of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyOptions {
    /// That of connections without TLS.
    pub plain: Option<Proxy>,
    /// That of connections with TLS.
    pub secure: Option<Proxy>,
    /// Hosts that are reached without one.
    pub exceptions: Vec<String>,
}

impl ProxyOptions {
    /// The same proxy for all hosts but the exceptions.
    pub fn all(proxy: Proxy, exceptions: Vec<String>) -> Self {
        Self { plain: Some(proxy.clone()), secure: Some(proxy), exceptions }
    }

    /// The proxies that the environment names, as curl reads it.
    ///
    /// # Errors
    /// One of them is invalid.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, PlanError> {
        let of = |names: &[&str]| {
            let text = names.iter().filter_map(|name| variable(name)).find(|text| !text.is_empty());
            text.map(|text| Proxy::parse(&text)).transpose()
        };
        Ok(Self {
            plain: of(&PROXY_VARIABLES)?,
            secure: of(&SECURE_PROXY_VARIABLES)?,
            exceptions: exceptions_of_variables(variable),
        })
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.plain.is_none() && self.secure.is_none()
    }

    /// The proxies themselves.
    pub(crate) fn each(&mut self) -> impl Iterator<Item = &mut Proxy> {
        self.plain.iter_mut().chain(&mut self.secure)
    }

    /// The proxy for a host. `is_tls`: connections to it are secured.
    #[inline]
    pub fn of(&self, host: &str, is_tls: bool) -> Option<&Proxy> {
        let proxy = if is_tls { self.secure.as_ref() } else { self.plain.as_ref() };
        proxy.filter(|_| !is_exception(&self.exceptions, host))
    }
}

/// The hosts that the environment excepts from its proxies.
pub fn exceptions_of_variables(variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let text = EXCEPTION_VARIABLES.iter().filter_map(|name| variable(name)).find(|text| !text.is_empty());
    exceptions_of(&text.unwrap_or_default())
}

/// Hosts separated by commas or spaces.
pub(crate) fn exceptions_of(text: &str) -> Vec<String> {
    text.split([',', ' ']).map(str::trim).filter(|one| !one.is_empty()).map(str::to_owned).collect()
}

/// Whether a host is among those that are reached without a proxy: its name, that of a domain above it, its address, a
/// network like `10.0.0.0/8`, or `*`.
#[inline]
pub fn is_exception(exceptions: &[String], host: &str) -> bool {
    let host = host.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
    let address = host.parse::<IpAddr>().ok();
    exceptions.iter().any(|one| {
        let one = one.trim_start_matches('.').trim_end_matches('.').to_ascii_lowercase();
        let bare = one.trim_matches(['[', ']']);
        if one == "*" {
            return true;
        }
        match address {
            Some(address) => match bare.split_once('/') {
                Some((network, bits)) => is_within(address, network, bits),
                None => bare.parse::<IpAddr>().is_ok_and(|one| one.to_canonical() == address.to_canonical()),
            },
            None => {
                !bare.is_empty() && (host == bare || host.strip_suffix(bare).is_some_and(|rest| rest.ends_with('.')))
            }
        }
    })
}

#[inline]
fn is_within(address: IpAddr, network: &str, bits: &str) -> bool {
    let Ok(bits) = bits.parse::<u32>() else { return false };
    match (address, network.parse::<IpAddr>()) {
        (IpAddr::V4(address), Ok(IpAddr::V4(network))) if bits <= 32 => {
            let hosts = u32::MAX.checked_shr(bits).unwrap_or(0);
            u32::from(address) | hosts == u32::from(network) | hosts
        }
        (IpAddr::V6(address), Ok(IpAddr::V6(network))) if bits <= 128 => {
            let hosts = u128::MAX.checked_shr(bits).unwrap_or(0);
            u128::from(address) | hosts == u128::from(network) | hosts
        }
        _ => false,
    }
}

/// A version of the PROXY protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProxyHeaderVersion {
    /// A line of text.
    V1,
    /// Bytes.
    V2,
}

/// The header of the PROXY protocol that each connection begins with, as one behind a balancer does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyHeaderOptions {
    /// Its version.
    pub version: ProxyHeaderVersion,
    /// The addresses of the clients that it names, in turn; empty for our own.
    pub from: Vec<IpAddr>,
}

/// Parses the addresses of clients, which need not be ours: `10.9.8.0/24`.
pub(crate) fn parse_header_sources(text: &str) -> Result<Vec<IpAddr>, PlanError> {
    match parse_sources(text) {
        Ok(Sources::These(all)) => Ok(all),
        Err(PlanError::TooManyPlaces { most, .. }) => {
            Err(PlanError::TooManyPlaces { flag: "--proxy-protocol-from", most })
        }
        Ok(_) | Err(_) => Err(PlanError::ProxyHeaderSources { value: text.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Result<String, String> {
        let proxy = Proxy::parse(text).map_err(|error| error.to_string())?;
        let login = proxy.credentials.as_ref().map(|one| format!(" {}/{}", one.user, one.password));
        Ok(format!("{}{}", proxy.place(), login.unwrap_or_default()))
    }

    #[test]
    fn a_proxy_as_people_write_it() {
        for (text, expected) in [
            ("http://10.0.0.1:3128", "http://10.0.0.1:3128"),
            ("proxy.example:3128/", "http://proxy.example:3128"),
            ("proxy.example", "http://proxy.example:1080"),
            ("https://proxy.example", "https://proxy.example:443"),
            ("socks5h://[fd00::1]:1080", "socks5h://[fd00::1]:1080"),
            ("socks5://me:p%40ss@10.0.0.1", "socks5://10.0.0.1:1080 me/p@ss"),
            ("HTTP://me:a:b@c@10.0.0.1:1", "http://10.0.0.1:1 me/a:b@c"),
            ("http://me@10.0.0.1:1", "http://10.0.0.1:1 me/"),
        ] {
            assert_eq!(shape(text).as_deref(), Ok(expected), "{text}");
        }
        for wrong in [
            "",
            "http://",
            "ftp://10.0.0.1",
            "http://10.0.0.1:0",
            "http://10.0.0.1:x",
            "http://h:1/path",
            "http://a b",
            "http://[fd00::1",
            "http://[fd00::g]",
            "socks5://:p@h",
            "socks5://u:@h",
            "http://h:65536",
            "http://h?x",
        ] {
            assert!(Proxy::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_password_is_in_no_message() {
        for wrong in
            ["ftp://me:secret@h", "http://me:secret@h:0", "me:secret@h:x", "socks5://me:secret@", "me:secret:h:1"]
        {
            let text = Proxy::parse(wrong).expect_err(wrong).to_string();
            assert!(!text.contains("secret"), "{text}");
        }
        let proxy = Proxy::parse("http://me:secret@h:1").expect("a proxy");
        assert!(!format!("{proxy:?}").contains("secret"));
        assert_eq!(proxy.authorization().as_deref(), Some(&b"Basic bWU6c2VjcmV0"[..]));
    }

    #[test]
    fn exceptions_are_names_domains_addresses_and_networks() {
        let of = |text: &str, host: &str| is_exception(&exceptions_of(text), host);
        for (text, host) in [
            ("*", "any.example"),
            ("site.example", "site.example"),
            ("a, .example", "Site.Example."),
            ("example", "a.b.example"),
            ("10.0.0.0/8", "10.200.0.1"),
            ("10.0.0.1", "10.0.0.1"),
            ("[fd00::1]", "[fd00::1]"),
            ("fd00::/8", "fd12::7"),
        ] {
            assert!(of(text, host), "{text} {host}");
        }
        for (text, host) in [
            ("", "site.example"),
            ("example", "notexample"),
            ("site.example", "example"),
            ("10.0.0.0/8", "11.0.0.1"),
            ("10.0.0.0/33", "10.0.0.0"),
            ("0.0.1", "10.0.0.1"),
            ("10.0.0.1", "fd00::1"),
        ] {
            assert!(!of(text, host), "{text} {host}");
        }
    }

    #[test]
    fn the_environment_names_one_by_scheme() {
        let of = |set: &[(&str, &str)], host: &str, is_tls: bool| {
            let found = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            let options = ProxyOptions::from_variables(found).expect("good proxies");
            options.of(host, is_tls).map(|proxy| proxy.host.clone())
        };
        let both = [("http_proxy", "http://p:1"), ("HTTPS_PROXY", "http://q:2"), ("no_proxy", "here.example")];
        assert_eq!(of(&both, "site.example", false).as_deref(), Some("p"));
        assert_eq!(of(&both, "site.example", true).as_deref(), Some("q"));
        assert_eq!(of(&both, "here.example", true), None);
        assert_eq!(of(&[("ALL_PROXY", "socks5://r")], "site.example", true).as_deref(), Some("r"));
        assert_eq!(of(&[("HTTP_PROXY", "http://p")], "site.example", false), None, "a server may set it by a header");
        assert_eq!(of(&[("http_proxy", "")], "site.example", false), None);
    }

    #[test]
    fn clients_of_a_header_are_addresses() {
        assert_eq!(parse_header_sources("10.9.8.0/30").map(|all| all.len()), Ok(2));
        assert!(matches!(parse_header_sources("auto"), Err(PlanError::ProxyHeaderSources { .. })));
        let flag = "--proxy-protocol-from";
        assert!(
            matches!(parse_header_sources("10.0.0.0/8"), Err(PlanError::TooManyPlaces { flag: of, .. }) if of == flag)
        );
    }
}
