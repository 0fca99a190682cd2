//! Requests of custom protocols.

use super::Draft;
use crate::custom::protocol_named;
use crate::{
    Address, BodyBytes, CheckedRequest, CustomRequest, HttpVersion, Messaging, PlanError, Remedy, Request, ResponseEnd,
    Step, Version,
};

impl Draft {
    /// A request of a custom protocol, and its response, as a step. `only_connects`: there may be no request.
    pub(super) fn custom_step(&self, address: &Address, only_connects: bool) -> Result<Step, PlanError> {
        let Some(custom) = &address.custom else { return Err(PlanError::NoUrl) };
        let given = [
            self.request.method.as_ref().map(|_| "-X"),
            self.request.body.as_ref().map(|_| "-d"),
            self.connection.version.map(Version::flag),
            self.connection.streams.map(|_| "--streams"),
            (!self.request.headers.is_empty()).then_some("-H"),
        ];
        if let Some(one) = given.into_iter().flatten().next() {
            let (other, remedy) = (address.scheme.prefix(), Remedy::CustomIsNoHttp);
            return Err(PlanError::Conflict { one, other, remedy });
        }
        self.request.refuse_messaging()?;
        let endpoint = &custom.endpoint;
        let own = CustomRequest { protocol: endpoint.protocol.clone(), ..CustomRequest::default() };
        let mut request = self.request.custom.clone().unwrap_or(own);
        request.only_connects = only_connects && request.is_only_of_connection();
        let CheckedRequest { name, messages } = match protocol_named(&endpoint.protocol) {
            Some(protocol) => protocol.check(endpoint, &request)?,
            None => return Err(PlanError::UnknownProtocol { name: endpoint.protocol.clone() }),
        };
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
            connect_timeout: self.connection.connect_timeout()?,
            keep_alive: !self.connection.no_keepalive,
            retries: !self.connection.no_retry,
        })
    }
}
