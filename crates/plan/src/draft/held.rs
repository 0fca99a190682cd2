//! Options of a hold.

use std::time::Duration;

use super::{Draft, Ramp};
use crate::address::Scheme;
use crate::hold::{HOLD_MAX, Hold, HoldWork};
use crate::text::{check_count, check_rate, check_span_max};
use crate::{Need, PlanError, Protocol};

const CONNECTIONS_DEFAULT: u64 = 1_000;
const HOLD_DEFAULT: Duration = Duration::from_secs(60);

/// Options of a hold.
#[derive(Clone, Debug, PartialEq)]
pub struct HoldDraft {
    /// The options in common with a load.
    pub common: Draft,
    /// The duration of the hold.
    pub duration: Option<Duration>,
    /// When messages are sent on the connections.
    pub work: HoldWork,
    /// Whether lost connections are tried again.
    pub reconnects: bool,
}

impl HoldDraft {
    /// Makes the plan of the hold.
    ///
    /// # Errors
    /// The first error, with its remedy.
    pub fn plan(&self) -> Result<Hold, PlanError> {
        let draft = &self.common;
        let address = draft.url.as_ref().ok_or(PlanError::NoHoldUrl)?;
        draft.responses.refuse_http()?;
        let work = self.work;
        // HTTP bodies are not kept during a hold, nor are unsolicited messages.
        let has_no_bodies = !matches!(address.scheme, Scheme::WebSocket | Scheme::Tcp) || work == HoldWork::Nothing;
        if let Some(flag) = draft.responses.content_flag().filter(|_| has_no_bodies) {
            return Err(PlanError::Needs { flag, needed: Need::Answered });
        }
        let step = match address.scheme {
            Scheme::Grpc => return Err(PlanError::HoldScheme { url: address.to_string() }),
            Scheme::Http => {
                draft.request.refuse_messaging()?;
                draft.step(address)?
            }
            Scheme::WebSocket | Scheme::Tcp => {
                let step = draft.messaging_step(address, work == HoldWork::Nothing)?;
                let says = step.messaging.as_ref().is_some_and(|messaging| messaging.message.is_some());
                if says && work == HoldWork::Nothing {
                    return Err(PlanError::Needs { flag: "-d", needed: Need::Work });
                }
                step
            }
            Scheme::Custom(scheme) if scheme.is_datagram => {
                return Err(PlanError::HoldDatagrams { scheme: scheme.prefix });
            }
            Scheme::Custom(_) => {
                let step = draft.custom_step(address, work == HoldWork::Nothing)?;
                let custom = step.messaging.as_ref().and_then(|messaging| messaging.custom.as_deref());
                if work == HoldWork::Nothing && custom.is_some_and(|custom| !custom.only_connects) {
                    return Err(PlanError::RequestOfHold);
                }
                step
            }
        };
        let mut target = draft.target(address)?;
        // A held connection carries one exchange at a time.
        if target.protocol == Protocol::Http2 {
            return Err(PlanError::HoldScheme { url: address.to_string() });
        }
        if target.protocol == Protocol::Negotiated {
            target.protocol = Protocol::Http1;
            if let Some(tls) = target.tls.as_mut().filter(|_| draft.connection.security.alpn.is_none()) {
                tls.alpn = vec!["http/1.1".to_owned()];
            }
        }
        let connections = check_count("-c", draft.load.connections.unwrap_or(CONNECTIONS_DEFAULT), 1, HOLD_MAX)?;
        draft.load.ramp.map_or(Ok(()), Ramp::check)?;
        let ramp = draft.load.ramp.map(|ramp| check_rate("--ramp", ramp.rate_of(connections))).transpose()?;
        let mut hold = Hold {
            target,
            connections,
            ramp,
            duration: check_span_max("--hold", self.duration.unwrap_or(HOLD_DEFAULT))?,
            step,
            work,
            reconnects: self.reconnects,
            grace: draft.grace()?,
            interval: draft.interval()?,
        };
        hold.target.target_policy = draft.target_policy(hold.wants_consent());
        Ok(hold)
    }
}
