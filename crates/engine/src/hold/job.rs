//! Configuration of held connections: what they do, and their protocol.

use metrics::Failure;
use pacing::{Nanos, Segment};
use plan::{CaptureOptions, Hold, HoldWork, Protocol};
use wire::connection::{
    ALONE, AnyConnection, ExchangeStart, Fault, Http1, IdleState, Mask, Payload, ProtocolConnection, ResponseKind, Tcp,
    WebSocket,
};
use wire::tls::ClientConfig;

use crate::endpoints::EndpointRotation;
use crate::faults;
use crate::messaging::PreparedMessaging;
use crate::scenario_runtime::PreparedStep;

/// The configuration, the same for all shards.
pub(super) struct HoldConfig {
    pub(super) turns: EndpointRotation,
    /// For a partition, the segment that it holds: it has its own addresses for them.
    pub(super) part: Option<Segment>,
    pub(super) tls: Option<ClientConfig>,
    pub(super) protocol: Protocol,
    pub(super) step: PreparedStep,
    pub(super) messaging: Option<PreparedMessaging>,
    pub(super) work: HoldWork,
    pub(super) connections: u64,
    pub(super) ramp: Option<u64>,
    pub(super) reconnects: bool,
    pub(super) grace: Nanos,
    pub(super) interval: Nanos,
}

impl HoldConfig {
    pub(super) fn new(plan: &Hold, turns: EndpointRotation, tls: Option<ClientConfig>) -> Self {
        Self {
            turns,
            part: None,
            tls,
            protocol: plan.target.protocol,
            step: PreparedStep::new(0, &plan.step, &plan.target, CaptureOptions::default()).in_one_piece(),
            messaging: PreparedMessaging::new(&plan.step, &plan.target, false),
            work: plan.work,
            connections: plan.connections,
            ramp: plan.ramp,
            reconnects: plan.reconnects,
            grace: plan.grace.into(),
            interval: plan.interval.into(),
        }
    }

    /// The number of connection `number` among those that take turns here.
    pub(super) fn turn_of(&self, number: u64) -> u64 {
        self.part.as_ref().map_or(number, |part| part.count_of_first(number))
    }

    /// Protocol state of a new connection; `number` makes the WebSocket key.
    pub(super) fn line(&self, number: u64) -> AnyConnection {
        match (&self.messaging, self.protocol) {
            (Some(messaging), Protocol::WebSocket) => AnyConnection::WebSocket(Box::new(WebSocket::new(
                messaging.offer.clone(),
                PreparedMessaging::key(number),
            ))),
            (Some(PreparedMessaging { custom: Some(custom), .. }), _) => {
                AnyConnection::Custom(custom.request.connect(number))
            }
            _ => self.unparked(IdleState::default()),
        }
    }

    /// Protocol state of an HTTP connection with the request on its way.
    pub(super) fn asking(&self) -> AnyConnection {
        let mut line = self.unparked(IdleState::default());
        let ask = ExchangeStart { what: Payload::Template, response: ResponseKind::Response(self.step.kind()) };
        line.begin(ALONE, ask, Mask::default(), &mut Vec::new());
        line
    }

    /// The failure that a fault of a peer is counted as.
    pub(super) fn failure(&self, fault: Fault) -> Failure {
        self.messaging.as_ref().map_or_else(|| faults::line(fault), |messaging| messaging.failure(fault))
    }

    /// Protocol state rebuilt from what an idle connection keeps.
    pub(super) fn unparked(&self, parked: IdleState) -> AnyConnection {
        match (&self.messaging, self.protocol) {
            (Some(messaging), Protocol::WebSocket) => {
                AnyConnection::WebSocket(Box::new(WebSocket::unparked(messaging.offer.clone(), parked)))
            }
            (Some(PreparedMessaging { custom: Some(custom), .. }), _) => {
                AnyConnection::Custom(custom.request.resume(parked))
            }
            (Some(messaging), _) => AnyConnection::Tcp(Tcp::new(messaging.expects.framing().cloned())),
            (None, _) => AnyConnection::Http1(Http1::default()),
        }
    }
}
