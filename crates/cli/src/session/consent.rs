//! Consent for a load on a public address: of the user, by a flag or at the terminal, or of the target itself, in a
//! file.

use std::io::{BufRead, IsTerminal, Write};
use std::ops::ControlFlow;
use std::time::Duration;

use engine::{ResolveError, Resolved, RunOptions, StopHandle, UnconsentedHost};
use plan::draft::{Connection, Load, Request, ResponseChecks, Security};
use plan::{Address, Draft, Plan, Resolve, RouteOverrides, Target, TargetPolicy, TextCheck};
use report::Language;
use wire::tls::ClientConfig;

use crate::exit::Exit;
use crate::options::args::USER_AGENT;
use crate::session::dashboards;

/// The path of a target's consent file.
const PATH: &str = "/.well-known/onrush-consent";
/// The timeout of that request; a later response does not count.
const PATIENCE: Duration = Duration::from_secs(5);

/// A target with its address and TLS client configuration.
pub(crate) type TargetAccess = (Resolved, Option<ClientConfig>);

/// The load that needs consent, and how its targets are reached.
pub(crate) struct Asking<'a> {
    pub(crate) connection: &'a Connection,
    /// The load, in words.
    pub(crate) load: String,
    pub(crate) language: Language,
}

impl Asking<'_> {
    /// Resolves a target; see [`Self::routes`].
    pub(crate) fn way(&self, target: &mut Target, connect_timeout: Duration) -> Result<TargetAccess, (String, Exit)> {
        let mut routes = self.routes(vec![(target, connect_timeout)])?;
        Ok(routes.remove(0))
    }

    /// Resolves targets. Missing consents are requested all in one question, and are added to the target policies.
    /// Otherwise the error message.
    pub(crate) fn routes(
        &self,
        mut targets: Vec<(&mut Target, Duration)>,
    ) -> Result<Vec<TargetAccess>, (String, Exit)> {
        let say = |error: &ResolveError, exit: Exit| (report::resolve_error(error, self.language), exit);
        let mut routes: Vec<Option<Resolved>> = vec![None; targets.len()];
        // A name that resolves to another host after the question is not requested again.
        for was_requested in [false, true] {
            let mut unconsented_hosts: Vec<(UnconsentedHost, usize)> = Vec::new();
            for (number, (way, (target, connect_timeout))) in routes.iter_mut().zip(&targets).enumerate() {
                if way.is_some() {
                    continue;
                }
                match engine::resolve(target, *connect_timeout) {
                    Ok(resolved) => *way = Some(resolved),
                    Err(ResolveError::Consent { unconsented_hosts: more }) => {
                        let unknown =
                            more.into_iter().filter(|one| !unconsented_hosts.iter().any(|(known, _)| known == one));
                        unconsented_hosts.extend(unknown.map(|one| (one, number)).collect::<Vec<_>>());
                    }
                    Err(error) => return Err(say(&error, Exit::NothingMeasured)),
                }
            }
            if unconsented_hosts.is_empty() {
                break;
            }
            let requested: Vec<(&UnconsentedHost, &Target)> = unconsented_hosts
                .iter()
                .map(|(unconsented_host, number)| (unconsented_host, &*targets[*number].0))
                .collect();
            if was_requested || !self.consents(&requested) {
                let unconsented_hosts =
                    unconsented_hosts.into_iter().map(|(unconsented_host, _)| unconsented_host).collect();
                return Err(say(&ResolveError::Consent { unconsented_hosts }, Exit::Usage));
            }
            for (target, _) in &mut targets {
                let met = unconsented_hosts
                    .iter()
                    .fold(target.target_policy.clone(), |target_policy, (unconsented_host, _)| {
                        target_policy.with(&unconsented_host.meant())
                    });
                target.target_policy = met;
            }
        }
        let routes = routes.into_iter().zip(targets).map(|(way, (target, _))| {
            let say = |error| (report::tls_error(&error, self.language), Exit::Usage);
            let way = way.expect("each was found, or somebody was refused");
            *target = way.complete(target.clone());
            let tls = engine::client_tls(target).map_err(say)?;
            engine::proxy_tls(target).map_err(say)?;
            Ok((way, tls))
        });
        routes.collect()
    }

    fn consents(&self, unconsented_hosts: &[(&UnconsentedHost, &Target)]) -> bool {
        // A user of the web page cannot respond at the terminal.
        match std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && !dashboards::is_shown() {
            true => {
                let who: Vec<&UnconsentedHost> =
                    unconsented_hosts.iter().map(|(unconsented_host, _)| *unconsented_host).collect();
                self.person_consents(&who, &mut std::io::stdin().lock(), &mut std::io::stderr())
            }
            // Each target consents for itself; one that does not is enough to refuse.
            false => unconsented_hosts
                .iter()
                .all(|(unconsented_host, target)| self.target_consents(target, unconsented_host)),
        }
    }

    fn person_consents(
        &self,
        unconsented_hosts: &[&UnconsentedHost],
        responses: &mut dyn BufRead,
        out: &mut dyn Write,
    ) -> bool {
        let (load, is_one) = (&self.load, unconsented_hosts.len() == 1);
        let who = report::unconsented_hosts(unconsented_hosts, self.language);
        let (are, them) = if is_one { ("is", "it") } else { ("are", "them") };
        let question = self.language.pick(
            format!("onrush: {} {are} neither this machine nor in a private network.\nThe load: {load}. May you load {them}? [y/N] ", who),
            format!("onrush: {}既不是本机，也不在私有网络中。\n负载：{load}。是否已获授权对{}压测？[y/N] ", who, if is_one { "它" } else { "它们" }),
        );
        let mut response = String::new();
        let requested = out.write_all(question.as_bytes()).and_then(|()| out.flush());
        let received = requested.and_then(|()| responses.read_line(&mut response));
        received.is_ok() && matches!(response.trim().to_ascii_lowercase().as_str(), "y" | "yes" | "是")
    }

    /// Reads the target's own consent by a single harmless request.
    fn target_consents(&self, target: &Target, unconsented_host: &UnconsentedHost) -> bool {
        let ask = || {
            let plan = self.question(target, unconsented_host)?.reaching(&TargetPolicy::Anywhere);
            let target = plan.scenarios[0].target();
            let resolved = engine::resolve(target, PATIENCE).ok()?;
            let options = RunOptions {
                address: resolved.address,
                tls: engine::client_tls(target).ok()?,
                others: Vec::new(),
                names: Vec::new(),
                threads: 1,
                pins_threads: false,
                driver: driver::choose(driver::Choice::Poll).ok()?,
                log_config: engine::RequestLogConfig::default(),
                data_sources: engine::DataSources::default(),
                backend: None,
            };
            engine::run(&plan, &options, &StopHandle::default(), |_| ControlFlow::Continue(())).ok()
        };
        ask().is_some_and(|result| result.total.counts.succeeded() == 1)
    }

    fn question(&self, target: &Target, unconsented_host: &UnconsentedHost) -> Option<Plan> {
        let UnconsentedHost { host, address, port, is_given } = unconsented_host;
        let scheme = if target.tls.is_some() { "https" } else { "http" };
        let shown = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        let line = format!("/(?m)^onrush: allow {}\\s*$/", host.replace('.', "\\."));
        // A host that the user pinned is requested there, and nowhere else.
        let pinned = is_given.then(|| Resolve { host: host.clone(), port: *port, addresses: vec![*address] });
        let draft = Draft {
            url: Some(Address::parse(&format!("{scheme}://{shown}:{port}{PATH}")).ok()?),
            load: Load { connections: Some(1), requests: Some(1), ..Load::default() },
            request: Request { user_agent: USER_AGENT.to_owned(), timeout: Some(PATIENCE), ..Request::default() },
            responses: ResponseChecks {
                bodies: vec![TextCheck::parse("--expect-body", &line).ok()?],
                ..ResponseChecks::default()
            },
            connection: Connection {
                connect_timeout: Some(PATIENCE),
                version: None,
                streams: None,
                // TLS settings have no meaning without TLS.
                security: if target.tls.is_some() { self.connection.security.clone() } else { Security::default() },
                places: Vec::new(),
                route_overrides: RouteOverrides { resolve: pinned.into_iter().collect(), ..RouteOverrides::default() },
                ..self.connection.clone()
            },
            grace: Some(PATIENCE),
            ..Draft::default()
        };
        draft.plan().ok().map(Plan::for_debug)
    }
}

