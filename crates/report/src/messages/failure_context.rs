//! The circumstances of a failure, from which its cause and remedy are derived.

use std::net::SocketAddr;
use std::path::Path;

use figures::{AddressFigures, AddressOf, FailureCount, Held, Run};
use metrics::{Failure, Stage};
use plan::{ProxyMode, Scenario, Step, Target};
use wire::tls::Refused;

use super::proxy::is_of_proxy;
use super::{failed_statuses, failed_words};
use crate::Language;

/// The most hosts of a failure that are named.
const BLAMED_SHOWN_MAX: usize = 3;

/// Facts about the circumstances of a failure.
pub(crate) struct FailureContext<'a> {
    /// The target of all connections; `None` when they go to several.
    pub(crate) address: Option<SocketAddr>,
    /// The host of the failure, when that is known.
    pub(crate) place: Option<&'a str>,
    /// The results of each address, where a name has several.
    pub(crate) addresses: &'a [AddressFigures],
    pub(crate) step: Option<&'a Step>,
    /// The steps with this failure, when that is known.
    pub(crate) failed_steps: Vec<&'a Step>,
    /// The failures with their hosts.
    pub(crate) failures: &'a [FailureCount],
    /// HTTP statuses that are no success, each with its count.
    pub(crate) failed_statuses: Vec<(u16, u64)>,
    /// Statuses that are words and may have failed, each with its count.
    pub(crate) failed_words: Vec<(Box<str>, u64)>,
    /// Whether responses have statuses that are words.
    pub(crate) has_status_words: bool,
    /// Texts that servers sent with a gRPC status or a close code.
    pub(crate) server_texts: &'a [(u16, String)],
    /// Whether it is a hold, where connections matter more than the requests on them.
    pub(crate) is_held: bool,
    /// Whether gRPC calls are made.
    pub(crate) is_grpc: bool,
    /// Whether requests are datagrams: those with the failure, when that is known.
    pub(crate) is_datagram: bool,
    /// Requests that went on over TCP, since their responses did not fit into a datagram.
    pub(crate) went_over_tcp: u64,
    /// Datagrams that were refused.
    pub(crate) refused_datagrams: u64,
    /// Datagrams that came and matched no request, or were too long.
    pub(crate) stray_datagrams: u64,
    pub(crate) refused: Option<&'a Refused>,
    pub(crate) lacked_certificate: bool,
    /// The first and the last local port that connections come from.
    pub(crate) local_ports: Option<(u16, u16)>,
    /// The target of all connections, where they go through a proxy.
    pub(crate) proxied: Option<&'a Target>,
    /// The socket of this machine to which all connections go.
    pub(crate) unix: Option<&'a Path>,
    /// Bytes received in the whole load; `None` where that is not known.
    pub(crate) received: Option<u64>,
    /// Whether nothing succeeded in the whole load.
    pub(crate) nothing_succeeded: bool,
}

impl<'a> FailureContext<'a> {
    /// The circumstances of a load.
    pub(crate) fn for_run(run: &'a Run) -> Self {
        Self {
            address: (run.is_one_place() && run.addresses.is_empty()).then_some(run.address),
            addresses: &run.addresses,
            place: None,
            step: run.plan.scenarios.first().and_then(|scenario| scenario.steps.first()),
            failed_steps: Vec::new(),
            failures: &run.tally.failures,
            failed_statuses: failed_statuses(run),
            failed_words: failed_words(run),
            has_status_words: !run.tally.status_words.is_empty(),
            server_texts: &run.server_texts,
            is_held: false,
            is_grpc: run.is_grpc(),
            is_datagram: run.has_datagrams(),
            went_over_tcp: run.tally.over_stream(),
            refused_datagrams: run.tally.refused_datagrams(),
            stray_datagrams: run.tally.unmatched_datagrams() + run.tally.cut_datagrams(),
            refused: run.refused.as_ref(),
            lacked_certificate: run.lacked_certificate,
            local_ports: run.host.local_ports,
            proxied: run.is_one_place().then(|| run.plan.scenarios.first()).flatten().and_then(proxied),
            unix: unix_of(run),
            received: Some(run.tally.bytes_received()),
            nothing_succeeded: run.tally.succeeded() == 0,
        }
    }

    /// The same for one failure: its step is one that had it.
    pub(crate) fn for_failure(run: &'a Run, failure: Failure) -> Self {
        let parts = run.plan.scenarios.iter().zip(&run.scenarios);
        let steps = parts.flat_map(|(scenario, part)| {
            scenario.steps.iter().zip(&part.steps).map(move |(step, part)| (scenario, step, part))
        });
        let has_failed = |part: &figures::StepPart| part.failures.iter().any(|(known, _)| *known == failure);
        let failed: Vec<(&Scenario, &Step)> =
            steps.filter(|(.., part)| has_failed(part)).map(|(scenario, step, _)| (scenario, step)).collect();
        let context = Self::for_run(run);
        let target = failed.first().and_then(|(scenario, step)| scenario.targets.get(step.target));
        Self {
            step: failed.first().map(|(_, step)| *step).or(context.step),
            failed_steps: failed.iter().map(|(_, step)| *step).collect(),
            is_datagram: target.map_or(context.is_datagram, Target::is_datagram),
            ..context
        }
    }

