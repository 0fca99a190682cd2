//! Values that users extract from responses, and the cookies that these set.

use std::borrow::Cow;

use metrics::{Failure, Outcome};
use pacing::Nanos;
use plan::{Answered, CHECKED_BODY_BYTES_MAX, DynamicParts, Extraction, Scope, Target, Value};
use wire::http1;

use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::exchanges::captured_response::CapturedResponse;
use crate::scenario_runtime::exchanges::step::{PreparedCall, PreparedStep};
use crate::scenario_runtime::exchanges::{Attempt, Exchange};
use crate::scenario_runtime::users::programs::Use;
use crate::scenario_runtime::users::variables::store_cookies;

impl ScenarioRuntime {
    /// What the user remembers of a response. `is_last`: nothing follows it. Returns the outcome of the exchange.
    #[inline]
    pub(in crate::scenario_runtime) fn remember(
        &mut self,
        exchange: &Exchange,
        attempt: Option<&mut Attempt>,
        outcome: Outcome,
        is_last: bool,
        done: Nanos,
    ) -> Outcome {
        if !self.users.states.memory.is_needed() {
            return outcome;
        }
        self.remember_response(exchange, attempt, outcome, is_last, done)
    }

    fn remember_response(
        &mut self,
        exchange: &Exchange,
        attempt: Option<&mut Attempt>,
        outcome: Outcome,
        is_last: bool,
        done: Nanos,
    ) -> Outcome {
        let Some(attempt) = attempt else { return outcome };
        let status = attempt.head.map(|head| head.status).or(attempt.status);
        // Messages on message connections have no status.
        let is_messaging = self.in_flight.steps[exchange.step as usize].messaging.is_some();
        let Some(status) = status.or(is_messaging.then_some(0)) else { return outcome };
        let drawer = self.drawer(exchange.user);
        let states = &mut self.users.states;
        let (now, has_cookies) = (states.now(done).as_secs(), states.memory.cookies);
        let state = states.state(exchange.user);
        let step = &self.in_flight.steps[exchange.step as usize];
        let target = &self.pool.origins[usize::from(step.origin)].target;
        if has_cookies && let Some(kept) = attempt.kept.as_deref() {
            let path = step.made.as_deref().or(step.dynamic_parts.as_ref().map(|(_, base)| &**base));
            store_cookies(&mut state.jar, kept, target, path, now);
        }
        let Some((dynamic_parts, _)) = step.dynamic_parts.as_ref().filter(|_| is_last) else { return outcome };
        let is_failed = outcome != Outcome::Succeeded;
        if !dynamic_parts.takes.iter().any(|taking| !is_failed || taking.from_failed) {
            return outcome;
        }
        let (dynamic_parts, part, is_shown) = (dynamic_parts.clone(), step.part, step.is_shown);
        // Its own number, wherever the step made from it lies: draws are the same on any number of shards.
        let number = step.series.place() - self.work.first_series.place();
        if attempt.is_recorded() {
            // What it sent may contain values that are extracted anew now.
            let secrets = self.secrets_of(exchange.user);
            attempt.kept.get_or_insert_default().record.secrets = secrets;
        }
        self.give_item(exchange.user, part);
        let random = self.users.programs.random_for(exchange.user, number, Use::Response(part), drawer);
        let known = self.known(exchange.user);
        let states = &mut self.users.states;
        let hidden = if !is_shown || self.work.capture_options.secrets {
            Vec::new()
        } else {
            states.memory.secret_variables.clone()
        };
        let step = &self.in_flight.steps[exchange.step as usize];
        let url = match dynamic_parts.takes.iter().any(|taking| taking.take.wants_url()) {
            true => url_of(step, &self.pool.origins[usize::from(step.origin)].target),
            false => String::new(),
        };
        let mut found = std::mem::take(&mut states.found);
        let mut values = states.values(exchange.user, random, done, known);
        let result = taken(
            (&dynamic_parts, is_failed),
            (status, &url),
            attempt.kept.as_deref(),
            step.call.as_ref(),
            &mut values,
            &mut found,
        );
        let variables = &mut states.state(exchange.user).variables;
        let mut fork = self.users.programs.fork(exchange.user).filter(|_| part > 0);
        for (variable, value) in found.drain(..) {
            if is_shown {
                let shown = (!hidden.contains(&variable)).then_some(&value);
                attempt.record_taken(&reported_of(&dynamic_parts, variable, shown));
            }
            match &mut fork {
                // Whichever of them ends last, their order is that of the steps.
                Some(fork) => fork.taken.push((part, variable, value)),
                None => variables[variable as usize] = value,
            }
        }
        self.users.states.found = found;
        match result {
            Ok(()) => outcome,
            // What failed before keeps its own reason.
            Err(_) if is_failed => outcome,
            Err((failure, reason)) => {
                attempt.kept.get_or_insert_default().reason = reason;
                Outcome::Failed(failure)
            }
        }
    }
}

