//! The URL of a NATS bus, with credentials.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use async_nats::{ConnectOptions, ServerAddr};
use engine::ResolveError;
use wire::tls::{ClientSettings, Trust, client_of_library};

use super::NatsError;

/// The name of a cluster without a name.
pub const USUAL_NAME: &str = "default";
/// The longest name of a cluster.
const NAME_BYTES_MAX: usize = 64;
/// A cluster of this many servers goes on when one of them is gone.
const REPLICAS: usize = 3;
/// The most servers in a URL.
const SERVERS_MAX: usize = 16;
/// The most bytes of a certificate file.
const PEM_BYTES_MAX: u64 = 1 << 20;

/// The URL of a cluster: `nats://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]...][/NAME]`, or `tls://` and then
/// `?ca=FILE&cert=FILE&key=FILE` for certificate authorities that the system does not know, and for a client
/// certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusUrl {
    /// The servers, as NATS has them: one, or those of a cluster of servers.
    servers: Vec<ServerAddr>,
    /// The name of the cluster.
    name: String,
    /// The certificate files, if TLS is used.
    tls: Option<Files>,
}

/// Certificate files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Files {
    ca: Option<PathBuf>,
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
}

impl BusUrl {
    /// Another cluster on the same servers.
    #[must_use]
    pub fn named(&self, name: String) -> Self {
        Self { name, ..self.clone() }
    }

    /// The server and the name, without a password.
    pub fn shown(&self) -> String {
        let each = |server: &ServerAddr| format!("{}:{}", server.host(), server.port());
        let servers = self.servers.iter().map(each).collect::<Vec<_>>().join(",");
        format!("{}://{servers}/{}", self.scheme(), self.name)
    }

    fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "tls" } else { "nats" }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The number of servers that store each item.
    pub fn replicas(&self) -> usize {
        if self.servers.len() >= REPLICAS { REPLICAS } else { 1 }
    }

    /// The resolved addresses of the servers: a static binary cannot use glibc's resolver, as others would. One that
    /// cannot be resolved is left out while there are others.
    pub(super) fn addresses(&self) -> Result<Vec<ServerAddr>, ResolveError> {
        let (mut all, mut failed) = (Vec::new(), None);
        for server in &self.servers {
            match engine::addresses_of(server.host()) {
                Ok(addresses) => all.extend(addresses.into_iter().filter_map(|address| {
                    // An IP address is valid for a server, too.
                    let address = SocketAddr::new(address, server.port());
                    format!("{}://{address}", self.scheme()).parse::<ServerAddr>().ok()
                })),
                Err(error) => failed = Some(error),
            }
        }
        failed.filter(|_| all.is_empty()).map_or(Ok(all), Err)
    }

    /// The credentials and trusted authorities; otherwise the error.
    pub(super) fn options(&self) -> Result<ConnectOptions, String> {
        let known =
            self.servers.iter().find_map(|server| Some((server.username()?, server.password().unwrap_or_default())));
        let options = match known {
            Some((user, password)) => ConnectOptions::with_user_and_password(decoded(user), decoded(password)),
            None => ConnectOptions::new(),
        };
        let Some(files) = &self.tls else { return Ok(options) };
        let trust = match &files.ca {
            Some(file) => Trust::Pem(pem(file)?),
            None => Trust::Roots(host::trusted_certificates()),
        };
        let certificate = match (&files.cert, &files.key) {
            (Some(cert), Some(key)) => Some((pem(cert)?, pem(key)?)),
            // One file may have both.
            (Some(both), None) => Some((pem(both)?, pem(both)?)),
            (None, Some(_)) => return Err("key= needs cert=".to_owned()),
            (None, None) => None,
        };
        let settings = ClientSettings {
            trust,
            certificate,
            name: String::new(),
            alpn: Vec::new(),
            groups: Vec::new(),
            only_tls13: false,
            resumes: true,
        };
        // The connection goes to its address, the certificate is checked for its name.
        let names: Vec<String> = self.servers.iter().map(|server| server.host().to_owned()).collect();
        let config = client_of_library(&settings, &names).map_err(|error| {
            let part = match engine::tls_flag(&error) {
                "--cacert" => "ca= ",
                "--cert" => "cert= ",
                "--key (or --cert)" => "key= ",
                _ => "",
            };
            format!("{part}{error}")
        })?;
        Ok(options.require_tls(true).tls_client_config(config))
    }
}