/// A load in words, for the question to the user. `each`: the most requests that one of its starts can make.
pub(crate) fn load_in_words(load: &plan::Load, each: u64, language: Language) -> String {
    let number = load.connections();
    let connections = format!("{number} connection{}", if number == 1 { "" } else { "s" });
    match load {
        plan::Load::Closed { .. } => {
            language.pick(format!("as many requests as {connections} can make"), format!("{number} 个连接持续发送请求"))
        }
        plan::Load::Open { stages, .. } => {
            let fastest = plan::highest(stages) as f64 / plan::RATE_UNIT as f64;
            let (en, zh) = match each {
                0 | 1 => (
                    format!("{fastest} request{} a second", if fastest == 1.0 { "" } else { "s" }),
                    format!("每秒 {fastest} 个请求"),
                ),
                each => (
                    format!("{fastest} iterations a second of up to {each} requests, redirects counted,"),
                    format!("每秒 {fastest} 次迭代，每次最多 {each} 个请求（含重定向）"),
                ),
            };
            language.pick(format!("{en} over up to {connections}"), format!("{zh}，最多 {number} 个连接"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use plan::Flags;

    use super::*;

    fn asking(connection: &Connection) -> Asking<'_> {
        Asking { connection, load: "50 connections".to_owned(), language: Language::En }
    }

    #[test]
    fn a_person_says_yes_or_it_is_no() {
        let connection = Connection::default();
        for (response, expect) in
            [("y\n", true), ("YES\n", true), ("是\n", true), ("n\n", false), ("\n", false), ("", false)]
        {
            let mut out = Vec::new();
            let address = "93.184.216.34".parse().expect("an address");
            let unconsented_host =
                UnconsentedHost { host: "site.example".to_owned(), address, port: 80, is_given: false };
            let received =
                asking(&connection).person_consents(&[&unconsented_host], &mut response.as_bytes(), &mut out);
            assert_eq!(received, expect, "{response:?}");
            let question = String::from_utf8(out).expect("UTF-8");
            for part in ["site.example", "93.184.216.34", "50 connections"] {
                assert!(question.contains(part), "{question}");
            }
        }
    }

    /// A server on this machine that plays the public one.
    #[test]
    fn a_target_says_of_itself_who_it_is() {
        for (says, expect) in [
            ("onrush: allow site.example\n", true),
            ("# ours\nonrush: allow site.example\r\n", true),
            ("onrush: allow other.example\n", false),
            ("onrush: allow site.example.evil\n", false),
            ("please do not onrush: allow site.example\n", false),
            ("onrush: allow siteXexample\n", false),
        ] {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let port = listener.local_addr().expect("an address").port();
            let server = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().expect("somebody comes");
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    stream.read_exact(&mut byte).expect("a head");
                    head.push(byte[0]);
                }
                let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{says}", says.len());
                stream.write_all(response.as_bytes()).expect("it is taken");
                String::from_utf8(head).expect("a head")
            });
            let connection = Connection::default();
            let address = "127.0.0.1".parse().expect("an address");
            let unconsented_host = UnconsentedHost { host: "site.example".to_owned(), address, port, is_given: true };
            let flags = Flags { url: Some(format!("http://site.example:{port}/")), ..Flags::default() };
            let plan = flags.plan().expect("a plan");
            let consents = asking(&connection).target_consents(plan.scenarios[0].target(), &unconsented_host);
            assert_eq!(consents, expect, "{says:?}");
            let head = server.join().expect("it ends");
            assert!(head.starts_with("GET /.well-known/onrush-consent HTTP/1.1\r\n"), "{head}");
            assert!(head.contains("User-Agent: onrush/"), "{head}");
        }
    }
    /// Two hosts: the first one consents for itself alone, and does not even get the request.
    #[test]
    fn nobody_vouches_for_another() {
        let friend = TcpListener::bind("127.0.0.1:0").expect("a port");
        friend.set_nonblocking(true).expect("it can be");
        let unconsented_host = TcpListener::bind("127.0.0.1:0").expect("a port");
        let ports = [&friend, &unconsented_host].map(|one| one.local_addr().expect("an address").port());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = unconsented_host.accept().expect("somebody comes");
            let mut head = [0; 4096];
            let count = stream.read(&mut head).expect("a head");
            stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").expect("it is taken");
            String::from_utf8_lossy(&head[..count]).into_owned()
        });
        let flags = Flags {
            url: Some(format!("http://127.0.0.1:{}/", ports[0])),
            to: Some(format!("127.0.0.1:{},127.0.0.1:{}", ports[0], ports[1])),
            ..Flags::default()
        };
        let draft = flags.draft().expect("good flags");
        let plan = draft.plan().expect("a plan");
        let address = "127.0.0.1".parse().expect("an address");
        let one = UnconsentedHost { host: "127.0.0.1".to_owned(), address, port: ports[1], is_given: true };
        assert!(!asking(&draft.connection).target_consents(plan.scenarios[0].target(), &one));
        assert!(server.join().expect("it ends").contains(&format!("Host: 127.0.0.1:{}", ports[1])));
        assert!(friend.accept().is_err(), "the first place was asked for the second");
    }

    #[test]
    fn one_question_names_all() {
        let connection = Connection::default();
        let of = |host: &str, at: &str| UnconsentedHost {
            host: host.to_owned(),
            address: at.parse().expect("an address"),
            port: 80,
            is_given: true,
        };
        let unconsented_hosts = [of("192.0.2.7", "192.0.2.7"), of("site.example", "192.0.2.8")];
        let all: Vec<&UnconsentedHost> = unconsented_hosts.iter().collect();
        for (language, expect) in [
            (Language::En, "192.0.2.7, site.example (192.0.2.8) are neither"),
            (Language::Zh, "192.0.2.7、site.example（192.0.2.8）既不是本机"),
        ] {
            let mut out = Vec::new();
            let asking = Asking { language, ..asking(&connection) };
            assert!(asking.person_consents(&all, &mut b"y\n".as_slice(), &mut out));
            let question = String::from_utf8(out).expect("UTF-8");
            assert!(question.contains(expect), "{question}");
        }
    }
}