/// An extracted value as shown; `None` for a secret.
#[cold]
fn reported_of(dynamic_parts: &DynamicParts, variable: u32, value: Option<&Value>) -> Vec<u8> {
    let taking = dynamic_parts.takes.iter().find(|taking| taking.variable == variable);
    let mut reported = taking.map_or_else(Vec::new, |taking| format!("{} ", taking.name).into_bytes());
    match value {
        Some(value) => value.write_json(&mut reported),
        None => reported.extend_from_slice(b"***"),
    }
    reported
}

/// Whether a field describes how a body is coded, beyond its chunks.
fn is_coding(name: &[u8], value: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"content-encoding")
        || name.eq_ignore_ascii_case(b"transfer-encoding") && !value.eq_ignore_ascii_case(b"chunked")
}

/// The content of a response for extractions: messages of a call are JSON.
fn body_of<'a>(kept: &'a CapturedResponse, call: Option<&PreparedCall>) -> Result<Cow<'a, [u8]>, (Failure, String)> {
    if let Some((call, types)) = call.and_then(|call| Some((call, call.types.as_ref()?))) {
        let messages = kept.messages(types, call.responses_stream);
        let reason = || (Failure::NotTaken, "a message is not what the method gives".to_owned());
        return messages.map(Cow::Owned).ok_or_else(reason);
    }
    let undecoded = |_| (Failure::NotTaken, format!("the body cannot be decoded: {}", kept.codings().reported()));
    kept.decoded(CHECKED_BODY_BYTES_MAX).map_err(undecoded)
}

/// Extracts values for variables from a response, one after the other; returns the first that is missing. The part of
/// the extractions is that of a response which failed, or all.
fn taken(
    (dynamic_parts, is_failed): (&DynamicParts, bool),
    (status, url): (u16, &str),
    kept: Option<&CapturedResponse>,
    call: Option<&PreparedCall>,
    scope: &mut impl Scope,
    found: &mut Vec<(u32, Value)>,
) -> Result<(), (Failure, String)> {
    let nothing = CapturedResponse::default();
    let kept = kept.unwrap_or(&nothing);
    let takes = || dynamic_parts.takes.iter().filter(|taking| !is_failed || taking.from_failed);
    let wants_body = takes().any(Extraction::wants_body);
    if wants_body && (kept.is_too_large || kept.is_crowded) {
        return Err((Failure::BodyLimit, format!("more than {CHECKED_BODY_BYTES_MAX} bytes")));
    }
    let fields: Vec<(&[u8], &[u8])> = http1::fields(&kept.head).collect();
    let body = match wants_body {
        true if call.is_none() && !fields.iter().any(|(name, value)| is_coding(name, value)) => {
            (&kept.bytes[..]).into()
        }
        true => body_of(kept, call)?,
        false => (&[][..]).into(),
    };
    let response = Answered::new(status, &fields, &body).with_url(url);
    for taking in takes() {
        let wrong = |why: String| (Failure::NotTaken, format!("take {}: {why} ({})", taking.name, taking.take.from()));
        let one = match taking.of {
            Some(variable) => {
                let text = text_of(variable, found, scope);
                taking.take.take(&Answered::new(status, &[], text.as_bytes()), |below| scope.draw(below))
            }
            None => taking.take.take(&response, |below| scope.draw(below)),
        };
        let value = match (one, &taking.default) {
            (Ok(value), _) => value,
            (Err(_), Some(default)) => default.value(scope).map_err(|why| wrong(why.to_string()))?,
            (Err(why), None) => return Err(wrong(why.to_string())),
        };
        let value = match taking.is_number {
            true => number_of(&value).ok_or_else(|| wrong(format!("'{value}' is no number")))?,
            false => value,
        };
        found.push((taking.variable, value));
    }
    Ok(())
}

/// The text of a variable, as it is after the extractions before.
fn text_of(variable: u32, found: &[(u32, Value)], scope: &impl Scope) -> String {
    let before = found.iter().rev().find(|(number, _)| *number == variable);
    before.map_or_else(|| scope.variable(variable), |(_, value)| value).to_string()
}

/// The URL of the request that was answered: of the last one, after redirects.
#[cold]
fn url_of(step: &PreparedStep, target: &Target) -> String {
    let made = step.made.as_deref().or(step.dynamic_parts.as_ref().map(|(_, base)| &**base));
    let Some(request) = made else { return target.url.clone() };
    let scheme = if target.tls.is_some() { "https" } else { "http" };
    let host = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let host = host.map_or_else(|| target.host.clone(), |(_, host)| String::from_utf8_lossy(host).into_owned());
    format!("{scheme}://{host}{}", request.path)
}

/// A value as a number; null stays null, since it says that there is none.
fn number_of(value: &Value) -> Option<Value> {
    match value {
        Value::Null | Value::Int(_) | Value::Float(_) => Some(value.clone()),
        other => other.to_number().map(Value::number),
    }
}
