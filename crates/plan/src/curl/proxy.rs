//! The flags of proxies.

use super::options::Meaning;
use crate::error::{CurlFault, at};
use crate::file::read_file;
use crate::proxy::exceptions_of;
use crate::{PlanError, Proxy, ProxyHeaderOptions, ProxyHeaderVersion, ProxyKind, ProxyOptions, Tls, Trust};

/// The flags of proxies of one command.
#[derive(Clone, Debug, Default)]
pub(super) struct ProxyFlags {
    proxy: Option<Proxy>,
    user: Option<String>,
    exceptions: Option<String>,
    tunnels: bool,
    insecure: bool,
    cacert: Option<String>,
    has_header: bool,
    client: Option<std::net::IpAddr>,
}

impl ProxyFlags {
    /// Takes a flag; of one that takes no value, whether it is on.
    pub(super) fn take(
        &mut self,
        (meaning, flag): (Meaning, &'static str),
        text: String,
        is_on: bool,
        line: usize,
    ) -> Result<(), PlanError> {
        let as_kind = |text: &str, kind: ProxyKind| {
            let place = text.split_once("://").map_or(text, |(_, place)| place);
            let scheme = if kind == ProxyKind::Socks5 { "socks5" } else { "socks5h" };
            Proxy::parse(&format!("{scheme}://{place}")).map_err(|error| error.at_line(line))
        };
        match meaning {
            // As curl: an empty one is none.
            Meaning::Proxy if text.is_empty() => self.proxy = None,
            Meaning::Proxy => self.proxy = Some(Proxy::parse(&text).map_err(|error| error.at_line(line))?),
            Meaning::Socks5 => self.proxy = Some(as_kind(&text, ProxyKind::Socks5)?),
            Meaning::Socks5ByName => self.proxy = Some(as_kind(&text, ProxyKind::Socks5ByName)?),
            Meaning::ProxyUser if !text.contains(':') => return Err(at(line, CurlFault::NoPassword)),
            Meaning::ProxyUser => self.user = Some(text),
            Meaning::NoProxy => self.exceptions = Some(text),
            Meaning::ProxyTunnel => self.tunnels = is_on,
            Meaning::ProxyInsecure => self.insecure = is_on,
            Meaning::ProxyCacert => self.cacert = Some(text),
            Meaning::ProxyHeader => self.has_header = is_on,
            Meaning::ProxyHeaderClient => {
                let wanted = "an address like 10.9.8.7";
                let client = text.parse().map_err(|_| at(line, CurlFault::Value { flag, value: text, wanted }))?;
                (self.client, self.has_header) = (Some(client), true);
            }
            _ => {}
        }
        Ok(())
    }

    /// The proxies of the command, and the header of the PROXY protocol.
    pub(super) fn finish(self) -> Result<(ProxyOptions, Option<ProxyHeaderOptions>), PlanError> {
        // curl writes the first version.
        let header = self
            .has_header
            .then(|| ProxyHeaderOptions { version: ProxyHeaderVersion::V1, from: self.client.into_iter().collect() });
        let Some(proxy) = self.proxy else { return Ok((ProxyOptions::default(), header)) };
        let mut proxy = proxy.or_credentials(self.user.as_deref())?;
        proxy.tunnels = self.tunnels;
        if proxy.kind == ProxyKind::Https {
            let trust = match (self.insecure, &self.cacert) {
                (true, _) => Trust::Anybody,
                (false, Some(path)) => Trust::Pem(read_file("--proxy-cacert", path)?),
                (false, None) => Trust::System,
            };
            proxy.tls = Some(Box::new(Tls { trust, ..Tls::of_proxy(&proxy.host) }));
        }
        Ok((ProxyOptions::all(proxy, exceptions_of(self.exceptions.as_deref().unwrap_or_default())), header))
    }
}
