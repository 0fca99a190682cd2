//! The route to a target: through which proxy, and what its connections begin with.

use crate::route_overrides::Route;
use crate::{PlanError, Protocol, ProxyMode, RouteOverrides, Target, Tls};

/// Whether plain HTTP/1 is spoken, which a proxy forwards request by request.
#[inline]
fn is_plain(protocol: Protocol, tls: Option<&Tls>) -> bool {
    protocol == Protocol::Http1 && tls.is_none()
}

impl Target {
    /// The names by which the host that connections go to may have consent: a consent for a target is none for the proxy
    /// in between.
    pub fn dialed_names(&self) -> [&str; 2] {
        let (host, _) = self.dialed();
        [host, if self.proxy.is_some() { host } else { &self.host }]
    }

    /// Whether both are reached through the same proxy, or without one.
    #[inline]
    pub fn is_by_same_proxy(&self, other: &Self) -> bool {
        match (&self.proxy, &other.proxy) {
            (None, None) => true,
            (Some(one), Some(other)) => one.is_same(other),
            _ => false,
        }
    }

    /// The same by another route. `route_overrides`: those of [`crate::draft::Connection::route_overrides`].
    ///
    /// # Errors
    /// The options contradict each other.
    pub fn by_route(self, route_overrides: &RouteOverrides) -> Result<Self, PlanError> {
        let given = if self.proxy.is_some() { Vec::new() } else { self.places.clone() };
        let Route { places, dial, proxy, proxy_header } =
            route_overrides.to(&self.host, self.port, given, self.tls.is_some())?;
        Ok(Self { places, dial, proxy, proxy_header, ..self })
    }

    /// What its connections through a proxy begin with; `None` without one.
    #[inline]
    pub fn proxy_mode(&self) -> Option<ProxyMode> {
        let proxy = self.proxy.as_ref()?;
        let is_plain = is_plain(self.protocol, self.tls.as_ref());
        // Only a tunnel leads to another host than that of the URL, and only through one does a header reach the target.
        let is_elsewhere = proxy.behind.is_some() || !proxy.addresses.is_empty();
        let needs_tunnel = proxy.tunnels || proxy.is_socks() || is_elsewhere || self.proxy_header.is_some();
        let is_absolute = is_plain && !needs_tunnel;
        Some(if is_absolute { ProxyMode::Absolute } else { ProxyMode::Tunnel })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Flags, PlanError, ProxyMode, Target};

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    fn target(url: &str, proxy: &str, change: impl Fn(&mut Flags)) -> Result<Target, PlanError> {
        let mut flags = Flags { url: some(url), proxy: some(proxy), ..Flags::default() };
        change(&mut flags);
        Ok(flags.plan()?.scenarios[0].target().clone())
    }

    #[test]
    fn plain_requests_are_forwarded_and_everything_else_is_tunnelled() {
        use ProxyMode::{Absolute, Tunnel};
        let of = |url: &str, proxy: &str| target(url, proxy, |_| {}).expect("a plan").proxy_mode();
        for (url, expected) in [("http://h/", Absolute), ("https://h/", Tunnel), ("ws://h/", Tunnel)] {
            assert_eq!(of(url, "http://p:1"), Some(expected), "{url}");
            assert_eq!(of(url, "https://p:1"), Some(expected), "{url}");
            assert_eq!(of(url, "socks5h://p:1"), Some(Tunnel), "{url}");
        }
        let with = |change: fn(&mut Flags)| target("http://h/", "http://p:1", change).expect("a plan");
        assert_eq!(with(|flags| flags.proxy_tunnel = true).proxy_mode(), Some(Tunnel));
        assert_eq!(with(|flags| flags.http2 = true).proxy_mode(), Some(Tunnel));
        let elsewhere = with(|flags| flags.connect_to = vec!["h:80:other:81".to_owned()]);
        assert_eq!(elsewhere.proxy_mode(), Some(Tunnel));
        assert_eq!(elsewhere.dialed(), ("p", 1));
        assert_eq!(elsewhere.proxy.as_ref().and_then(|proxy| proxy.behind.clone()), Some(("other".to_owned(), 81)));
        assert_eq!(with(|flags| flags.no_proxy = some("h")).proxy_mode(), None);
        assert_eq!(with(|flags| flags.proxy_protocol = some("v1")).proxy_mode(), Some(Tunnel));
        let pinned = with(|flags| flags.resolve = vec!["h:80:10.0.0.1".to_owned()]);
        assert_eq!((pinned.proxy_mode(), pinned.dialed()), (Some(Tunnel), ("p", 1)));
        let others = with(|flags| {
            flags.connect_to = vec!["::other:81".to_owned()];
            flags.resolve = vec!["other:81:10.0.0.1".to_owned(), "p:1:10.0.0.2".to_owned()];
        });
        let proxy = others.proxy.as_ref().expect("a proxy");
        assert_eq!(proxy.addresses, ["10.0.0.1".parse::<std::net::IpAddr>().expect("an address")]);
        assert_eq!(others.places.first().and_then(|place| place.address), "10.0.0.2".parse().ok(), "that of the proxy");
    }

    #[test]
    fn options_that_contradict_a_proxy_are_refused() {
        let refused = |change: fn(&mut Flags)| target("http://h/", "http://p:1", change).expect_err("it is refused");
        let conflicts: [fn(&mut Flags); 3] = [
            |flags| flags.unix_socket = some("/tmp/socket"),
            |flags| flags.to = some("10.0.0.1:80"),
            |flags| flags.proxy_from_env = true,
        ];
        for change in conflicts {
            assert!(matches!(refused(change), PlanError::Conflict { .. }), "{}", refused(change));
        }
        let alone = |change: fn(&mut Flags)| {
            let mut flags = Flags { url: some("http://h/"), ..Flags::default() };
            change(&mut flags);
            flags.plan().expect_err("it is refused")
        };
        let needs: [fn(&mut Flags); 3] = [
            |flags| flags.no_proxy = some("h"),
            |flags| flags.proxy_tunnel = true,
            |flags| flags.proxy_protocol_from = some("10.0.0.1"),
        ];
        for change in needs {
            assert!(matches!(alone(change), PlanError::Needs { .. }), "{}", alone(change));
        }
    }

    #[test]
    fn a_redirect_goes_by_the_proxy_of_its_host() {
        let flags = Flags {
            url: some("http://h/"),
            location: true,
            proxy: some("http://p:1"),
            no_proxy: some("inside.example"),
            ..Flags::default()
        };
        let plan = flags.plan().expect("a plan");
        let (follow, base) =
            (plan.scenarios[0].steps[0].follow.as_ref().expect("it follows"), plan.scenarios[0].target());
        let hop = |host: &str, is_tls: bool| follow.target(base, is_tls, host.to_owned(), 443);
        assert_eq!(hop("other.example", true).dialed(), ("p", 1));
        assert_eq!(hop("inside.example", false).dialed(), ("inside.example", 443));
    }
}