/// Decodes percent-encoding in a part of a URL, such as %40.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let hex = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// A given URL without its credentials.
pub fn masked(given: &str) -> String {
    match given.rsplit_once('@') {
        Some((before, after)) => {
            let scheme = before.split_once("://").map_or(String::new(), |(scheme, _)| format!("{scheme}://"));
            format!("{scheme}***@{after}")
        }
        None => given.to_owned(),
    }
}

fn pem(file: &Path) -> Result<Vec<u8>, String> {
    let named = |reason: String| format!("{}: {reason}", file.display());
    match std::fs::metadata(file) {
        Ok(about) if !about.is_file() || about.len() > PEM_BYTES_MAX => {
            Err(named("it is no file of certificates".to_owned()))
        }
        Ok(_) => std::fs::read(file).map_err(|error| named(error.to_string())),
        Err(error) => Err(named(error.to_string())),
    }
}

impl Files {
    /// Parses `ca=FILE&cert=FILE&key=FILE`, each at most once.
    fn parse(text: &str) -> Option<Self> {
        let mut files = Self::default();
        for one in text.split('&').filter(|one| !one.is_empty()) {
            let (name, file) = one.split_once('=').filter(|(_, file)| !file.is_empty())?;
            let place = match name {
                "ca" => &mut files.ca,
                "cert" => &mut files.cert,
                "key" => &mut files.key,
                _ => return None,
            };
            if place.replace(file.into()).is_some() {
                return None;
            }
        }
        Some(files)
    }
}

impl FromStr for BusUrl {
    type Err = NatsError;

    fn from_str(text: &str) -> Result<Self, NatsError> {
        let wrong = || NatsError::BusUrl { given: masked(text) };
        let (scheme, rest) = text.split_once("://").ok_or_else(wrong)?;
        let (rest, tls) = match scheme {
            "nats" => (rest, None),
            "tls" => {
                let (rest, files) = rest.split_once('?').unwrap_or((rest, ""));
                (rest, Some(Files::parse(files).ok_or_else(wrong)?))
            }
            _ => return Err(wrong()),
        };
        let (server, name) = rest.split_once('/').unwrap_or((rest, ""));
        let name = if name.is_empty() { USUAL_NAME } else { name };
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if name.len() > NAME_BYTES_MAX || !name.bytes().all(is_fit) {
            return Err(wrong());
        }
        let one = |server: &str| {
            let server = Some(server).filter(|server| !server.is_empty()).ok_or_else(wrong)?;
            format!("nats://{server}").parse::<ServerAddr>().map_err(|_| wrong())
        };
        let servers = server.split(',').map(one).collect::<Result<Vec<_>, _>>()?;
        if servers.len() > SERVERS_MAX {
            return Err(wrong());
        }
        Ok(Self { servers, name: name.to_owned(), tls })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_read_and_not_shown() {
        for (text, meant) in
            [("abc%3D%3d", "abc=="), ("p%40ss", "p@ss"), ("100%", "100%"), ("%zz%4", "%zz%4"), ("%E4%BD%A0", "你")]
        {
            assert_eq!(decoded(text), meant);
        }
        for text in ["nats://u:secret@x/y#z", "u:secret@x", "nats://u:secret@@x/a/b"] {
            let error = text.parse::<BusUrl>().expect_err("no address").to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn addresses_are_read() {
        for (text, shown) in [
            ("nats://a/x", "nats://a:4222/x"),
            ("nats://u:p@a:1,b:2,c:3", "nats://a:1,b:2,c:3/default"),
            ("tls://a/x", "tls://a:4222/x"),
            ("tls://a/x?ca=c.pem&cert=d.pem&key=e.pem", "tls://a:4222/x"),
        ] {
            assert_eq!(text.parse::<BusUrl>().map(|bus_url| bus_url.shown()).expect(text), shown);
        }
        for text in [
            "a/x",
            "http://a/x",
            "nats://",
            "nats://a/b/c",
            "nats://a/x?ca=c.pem",
            "tls://a/x?ca",
            "tls://a/x?ca=",
            "tls://a/x?ca=b&ca=c",
            "tls://a/x?other=b",
        ] {
            assert!(text.parse::<BusUrl>().is_err(), "{text}");
        }
    }
}
