//! Checks of responses, and redirects.

use std::sync::Arc;

use super::Draft;
use crate::{
    Address, Checks, Follow, Form, HeaderCheck, JsonCheck, Need, PlanError, Protocol, StatusSet, TargetPolicy,
    TextCheck, Tls, Version,
};

const REDIRECTS_DEFAULT: u32 = 50;

/// Options for the checks of responses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResponseChecks {
    /// The statuses of a success: of HTTP, or of a gRPC call.
    pub status: Option<StatusSet>,
    /// The statuses of a success, of a custom protocol; empty for its own.
    pub status_words: Vec<String>,
    /// Checks of bodies, or messages.
    pub bodies: Vec<TextCheck>,
    /// Checks of heads.
    pub headers: Vec<HeaderCheck>,
    /// Checks of JSON bodies.
    pub json: Vec<JsonCheck>,
    /// Whether redirects are followed.
    pub location: bool,
    /// The most redirects in a row.
    pub max_redirs: Option<u32>,
}

impl ResponseChecks {
    /// The checks of an HTTP response.
    pub(super) fn checks(&self) -> Checks {
        // A set of all statuses is no expectation.
        let is_requested = self.status.as_ref().is_some_and(|requested| !requested.is_all());
        self.checks_with(self.status.clone().unwrap_or_default(), is_requested)
    }

    /// The same where statuses have another meaning. `is_requested`: the user named them.
    pub(super) fn checks_with(&self, status: StatusSet, is_requested: bool) -> Checks {
        let checks = Checks {
            status,
            status_words: self.status_words.clone(),
            bodies: self.bodies.clone(),
            headers: self.headers.clone(),
            json: self.json.clone(),
            ..Checks::default()
        };
        let is_expectation = is_requested || checks.want_body() || checks.want_head();
        Checks { is_expectation, ..checks }
    }

    /// The first check of the content of a response.
    pub(super) fn content_flag(&self) -> Option<&'static str> {
        let given = [("--expect-body", !self.bodies.is_empty()), ("--expect-json", !self.json.is_empty())];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
    }

    /// Checks that no option is given that messages without a head do not have.
    pub(super) fn refuse_http(&self) -> Result<(), PlanError> {
        self.refuse_redirects()?;
        match self.headers.is_empty() {
            true => Ok(()),
            false => Err(PlanError::Needs { flag: "--expect-header", needed: Need::Http }),
        }
    }

    /// Checks that no option of plain HTTP is given.
    pub(super) fn refuse_redirects(&self) -> Result<(), PlanError> {
        let given = [("--location", self.location), ("--max-redirs", self.max_redirs.is_some())];
        let flag = given.iter().find(|(_, is_given)| *is_given);
        flag.map_or(Ok(()), |(flag, _)| Err(PlanError::Needs { flag, needed: Need::Http }))
    }
}

impl Draft {
    pub(super) fn follow(&self, form: &Arc<Form>) -> Result<Option<Follow>, PlanError> {
        let ResponseChecks { location, max_redirs, .. } = self.responses;
        if max_redirs.is_some() && !location {
            return Err(PlanError::Needs { flag: "--max-redirs", needed: Need::Location });
        }
        if !location {
            return Ok(None);
        }
        Ok(Some(Follow {
            form: form.clone(),
            tls: Box::new(self.redirect_tls()?),
            route_overrides: Box::new(self.connection.route_overrides()?),
            target_policy: TargetPolicy::Anywhere,
            most: max_redirs.unwrap_or(REDIRECTS_DEFAULT),
            trusts_others: false,
            keeps_method: self.request.method.is_some(),
            keeps_post: 0,
            tells_referer: false,
        }))
    }

    /// The TLS options of connections after a redirect.
    pub(super) fn redirect_tls(&self) -> Result<Tls, PlanError> {
        let is_http1 = matches!(self.connection.version, Some(Version::Http10 | Version::Http11));
        let protocol = if is_http1 { Protocol::Http1 } else { Protocol::Negotiated };
        let tls = self.tls(&Address::parse("https://localhost/")?, protocol)?;
        tls.ok_or(PlanError::Needs { flag: "--location", needed: Need::Https })
    }
}
