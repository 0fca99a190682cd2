//! The dynamic parts of a step, made anew for each exchange, and the state that users keep between exchanges.

use serde::{Deserialize, Serialize};
use std::io::Write;

use crate::render::{NotFilled, Rendering, Scope, ValuePattern};
use crate::url_origin::{UrlOrigin, parts_of_url, path_of_url};
use crate::{Checks, Column, DynamicCheck, Expression, Extract, Request, Value};

/// The parts of a request that change, and the extractions from its responses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DynamicParts {
    /// Path and query.
    pub path: Option<Rendering>,
    /// The origin of the target, where the path is a URL that is known only later.
    pub target: Option<UrlOrigin>,
    /// Where such a URL may lead beside it.
    pub origins: Vec<UrlOrigin>,
    /// Values of headers, by their indices in the request of the step.
    pub headers: Vec<(usize, Rendering)>,
    /// The body.
    pub body: Option<Rendering>,
    /// The data sent in addition to the request: the one message of a message step, or each message of a call as JSON.
    pub messages: Vec<Rendering>,
    /// The index of the header with a trace ID, another one each time.
    pub trace: Option<usize>,
    /// The extractions from responses, in order.
    pub takes: Vec<Extraction>,
    /// The checks of the response that are made anew for each exchange.
    pub expects: Vec<DynamicCheck>,
}

/// A variable that is set from a response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extraction {
    /// The number of the variable.
    pub variable: u32,
    /// The name of the variable, for messages.
    pub name: String,
    /// The extraction.
    pub take: Extract,
    /// The variable whose text takes the place of the response; `None`: the response itself.
    pub of: Option<u32>,
    /// The value when nothing matches, made from the user's state at the time of the response; without one the step
    /// fails.
    pub default: Option<ValuePattern>,
    /// Whether the value is a number: a text that is none fails the step.
    pub is_number: bool,
    /// Whether it is extracted from failed responses too.
    pub from_failed: bool,
}

/// The state of each user of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// The variables, with their values at the begin of an iteration.
    pub variables: Vec<Value>,
    /// Whether cookies of responses are sent with later requests, as in browsers.
    pub cookies: bool,
    /// Whether the state is kept from one iteration to the next.
    pub carries_state: bool,
    /// Otherwise: the variables that are kept.
    pub carried: Vec<u32>,
    /// Otherwise: whether cookies are kept.
    pub carries_cookies: bool,
    /// The number of counters of the run that requests use.
    pub counters: u32,
    /// Columns of rows, by the numbers that slots have for them.
    pub columns: Vec<Column>,
    /// Expressions, by the numbers that slots and conditions have for them.
    pub expressions: Vec<Expression>,
    /// Values that expressions use, and that are the same for all users.
    pub constants: Vec<Value>,
    /// Variables that each user draws for itself before its first step, with their patterns; one may use those before
    /// it.
    pub of_user: Vec<(u32, ValuePattern)>,
    /// Variables whose values are masked.
    pub secret_variables: Vec<u32>,
    /// Columns whose values are masked.
    pub secret_columns: Vec<u32>,
}

impl Extraction {
    /// Whether it needs the body of the response.
    #[inline]
    pub fn wants_body(&self) -> bool {
        self.of.is_none() && self.take.wants_body()
    }

    /// Whether it needs the fields of the head.
    #[inline]
    pub fn wants_head(&self) -> bool {
        self.of.is_none() && self.take.wants_head()
    }
}

impl Memory {
    /// Whether some of the state is masked.
    #[inline]
    pub fn has_secrets(&self) -> bool {
        !self.secret_variables.is_empty() || !self.secret_columns.is_empty()
    }

    /// Whether users have any state.
    #[inline]
    pub fn is_needed(&self) -> bool {
        !self.variables.is_empty() || self.cookies || !self.columns.is_empty() || !self.expressions.is_empty()
    }
}

impl DynamicParts {
    /// All renderings.
    pub(crate) fn renderings(&self) -> impl Iterator<Item = &Rendering> {
        let headers = self.headers.iter().map(|(_, rendering)| rendering);
        let defaults = self.takes.iter().filter_map(|taking| taking.default.as_ref()?.rendering());
        let expects = self.expects.iter().map(|check| &check.text);
        self.path.iter().chain(headers).chain(&self.body).chain(&self.messages).chain(defaults).chain(expects)
    }

