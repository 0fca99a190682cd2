//! The flags of `hold`.

use std::time::Duration;

use super::{Flags, GRACE_DEFAULT, INTERVAL_DEFAULT, MILLI, Scheme, or_default, read_url, span};
use crate::hold::{HOLD_MAX, Hold, Work};
use crate::{INTERVAL_MIN, Need, PlanError, Protocol, Remedy, parse_count, parse_duration, parse_rate};

const CONNECTIONS_DEFAULT: u64 = 1_000;
const HOLD_DEFAULT: Duration = Duration::from_secs(60);

/// What was typed behind `hold`; `None` where nothing was.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "each field is the flag of its name, documented in the help")]
pub struct HoldFlags {
    /// Those that a load has too.
    pub common: Flags,
    pub hold: Option<String>,
    pub every: Option<String>,
    pub once: bool,
    pub receive_only: bool,
    pub reconnect: bool,
}

impl HoldFlags {
    /// What the flags describe.
    ///
    /// # Errors
    /// The first thing that is wrong, with its remedy.
    pub fn plan(&self) -> Result<Hold, PlanError> {
        let flags = &self.common;
        let address = read_url(flags.url.as_deref().ok_or(PlanError::NoHoldUrl)?)?;
        flags.refuse_http_flags()?;
        let work = self.work()?;
        let step = match address.scheme {
            Scheme::Grpc => return Err(PlanError::HoldScheme { url: address.to_string() }),
            Scheme::Http => {
                flags.refuse_talk_flags()?;
                flags.step(&address)?
            }
            Scheme::WebSocket | Scheme::Tcp => {
                let step = flags.talk_step(&address, work == Work::Nothing)?;
                let says = step.talk.as_ref().is_some_and(|talk| talk.message.is_some());
                if says && work == Work::Nothing {
                    return Err(PlanError::Needs { flag: "-d", needed: Need::Work });
                }
                step
            }
        };
        let mut target = flags.target(&address)?;
        // A connection is held for one exchange at a time.
        if target.protocol == Protocol::Http2 {
            return Err(PlanError::HoldScheme { url: address.to_string() });
        }
        if target.protocol == Protocol::Negotiated {
            target.protocol = Protocol::Http1;
            if let Some(tls) = target.tls.as_mut().filter(|_| flags.alpn.is_none()) {
                tls.alpn = vec!["http/1.1".to_owned()];
            }
        }
        let count = |text: &str| parse_count("-c", text, 1, HOLD_MAX);
        Ok(Hold {
            target,
            connections: flags.connections.as_deref().map_or(Ok(CONNECTIONS_DEFAULT), count)?,
            ramp: flags.ramp.as_deref().map(|text| parse_rate("--ramp", text)).transpose()?,
            duration: self.hold.as_deref().map_or(Ok(HOLD_DEFAULT), |text| parse_duration("--hold", text))?,
            step,
            work,
            reconnects: self.reconnect,
            grace: flags.grace.as_deref().map_or(Ok(GRACE_DEFAULT), |text| parse_duration("--grace", text))?,
            interval: or_default("--interval", &flags.interval, INTERVAL_DEFAULT, INTERVAL_MIN, "100ms")?,
        })
    }

    fn work(&self) -> Result<Work, PlanError> {
        let asked = [("--every", self.every.is_some()), ("--once", self.once), ("--receive-only", self.receive_only)];
        let asked: Vec<&'static str> = asked.iter().filter(|(_, is)| *is).map(|(flag, _)| *flag).collect();
        if let [one, other, ..] = asked[..] {
            return Err(PlanError::Conflict { one, other, remedy: Remedy::OneWork });
        }
        let Some(text) = self.every.as_deref() else {
            return Ok(if self.once { Work::Once } else { Work::Nothing });
        };
        let Some((least, most)) = text.split_once('-') else {
            return span("--every", text, MILLI, "1ms").map(Work::Every);
        };
        let (least, most) = (span("--every", least, MILLI, "1ms")?, span("--every", most, MILLI, "1ms")?);
        if least > most {
            return Err(PlanError::Duration { flag: "--every", value: text.to_owned() });
        }
        Ok(Work::Pause { least, most })
    }
}
