//! Requests of custom protocols.

use super::Draft;
use crate::custom::protocol_named;
use crate::{
    Address, BodyBytes, CheckedRequest, CustomProtocol, CustomRequest, HttpVersion, Messaging, PlanError, Remedy,
    Request, ResponseEnd, Step, Version, did_you_mean,
};

impl Draft {
    /// A request of a custom protocol, and its response, as a step. `only_connects`: there may be no request.
    pub(super) fn custom_step(&self, address: &Address, only_connects: bool) -> Result<Step, PlanError> {
        let Some(custom) = &address.custom else { return Err(PlanError::NoUrl) };
        let scheme = address.scheme.prefix();
        let given = [
            self.request.method.as_ref().map(|_| "-X"),
            self.request.body.as_ref().map(|_| "-d"),
            self.connection.version.map(Version::flag),
            self.connection.streams.map(|_| "--streams"),
            (!self.request.headers.is_empty()).then_some("-H"),
        ];
        if let Some(one) = given.into_iter().flatten().next() {
            return Err(PlanError::Conflict { one, other: scheme, remedy: Remedy::CustomIsNoHttp });
        }
        self.request.refuse_messaging()?;
        let endpoint = &custom.endpoint;
        let own = CustomRequest { protocol: endpoint.protocol.clone(), ..CustomRequest::default() };
        let mut request = self.request.custom.clone().unwrap_or(own);
        request.only_connects = only_connects && request.is_only_of_connection();
        let Some(protocol) = protocol_named(&endpoint.protocol) else {
            return Err(PlanError::UnknownProtocol { name: endpoint.protocol.clone() });
        };
        if self.connection.security.insecure && !protocol.schemes().iter().any(|one| one.is_tls) {
            return Err(PlanError::Conflict { one: "--insecure", other: scheme, remedy: Remedy::ProtocolWithoutTls });
        }
        self.check_statuses(protocol)?;
        let CheckedRequest { name, messages } = protocol.check(endpoint, &request)?;
        request.messages = messages;
        let has_words = !self.responses.status_words.is_empty();
        Ok(Step {
            name,
            request: Request {
                method: "GET".to_owned(),
                path: "/".to_owned(),
                version: HttpVersion::Http11,
                headers: Vec::new(),
                body: BodyBytes::default(),
            },
            dynamic_parts: None,
            call: None,
            target: 0,
            follow: None,
            is_shown: false,
            messaging: Some(Messaging {
                message: None,
                response: ResponseEnd::Message,
                subprotocols: Vec::new(),
                awaits: false,
                offers_deflate: false,
                custom: Some(Box::new(request)),
            }),
            checks: self.responses.checks_with(Default::default(), has_words),
            timeout: self.request.timeout()?,
            deadline: self.request.deadline()?,
            tags: Vec::new(),
            at_origins: Vec::new(),
            connect_timeout: self.connection.connect_timeout()?,
            keep_alive: !self.connection.no_keepalive,
            retries: !self.connection.no_retry,
        })
    }

    /// Each expected status is one that a response may have.
    fn check_statuses(&self, protocol: &dyn CustomProtocol) -> Result<(), PlanError> {
        let known = protocol.statuses();
        let is_wrong = |word: &&String| !known.is_empty() && !known.contains(&word.as_str());
        match self.responses.status_words.iter().find(is_wrong) {
            None => Ok(()),
            Some(word) => {
                let near = did_you_mean(&word.to_ascii_uppercase(), known.iter().copied());
                let (value, title) = (word.clone(), protocol.name());
                Err(match near {
                    Some(near) => PlanError::NearStatus { value, title, near: near.to_owned() },
                    None => PlanError::NoStatus { value, title, known: known.join(", ") },
                })
            }
        }
    }
}
