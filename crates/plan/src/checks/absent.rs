//! What a success does not have.

use serde::{Deserialize, Serialize};

use super::{HeaderCheck, JsonCheck, TextCheck};

/// Checks of which none may be met.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Absent {
    /// Checks of the body.
    pub bodies: Vec<TextCheck>,
    /// Checks of the head.
    pub headers: Vec<HeaderCheck>,
    /// Checks of the body as JSON.
    pub json: Vec<JsonCheck>,
}

impl Absent {
    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        !self.want_body() && self.headers.is_empty()
    }

    /// Whether the body is checked.
    #[inline]
    pub(super) fn want_body(&self) -> bool {
        !self.bodies.is_empty() || !self.json.is_empty()
    }

    /// Checks a text; the error is what it should not have.
    #[inline]
    pub(super) fn check_text(&self, body: &[u8]) -> Result<(), String> {
        refuse(self.bodies.iter().find(|check| check.holds(body)), "body")
    }

    /// Checks JSON; the error is what it should not have.
    #[inline]
    pub(super) fn check_json(&self, body: &[u8]) -> Result<(), String> {
        for check in &self.json {
            match check.holds(body) {
                Ok(is_there) => refuse(Some(check).filter(|_| is_there), "json")?,
                Err(error) => return Err(format!("expect: not: json {check}: no JSON ({error})")),
            }
        }
        Ok(())
    }

    /// Checks the fields of a head; the error is what it should not have.
    pub(super) fn check_head<'a>(
        &self,
        fields: impl Iterator<Item = (&'a [u8], &'a [u8])> + Clone,
    ) -> Result<(), String> {
        refuse(self.headers.iter().find(|check| check.holds(fields.clone())), "header")
    }
}

fn refuse(found: Option<&impl std::fmt::Display>, key: &str) -> Result<(), String> {
    found.map_or(Ok(()), |check| Err(format!("expect: not: {key} {check}: it is there")))
}
