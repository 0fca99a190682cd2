//! Commands of curl as the steps of a load.

use std::sync::Arc;

use super::Draft;
use crate::curl::{self, Sending};
use crate::redirect::Field;
use crate::{PlanError, Remedy, Step, Target};

/// The targets of a scenario, and its steps.
pub(super) type Parts = (Vec<Target>, Vec<Step>);

/// Commands of curl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Commands {
    /// The words after `curl`.
    Words(Vec<Vec<u8>>),
    /// The same, made from a form: the user did not write `curl`.
    Form(Vec<Vec<u8>>),
    /// A file with commands.
    File {
        /// Its path.
        path: String,
        /// The replacement target of the only command in it.
        leads_to: Option<String>,
    },
    /// A file of URLs, one per line; each iteration requests one of them.
    Urls {
        /// Its path.
        path: String,
    },
}

impl Draft {
    /// The steps of the commands of curl; `None` when there are none.
    pub(super) fn command_steps(&self) -> Result<Option<Parts>, PlanError> {
        let agent = &self.request.user_agent;
        let sendings = match &self.commands {
            None => return Ok(None),
            Some(Commands::Urls { path }) => return self.url_steps(path).map(Some),
            Some(Commands::Words(words)) => curl::from_words(words, agent)?,
            Some(Commands::Form(words)) => curl::from_words(words, agent).map_err(PlanError::in_form)?,
            Some(Commands::File { path, .. }) => curl::from_file("--curl", path, agent)?,
        };
        let given = [
            ("URL", self.url.is_some()),
            ("-X", self.request.method.is_some()),
            ("-H", !self.request.headers.is_empty()),
            ("-d", self.request.body.is_some()),
        ];
        if let Some((one, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
            return Err(PlanError::Conflict { one, other: "curl", remedy: Remedy::InCurl });
        }
        self.request.call.refuse()?;
        self.request.refuse_messaging()?;
        match &self.commands {
            Some(Commands::File { path, leads_to }) => {
                self.parts_of(sendings, leads_to.as_deref()).map_err(|error| error.in_file(path))
            }
            Some(Commands::Form(_)) => self.parts_of(sendings, None).map_err(PlanError::in_form),
            _ => self.parts_of(sendings, None),
        }
        .map(Some)
    }

    fn parts_of(&self, mut sendings: Vec<Sending>, leads_to: Option<&str>) -> Result<Parts, PlanError> {
        let is_single = sendings.len() == 1;
        if let (Some(text), [only]) = (leads_to, sendings.as_mut_slice()) {
            only.lead(text)?;
        }
        let (mut targets, mut steps) = (Vec::new(), Vec::new());
        for sending in sendings {
            let line = sending.line;
            let target = self.target_of(&sending).map_err(|error| error.at_line(line))?;
            let known = targets.iter().position(|known| *known == target);
            let index = known.unwrap_or_else(|| {
                targets.push(target);
                targets.len() - 1
            });
            steps.push(self.step_of(sending, index).map_err(|error| error.at_line(line))?);
        }
        if is_single && let (Some(target), Some(step)) = (targets.first_mut(), steps.first()) {
            target.url = format!("{}{}", target.url.trim_end_matches('/'), step.request.path);
        }
        Ok((targets, steps))
    }

    fn target_of(&self, sending: &Sending) -> Result<Target, PlanError> {
        let mut draft = self.with_way(sending);
        if !sending.form.url.is_tls() {
            // As curl: without TLS they have no effect.
            let security = &mut draft.connection.security;
            (security.insecure, security.cacert, security.cert, security.key) = (false, None, None, None);
            (security.least, security.no_resumption) = (None, self.connection.security.no_resumption);
        }
        draft.target(&sending.form.url.origin())
    }

    /// The draft with the route options of a command.
    fn with_way(&self, sending: &Sending) -> Self {
        let way = &sending.way;
        let mut draft = self.clone();
        let connection = &mut draft.connection;
        let security = &mut connection.security;
        security.insecure |= way.insecure;
        security.cacert = way.cacert.clone().or(security.cacert.take()).filter(|_| !security.insecure);
        if way.cert.is_some() {
            (security.cert, security.key) = (way.cert.clone(), way.key.clone());
        }
        security.least = way.least.or(security.least);
        security.no_resumption |= way.no_resumption;
        connection.version = way.version.or(connection.version);
        connection.names.server = way.dns.or(connection.names.server);
        connection.route_overrides.resolve.extend(way.route_overrides.resolve.iter().cloned());
        connection.route_overrides.connect_to.extend(way.route_overrides.connect_to.iter().cloned());
        connection.route_overrides.unix = way.route_overrides.unix.clone().or(connection.route_overrides.unix.take());
        if !way.route_overrides.proxies.is_empty() {
            connection.route_overrides.proxies = way.route_overrides.proxies.clone();
        }
        let header = way.route_overrides.proxy_header.clone();
        connection.route_overrides.proxy_header = header.or(connection.route_overrides.proxy_header.take());
        draft
    }

    fn step_of(&self, sending: Sending, target: usize) -> Result<Step, PlanError> {
        let mut form = sending.form.clone();
        if self.connection.no_keepalive && !form.has("connection") {
            form.fields.push(Field::Plain("Connection".to_owned(), b"close".to_vec()));
        }
        let form = Arc::new(form);
        let request = form.request(&form.begin(), false);
        let follow = match sending.follow.clone() {
            Some(requested) => {
                let draft = self.with_way(&sending);
                Some(requested.with(form, draft.redirect_tls()?, draft.connection.route_overrides()?))
            }
            None => self.follow(&form)?,
        };
        Ok(Step {
            dynamic_parts: None,
            name: format!("{} {}", request.method, request.path),
            request,
            checks: self.responses.checks(),
            call: None,
            target,
            follow,
            is_shown: false,
            messaging: None,
            timeout: match (self.request.timeout, sending.timeout) {
                (None, Some(timeout)) => timeout,
                _ => self.request.timeout()?,
            },
            deadline: self.request.deadline()?,
            tags: Vec::new(),
            at_origins: Vec::new(),
            connect_timeout: match (self.connection.connect_timeout, sending.connect_timeout) {
                (None, Some(timeout)) => timeout,
                _ => self.connection.connect_timeout()?,
            },
            keep_alive: !self.connection.no_keepalive,
            retries: !self.connection.no_retry,
        })
    }
}
