//! Trace IDs in requests (W3C Trace Context), so that a server's records about them can be found.

use std::io::Write;
use std::sync::Arc;

use crate::render::Scope;
use crate::{DynamicParts, Need, Plan, PlanError, Request, Step};

/// The header with the trace ID.
const HEADER: &str = "traceparent";
/// Its length: version, trace, the request within it, flags.
const LENGTH: usize = 2 + 1 + 32 + 1 + 16 + 1 + 2;

impl Plan {
    /// Gives each HTTP request and each call a trace ID of its own. A request with a `traceparent` of its own keeps it,
    /// and messages on a connection have no place for one.
    ///
    /// # Errors
    /// There are only such messages.
    pub fn name_traces(&mut self) -> Result<(), PlanError> {
        if self.scenarios.iter().flat_map(|scenario| &scenario.steps).all(|step| step.messaging.is_some()) {
            return Err(PlanError::Needs { flag: "--trace", needed: Need::Headers });
        }
        self.scenarios.iter_mut().for_each(|scenario| scenario.change_steps(&mut name_trace));
        Ok(())
    }
}

fn name_trace(step: &mut Step) {
    if step.messaging.is_some() || place(&step.request).is_some() {
        return;
    }
    let mut dynamic_parts = step.dynamic_parts.as_deref().cloned().unwrap_or_default();
    dynamic_parts.trace = Some(step.request.headers.len());
    step.request.headers.push((HEADER.to_owned(), vec![b'0'; LENGTH]));
    step.dynamic_parts = Some(Arc::new(dynamic_parts));
}

#[inline]
fn place(request: &Request) -> Option<usize> {
    request.headers.iter().position(|(name, _)| name.eq_ignore_ascii_case(HEADER))
}

/// The trace ID of a request; `None` without a valid one.
#[inline]
pub fn trace_of(request: &Request) -> Option<u128> {
    let value = request.headers.get(place(request)?)?.1.as_slice();
    let digits = value.get(3..35).filter(|_| value.get(2) == Some(&b'-') && value.get(35) == Some(&b'-'))?;
    let digits = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u128::from_str_radix(digits, 16).ok().filter(|trace| *trace != 0)
}

impl DynamicParts {
    /// Writes a new trace ID. Random draws are those of the seed; the time of day keeps the traces of two runs apart.
    pub(crate) fn write_trace(&self, request: &mut Request, scope: &mut impl Scope) {
        let Some((_, value)) = self.trace.and_then(|place| request.headers.get_mut(place)) else { return };
        let time = spread(scope.now_ns() as u64);
        let (high, low, span) = (scope.draw(0) ^ time, scope.draw(0), scope.draw(0) ^ time);
        value.clear();
        // Zeros mean that there is none.
        let _ = write!(value, "00-{high:016x}{:016x}-{:016x}-01", low.max(1), span.max(1));
    }
}

/// Spreads each bit of a number over about half of the bits (the end of SplitMix64).
#[inline]
fn spread(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(value: &str) -> Request {
        Request {
            method: "GET".into(),
            path: "/".into(),
            version: crate::HttpVersion::Http11,
            headers: vec![("Traceparent".into(), value.into())],
            body: crate::BodyBytes::default(),
        }
    }

    #[test]
    fn a_trace_is_read_where_there_is_one() {
        let known = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(known.len(), LENGTH);
        assert_eq!(trace_of(&request(known)), Some(0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736));
        let none = "00-00000000000000000000000000000000-00f067aa0ba902b7-01";
        for wrong in ["", "00", none, &known[..34], &known.replace('-', "+"), &known.replace('f', "+")] {
            assert_eq!(trace_of(&request(wrong)), None, "{wrong}");
        }
    }
}
