//! What of a step is made anew for each exchange, and what users remember from one to the next.

use serde::{Deserialize, Serialize};
use std::io::Write;

use crate::render::{NotFilled, Rendering, Scope, ValuePattern};
use crate::{Column, Expression, Extract, Request, Value};

/// The parts of a request that change, and what is taken from its answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DynamicParts {
    /// Path and query.
    pub path: Option<Rendering>,
    /// Values of headers, by their places in the request of the step.
    pub headers: Vec<(usize, Rendering)>,
    /// The body.
    pub body: Option<Rendering>,
    /// What is sent beside the request: of a talk the one message, of a call each message as JSON.
    pub messages: Vec<Rendering>,
    /// The place of the header that names a trace, another one each time.
    pub trace: Option<usize>,
    /// Values that are taken from answers that succeeded, one after the other.
    pub takes: Vec<Extraction>,
}

/// A variable that an answer sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extraction {
    /// Its number.
    pub variable: u32,
    /// Its name, for messages.
    pub name: String,
    /// Where its value stands.
    pub take: Extract,
    /// Its value when nothing is there, made of what the user knows when the answer has come; without one the step fails.
    pub default: Option<ValuePattern>,
}

/// What each user of a scenario remembers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// The variables, with the values that they have when an iteration begins.
    pub variables: Vec<Value>,
    /// Cookies of answers go with later requests, as in browsers.
    pub cookies: bool,
    /// What an iteration leaves is there in the next one.
    pub keeps: bool,
    /// Counters of the run that requests use.
    pub counters: u32,
    /// Columns of rows, by the numbers that slots have for them.
    pub columns: Vec<Column>,
    /// Expressions, by the numbers that slots and conditions have for them.
    pub expressions: Vec<Expression>,
    /// Variables that each user draws for itself before it does anything, with what they are drawn from; one may be made of those
    /// in front of it.
    pub of_user: Vec<(u32, ValuePattern)>,
    /// Variables whose values are shown to nobody.
    pub secret_variables: Vec<u32>,
    /// Columns whose values are shown to nobody.
    pub secret_columns: Vec<u32>,
}

impl Memory {
    /// Some of what users remember is shown to nobody.
    pub fn has_secrets(&self) -> bool {
        !self.secret_variables.is_empty() || !self.secret_columns.is_empty()
    }

    /// Users remember something.
    pub fn is_needed(&self) -> bool {
        !self.variables.is_empty() || self.cookies || !self.columns.is_empty() || !self.expressions.is_empty()
    }
}

impl DynamicParts {
    /// All that is filled in.
    pub(crate) fn renderings(&self) -> impl Iterator<Item = &Rendering> {
        let headers = self.headers.iter().map(|(_, rendering)| rendering);
        let defaults = self.takes.iter().filter_map(|taking| taking.default.as_ref()?.rendering());
        self.path.iter().chain(headers).chain(&self.body).chain(&self.messages).chain(defaults)
    }

    /// Requests are made anew.
    pub fn makes_requests(&self) -> bool {
        let is_changed = self.path.is_some() || self.body.is_some() || !self.headers.is_empty();
        is_changed || !self.messages.is_empty() || self.trace.is_some()
    }

    /// What is sent beside the request, each as it is written.
    ///
    /// # Errors
    /// As [`DynamicParts::request`].
    pub fn texts(&self, scope: &mut impl Scope) -> Result<Vec<Vec<u8>>, NotFilled> {
        let text = |message: &Rendering| {
            let mut text = Vec::new();
            message.fill(scope, &mut text).map(|()| text)
        };
        self.messages.iter().map(text).collect()
    }

    /// The request of an exchange. The length of its body is said where the step says one.
    ///
    /// # Errors
    /// A value cannot be had, or cannot stand where it should.
    pub fn request(&self, step: &Request, scope: &mut impl Scope) -> Result<Request, NotFilled> {
        let mut request = step.clone();
        self.remake(step, &mut request, scope)?;
        Ok(request)
    }

    /// The same in the place of an earlier one of this step, whatever cookies went with that. After an error there is neither.
    ///
    /// # Errors
    /// As [`DynamicParts::request`].
    pub fn remake(&self, step: &Request, request: &mut Request, scope: &mut impl Scope) -> Result<(), NotFilled> {
        if let Some(path) = &self.path {
            let mut bytes = std::mem::take(&mut request.path).into_bytes();
            bytes.clear();
            path.fill(scope, &mut bytes)?;
            request.path = match String::from_utf8(bytes) {
                Ok(path) => path,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            };
            if !path.begins_with_text() {
                request.path = of_target(std::mem::take(&mut request.path), &step.headers)?;
            }
        }
        request.headers.truncate(step.headers.len());
        for ((_, known), (name, value)) in request.headers.iter_mut().zip(&step.headers) {
            if name.eq_ignore_ascii_case("cookie") {
                known.clone_from(value);
            }
        }
        for (place, value) in &self.headers {
            if let Some((_, known)) = request.headers.get_mut(*place) {
                known.clear();
                value.fill(scope, known)?;
            }
        }
        if let Some(body) = &self.body {
            request.body.clear();
            body.fill(scope, &mut request.body)?;
            let length = request.headers.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
            if let Some((_, value)) = length {
                value.clear();
                let _ = write!(value, "{}", request.body.len());
            }
        }
        self.write_trace(request, scope);
        Ok(())
    }
}

/// What was taken from an answer leads to this target: a path, or a URL with its host.
fn of_target(path: String, headers: &[(String, Vec<u8>)]) -> Result<String, NotFilled> {
    let scheme = ["http://", "https://", "ws://", "wss://", "//"]
        .into_iter()
        .find(|scheme| path.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme)));
    // A fragment is for whoever shows a page; servers never see it (RFC 9110 4.2.4).
    let path = path.split('#').next().map(str::to_owned).unwrap_or_default();
    let Some(scheme) = scheme else {
        return if path.starts_with('/') { Ok(path) } else { Err(NotFilled::Elsewhere { given: path }) };
    };
    let rest = &path[scheme.len()..];
    let (host, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let own = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
    if !own.is_some_and(|(_, own)| own.eq_ignore_ascii_case(host.as_bytes())) {
        return Err(NotFilled::Elsewhere { given: path });
    }
    Ok(if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") })
}

#[cfg(test)]
mod tests;
