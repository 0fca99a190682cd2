//! Requests of custom protocols.

use plan::{CheckOf, DynamicParts as Made, PlanError, Rendering, masked_url};

use super::marks::Marks;
use super::requests::PreparedPart;
use super::urls::Scheme;
use super::{DynamicParts, bodies};
use crate::diagnostic::Problem;
use crate::file::{Custom, DynamicExpect, Expect, Step};

impl DynamicParts<'_> {
    /// A request of a custom protocol.
    pub(super) fn custom(&mut self, step: &Step, custom: &Custom) -> Result<PreparedPart, Problem> {
        let (mut draft, mut marks) = (self.draft(), Marks::new(&self.mark));
        let url = match &custom.url {
            Some(url) => self.place(url, Scheme::Own, &mut marks)?.marked,
            None => self.base(Scheme::Own)?,
        };
        self.go_to(&mut draft, &url)?;
        let protocol = &custom.request.protocol;
        let is_own = draft.url.as_ref().and_then(plan::Address::custom_protocol) == Some(protocol);
        if !is_own {
            let verb = protocol::by_name(protocol).map_or("", |protocol| protocol.about().name);
            return Err(Problem::Scheme { url: masked_url(&url), verb });
        }
        if !marks.is_empty() {
            // The login of a connection is the same for all.
            return Err(Problem::SlotHere);
        }
        // Defaults that only HTTP has are meant for the requests of the file.
        draft.request.headers.clear();
        (draft.request.method, draft.request.body) = (None, None);
        (draft.connection.version, draft.connection.streams) = (None, None);
        // Certificates are of those that speak TLS.
        let has_tls = plan::protocol_named(protocol).is_some_and(|one| one.schemes().iter().any(|one| one.is_tls));
        draft.connection.security.insecure &= has_tls;
        if draft.url.as_ref().is_some_and(plan::Address::is_datagram) {
            // A header is at the beginning of connections.
            (draft.connection.proxy.header, draft.connection.proxy.clients) = (None, Vec::new());
        }
        draft.responses = plan::draft::ResponseChecks {
            bodies: custom.expect.bodies.clone(),
            json: custom.expect.json.clone(),
            status_words: custom.expect.status_words.clone(),
            ..plan::draft::ResponseChecks::default()
        };
        if has_headers(&custom.expect) {
            return Err(Problem::Value(PlanError::Needs { flag: "header", needed: plan::Need::Http }));
        }
        draft.request.custom = Some(custom.request.clone());
        draft.request.timeout = custom.timeout.or(draft.request.timeout);
        let (target, mut made) = draft.part(None, false)?;
        let none = Expect::default();
        self.add_more_expects(&mut made, &custom.expect, &none);
        let expects = self.dynamic_checks(&custom.expect, &none)?;
        let mut dynamic_parts = Made { takes: self.takings(&custom.take)?, expects, ..Made::default() };
        let texts = custom.texts.iter().map(|text| bodies::text_pieces(text).finish(self));
        let texts: Vec<Rendering> = texts.collect::<Result<_, _>>()?;
        if texts.iter().any(|text| text.constant().is_none()) {
            dynamic_parts.messages = texts;
        } else if let Some(request) = made.messaging.as_mut().and_then(|messaging| messaging.custom.as_mut()) {
            // Slots of variables that never change.
            for (text, rendering) in request.texts.iter_mut().zip(&texts) {
                rendering.constant().unwrap_or_default().clone_into(&mut text.bytes);
                text.is_constant = true;
            }
        }
        self.finish(step, (target, made), dynamic_parts)
    }
}

/// Whether the head of a response is looked at, which custom protocols do not have.
fn has_headers(expect: &Expect) -> bool {
    let is_header = |one: &DynamicExpect| matches!(one.of, CheckOf::Header(_));
    !expect.headers.is_empty() || !expect.absent.headers.is_empty() || expect.dynamic.iter().any(is_header)
}