    /// The circumstances of a hold.
    pub(crate) fn for_hold(held: &'a Held) -> Self {
        Self {
            address: Some(held.address),
            place: None,
            addresses: &[],
            step: Some(&held.plan.step),
            failed_steps: Vec::new(),
            failures: &[],
            failed_statuses: Vec::new(),
            failed_words: Vec::new(),
            has_status_words: false,
            server_texts: &[],
            is_held: true,
            is_grpc: false,
            is_datagram: false,
            went_over_tcp: 0,
            refused_datagrams: 0,
            stray_datagrams: 0,
            refused: held.refused.as_ref(),
            lacked_certificate: held.lacked_certificate,
            local_ports: held.host.local_ports,
            proxied: None,
            unix: held.plan.target.unix.as_deref(),
            received: Some(held.tally.bytes_received()),
            nothing_succeeded: held.tally.established() == 0,
        }
    }

    /// The text of a server for this status or code.
    pub(super) fn server_text(&self, number: u16) -> Option<&str> {
        self.server_texts.iter().find(|(known, _)| *known == number).map(|(_, text)| &**text)
    }
}

impl<'a> FailureContext<'a> {
    /// The hosts of a failure.
    pub(super) fn where_met(&self, failure: Failure, language: Language) -> String {
        let of_several = || {
            let places = self.failures.iter().find(|each| each.failure == failure).map_or(&[][..], |each| &each.places);
            let more = places.len() > BLAMED_SHOWN_MAX;
            let named = &places[..places.len().min(BLAMED_SHOWN_MAX)];
            let of_name = self.addresses.iter().filter(|row| row.failed > 0).filter_map(|row| match row.of {
                AddressOf::Address(address) => Some(address.to_string()),
                _ => None,
            });
            let of_name: Vec<String> = of_name.take(BLAMED_SHOWN_MAX).collect();
            match (named.is_empty(), more) {
                (true, _) if !of_name.is_empty() => of_name.join(", "),
                (true, _) => language.pick("one of the targets", "其中一个目标").to_owned(),
                (false, false) => named.join(", "),
                (false, true) => format!("{}, ...", named.join(", ")),
            }
        };
        if let Some(path) = self.unix {
            return format!("unix:{}", path.display());
        }
        let place = self.place.map(str::to_owned).or_else(|| self.behind_proxy(failure, language));
        place.or_else(|| self.address.map(|one| one.to_string())).unwrap_or_else(of_several)
    }

    /// What a failure is of, where connections go through a proxy: the proxy, or the target behind it.
    fn behind_proxy(&self, failure: Failure, language: Language) -> Option<String> {
        let (target, address) = (self.proxied?, self.address?);
        let proxy = language.pick(format!("the proxy {address}"), format!("代理 {address}"));
        let host = if target.host.contains(':') { format!("[{}]", target.host) } else { target.host.clone() };
        let behind = format!("{host}:{}", target.port);
        let is_tunnel = target.proxy_mode() == Some(ProxyMode::Tunnel);
        let has_tls = target.proxy.as_ref().is_some_and(|proxy| proxy.tls.is_some());
        match failure {
            _ if is_of_proxy(failure) => None,
            Failure::Tls(_) if is_tunnel && has_tls => {
                Some(language.pick(format!("{behind}, or of {proxy}"), format!("{behind}（或{proxy}）")))
            }
            Failure::Tls(_) if is_tunnel => Some(behind),
            _ if failure.stage() == Stage::Connecting => Some(proxy),
            _ => is_tunnel.then_some(behind),
        }
    }

    /// Whether a failure to connect is of TCP, though requests are datagrams: their responses did not fit.
    pub(super) fn is_over_tcp(&self, failure: Failure) -> bool {
        let count = self.failures.iter().find(|each| each.failure == failure).map_or(0, |each| each.count);
        let of_datagrams = if failure == Failure::ConnectRefused { self.refused_datagrams } else { 0 };
        self.is_datagram && self.went_over_tcp > 0 && count > of_datagrams
    }

    /// The request of a custom protocol that the step has.
    pub(super) fn custom_request(&self) -> Option<&'a plan::CustomRequest> {
        self.step?.messaging.as_ref()?.custom.as_deref()
    }

    /// Whether HTTP requests were answered, and no connection was left to hold.
    pub(super) fn was_answered_and_closed(&self) -> bool {
        self.nothing_succeeded && !self.is_messaging() && self.received > Some(0)
    }

    /// Whether messages of WebSocket or TCP are exchanged.
    pub(super) fn is_messaging(&self) -> bool {
        self.step.is_some_and(|step| step.messaging.is_some())
    }
}

/// The target of a scenario, where its connections go through a proxy.
fn proxied(scenario: &Scenario) -> Option<&Target> {
    Some(scenario.target()).filter(|target| target.proxy.is_some())
}

/// The socket of all targets.
fn unix_of(run: &Run) -> Option<&Path> {
    let mut paths =
        run.plan.scenarios.iter().flat_map(|scenario| &scenario.targets).map(|target| target.unix.as_deref());
    let first = paths.next()??;
    paths.all(|path| path == Some(first)).then_some(first)
}