    /// Whether the path is a URL that is known only when it is made.
    #[inline]
    pub fn is_url(&self) -> bool {
        self.path.as_ref().is_some_and(|path| !path.begins_with_text())
    }

    /// Whether requests are made anew.
    #[inline]
    pub fn makes_requests(&self) -> bool {
        let is_changed = self.path.is_some() || self.body.is_some() || !self.headers.is_empty();
        is_changed || !self.messages.is_empty() || self.trace.is_some() || !self.expects.is_empty()
    }

    /// The checks of an exchange: those of its step, and those with values of the moment. `None`: those of the step
    /// alone.
    ///
    /// # Errors
    /// A value is not available, or none for its check.
    pub fn checks(&self, of_step: &Checks, scope: &mut impl Scope) -> Result<Option<Checks>, NotFilled> {
        if self.expects.is_empty() {
            return Ok(None);
        }
        let mut checks = of_step.clone();
        self.expects.iter().try_for_each(|check| check.add_to(&mut checks, scope))?;
        Ok(Some(checks))
    }

    /// The data sent in addition to the request, each rendered.
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

    /// The request of an exchange. Its content length is updated where the step has one.
    ///
    /// # Errors
    /// A value is not available, or not valid in its place.
    pub fn request(&self, step: &Request, scope: &mut impl Scope) -> Result<Request, NotFilled> {
        let mut request = step.clone();
        self.remake(step, &mut request, scope)?;
        Ok(request)
    }

    /// The same in the place of an earlier request of this step, whatever cookies that had. After an error there is
    /// neither.
    ///
    /// # Errors
    /// As [`DynamicParts::request`].
    pub fn remake(&self, step: &Request, request: &mut Request, scope: &mut impl Scope) -> Result<(), NotFilled> {
        if let Some(path) = &self.path {
            let mut bytes = std::mem::take(&mut request.path).into_bytes();
            bytes.clear();
            match path.begins_with_text() {
                true => path.fill(scope, &mut bytes)?,
                false => path.fill_url(scope, &mut bytes)?,
            }
            request.path = match String::from_utf8(bytes) {
                Ok(path) => path,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            };
            if !path.begins_with_text() {
                let given = std::mem::take(&mut request.path);
                request.path = rendered_target(given, (&step.headers, self.target.as_ref()))?;
            }
        }
        self.remake_behind_path(step, request, scope)
    }

    /// The same where the URL leads to another origin, that of this step: it is rendered already.
    ///
    /// # Errors
    /// As [`DynamicParts::request`].
    pub fn remake_at(
        &self,
        url: &str,
        step: &Request,
        request: &mut Request,
        scope: &mut impl Scope,
    ) -> Result<(), NotFilled> {
        request.path = path_of_url(url);
        self.remake_behind_path(step, request, scope)
    }

    #[inline]
    fn remake_behind_path(
        &self,
        step: &Request,
        request: &mut Request,
        scope: &mut impl Scope,
    ) -> Result<(), NotFilled> {
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
            body.fill(scope, request.body.anew())?;
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

/// The path of an extracted URL at this target: the URL is a path, or of the target's origin. Without an origin, that
/// is what the field `Host` says.
#[inline]
fn rendered_target(
    path: String,
    (headers, origin): (&[(String, Vec<u8>)], Option<&UrlOrigin>),
) -> Result<String, NotFilled> {
    // A fragment is for user agents; it is never sent (RFC 9110 4.2.4).
    let path = path.split('#').next().map(str::to_owned).unwrap_or_default();
    let Some((scheme, host, _)) = parts_of_url(&path) else {
        return if path.starts_with('/') { Ok(path) } else { Err(NotFilled::Elsewhere { given: path }) };
    };
    let is_own = match origin {
        None => {
            let own = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
            own.is_some_and(|(_, own)| own.eq_ignore_ascii_case(host.as_bytes()))
        }
        Some(origin) => {
            let given = if scheme == "//" { origin.with_scheme(&path) } else { path.clone() };
            if UrlOrigin::from_url(&given).as_ref() != Some(origin) {
                return Err(NotFilled::Elsewhere { given });
            }
            true
        }
    };
    if is_own { Ok(path_of_url(&path)) } else { Err(NotFilled::Elsewhere { given: path }) }
}

#[cfg(test)]
mod tests;
