//! Checks whose right sides are made from the state of the user, for each exchange.

use serde::{Deserialize, Serialize};

use super::{Checks, HeaderCheck, JsonCheck, TextCheck};
use crate::bound::{Bound, Relation};
use crate::{NotFilled, Rendering, Scope, parse_bytes, parse_duration};

/// A check that is made anew for each exchange.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DynamicCheck {
    /// What it looks at.
    pub of: CheckOf,
    /// Whether it must not be met.
    pub is_absent: bool,
    /// The text of the check: that of the body, the value of the header, path and value of JSON, or the bound.
    pub text: Rendering,
}

/// What a check looks at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CheckOf {
    /// The body.
    Body,
    /// The header of this name.
    Header(String),
    /// The body as JSON.
    Json,
    /// The time from sent to done.
    Time(Relation),
    /// The size of the body.
    Size(Relation),
}

impl CheckOf {
    /// Whether the body must be kept.
    #[inline]
    pub(crate) fn wants_body(&self) -> bool {
        matches!(self, Self::Body | Self::Json | Self::Size(_))
    }
}

impl DynamicCheck {
    /// Adds the check with the values of the moment.
    ///
    /// # Errors
    /// A value is not available, or none for this check.
    pub fn add_to(&self, checks: &mut Checks, scope: &mut impl Scope) -> Result<(), NotFilled> {
        let mut text = Vec::new();
        self.text.fill(scope, &mut text)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let unfit = |error: crate::PlanError| NotFilled::Expression { reason: error.to_string() };
        let (bodies, headers, json) = match self.is_absent {
            true => (&mut checks.absent.bodies, &mut checks.absent.headers, &mut checks.absent.json),
            false => (&mut checks.bodies, &mut checks.headers, &mut checks.json),
        };
        match &self.of {
            CheckOf::Body => bodies.push(TextCheck::literal(&text)),
            CheckOf::Header(name) => headers.push(HeaderCheck::literal(name, &text)),
            CheckOf::Json => json.push(JsonCheck::parse(&text).map_err(unfit)?),
            CheckOf::Time(relation) => {
                let span = parse_duration("time", &text).map_err(unfit)?;
                let limit = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
                checks.time.push(Bound { relation: *relation, limit });
            }
            CheckOf::Size(relation) => {
                // A size of nothing is one too.
                let limit = if text == "0" { 0 } else { parse_bytes("size", &text).map_err(unfit)? };
                checks.size.push(Bound { relation: *relation, limit });
            }
        }
        Ok(())
    }
}
