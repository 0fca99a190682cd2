//! Lowering of requests and calls to steps of a plan.

use std::path::Path;
use std::sync::Arc;

use plan::draft::{Body as DraftBody, Draft};
use plan::{
    Address, BodyBytes, DynamicParts as Made, Extract, Extraction, Header, Pattern, REQUEST_BODY_BYTES_MAX, Rendering,
    SlotContext, Step as PlanStep, Target, UrlOrigin, Value, ValuePattern,
};

use super::marks::Marks;
use super::urls::Scheme;
use super::{DynamicParts, bodies};
use crate::diagnostic::Problem;
use crate::file::{Body, Call, Expect, Extract as FileTake, Json, Request, Step};

/// A step and its target.
pub(super) type PreparedPart = (Target, PlanStep);

impl DynamicParts<'_> {
    /// The common settings of all steps.
    pub(super) fn draft(&self) -> Draft {
        let mut draft = self.file.defaults.flags.clone();
        if draft.request.user_agent.is_empty() {
            draft.request.user_agent = self.outside.user_agent.to_owned();
        }
        draft
    }

    /// Sets the target of a step. Defaults apply to the steps that they fit; a default that fits no step of the file is
    /// reported.
    pub(super) fn go_to(&self, draft: &mut Draft, url: &str) -> Result<(), Problem> {
        let address = Address::parse(url)?;
        if self.may_secure {
            draft.fit(&address);
        }
        draft.url = Some(address);
        Ok(())
    }

    /// Adds the headers of the defaults, and those of the step, which win.
    pub(super) fn add_headers(
        &self,
        draft: &mut Draft,
        own: &[(String, Option<Pattern>)],
        marks: &mut Marks,
    ) -> Result<(), Problem> {
        let is_own = |name: &str| own.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let defaults = self.file.defaults.headers.iter().filter(|(name, _)| !is_own(name));
        for (name, value) in defaults.chain(own) {
            // The syntax of the flag: a name alone leaves the header out, and one with a semicolon sends it empty.
            let text = match value.as_ref().map(|value| marks.text(value)) {
                None => format!("{name}:"),
                Some(value) if value.is_empty() => format!("{name};"),
                Some(value) => format!("{name}: {value}"),
            };
            let header = Header::parse(&text)?;
            draft.request.headers.retain(|known| !known.name.eq_ignore_ascii_case(name) || is_own(name));
            draft.request.headers.push(header);
        }
        Ok(())
    }

    /// Adds the expectations: those of the step, and the defaults where it has none.
    pub(super) fn add_expects(&self, draft: &mut Draft, own: &Expect) {
        let file = self.file;
        let usual = &file.defaults.expect;
        let responses = &mut draft.responses;
        responses.status = own.status.clone().or_else(|| usual.status.clone()).or_else(|| responses.status.take());
        responses.bodies.extend(usual.bodies.iter().chain(&own.bodies).cloned());
        responses.headers.extend(usual.headers.iter().chain(&own.headers).cloned());
        responses.json.extend(usual.json.iter().chain(&own.json).cloned());
    }

    /// The extractions of a step.
    pub(super) fn takings(&mut self, takes: &[FileTake]) -> Result<Vec<Extraction>, Problem> {
        let one = |take: &FileTake| {
            let default = take.default.as_ref().map(|json| self.value_pattern(json)).transpose()?;
            let name = take.name.text.clone();
            let variable = self.naming.number(&name).ok_or_else(|| Problem::Slot { text: name.clone() })?;
            let from = Extract::new(&take.from, take.which).map_err(|error| {
                self.fault_at = Some(take.name.at);
                Problem::Extract(error)
            })?;
            let number = |of: &crate::file::Name| self.naming.number(&of.text);
            let of = take.of.as_ref().map(|of| number(of).ok_or_else(|| Problem::Slot { text: of.text.clone() }));
            let of = of.transpose()?;
            let (is_number, from_failed) = (take.is_number, take.from_failed);
            Ok(Extraction { variable, of, name, take: from, default, is_number, from_failed })
        };
        takes.iter().map(one).collect()
    }

    /// A value with slots in its texts.
    pub(super) fn value_pattern(&mut self, json: &Json) -> Result<ValuePattern, Problem> {
        if let Some(pattern) = json.as_text().filter(|pattern| pattern.parts.len() == 1)
            && pattern.as_plain().is_none()
        {
            return Ok(ValuePattern::Slot(self.naming.rendering(pattern)?));
        }
        let rendering = bodies::json_pieces(json).finish(self)?;
        let constant = rendering.constant().map(Value::from_json_text);
        Ok(match constant {
            Some(Ok(value)) => ValuePattern::Constant(value),
            _ => ValuePattern::Json(rendering),
        })
    }

    /// Reads a file relative to the scenario file.
    pub(super) fn read(&self, path: &Path) -> Result<Vec<u8>, Problem> {
        let wrong = |reason: String| Problem::DataFile { path: path.display().to_string(), reason };
        let whole = self.outside.folder.join(path);
        let size = std::fs::metadata(&whole).map_err(|error| wrong(error.to_string()))?;
        if !size.is_file() {
            return Err(wrong("not a file".to_owned()));
        }
        if size.len() > REQUEST_BODY_BYTES_MAX {
            return Err(wrong(format!("more than {REQUEST_BODY_BYTES_MAX} bytes")));
        }
        std::fs::read(whole).map_err(|error| wrong(error.to_string()))
    }

    /// The same as a body: there once, however many steps have it.
    pub(super) fn body_of(&self, path: &Path) -> Result<BodyBytes, Problem> {
        if let Some(known) = self.bodies.borrow().get(path) {
            return Ok(known.clone());
        }
        let body = BodyBytes::from(self.read(path)?);
        self.bodies.borrow_mut().insert(path.to_owned(), body.clone());
        Ok(body)
    }

    /// A request of HTTP.
    pub(super) fn request(&mut self, step: &Step, request: &Request) -> Result<PreparedPart, Problem> {
        let (mut draft, mut marks) = (self.draft(), Marks::new(&self.mark));
        draft.request.method = Some(request.method.clone());
        let place = self.place(&request.url, Scheme::Http, &mut marks)?;
        self.go_to(&mut draft, &place.marked)?;
        self.add_headers(&mut draft, &request.headers, &mut marks)?;
        if let Some(timeout) = request.timeout {
            draft.request.timeout = Some(timeout);
        }
        draft.responses.location = request.location.unwrap_or(draft.responses.location);
        // The defaults may limit redirects for the steps that do follow them.
        draft.responses.max_redirs = draft.responses.max_redirs.filter(|_| draft.responses.location);
        self.add_expects(&mut draft, &request.expect);
        let body = request.body.as_ref().map(|body| self.body(body, &mut draft)).transpose()?;
        let (constant, body) = body.unzip();
        draft.request.body = constant.map(DraftBody::Bytes);
        let (mut target, mut made) = draft.part(None, false)?;
        let file = self.file;
        let usual = &file.defaults.expect;
        self.add_more_expects(&mut made, &request.expect, usual);
        let mut dynamic_parts = self.making_of((&mut target, &mut made), place.is_whole, &marks)?;
        dynamic_parts.takes = self.takings(&request.take)?;
        dynamic_parts.expects = self.dynamic_checks(&request.expect, usual)?;
        dynamic_parts.body = body.flatten();
        self.finish(step, (target, made), dynamic_parts)
    }

    /// The origins where URLs of responses may lead beside the target.
    pub(super) fn read_origins(&mut self) {
        for origin in &self.file.origins {
            let url = self.constant_url(&origin.url).and_then(|url| match UrlOrigin::from_text(&url) {
                Some(known) => Ok((known, url)),
                None => Err(Problem::not_an_origin(&url)),
            });
            let read = self.reported(origin.at, url);
            self.origins.extend(read);
        }
    }

    /// The same at one of these origins, where its URL may lead.
    pub(super) fn at_origin(
        &mut self,
        number: usize,
        step: &Step,
        request: &Request,
    ) -> Result<(UrlOrigin, PreparedPart), Problem> {
        let (known, url) = self.origins[number].clone();
        self.origin = Some(url);
        let part = self.request(step, request);
        self.origin = None;
        Ok((known, part?))
    }

    /// The parts of a request that contain marks; in their place the step shows the source of the slot. `is_whole`:
    /// path and query are one value.
    pub(super) fn making_of(
        &mut self,
        (target, made): (&mut Target, &mut PlanStep),
        is_whole: bool,
        marks: &Marks,
    ) -> Result<Made, Problem> {
        let own = UrlOrigin::from_url(&target.url).filter(|_| is_whole);
        let mut dynamic_parts = Made { target: own, ..Made::default() };
        let mut path = marks.pattern(&made.request.path, |slot| origin(slot, is_whole));
        if let Some(plan::PatternPart::Text(text)) =
            path.as_mut().filter(|_| is_whole).and_then(|path| path.parts.first_mut())
        {
            // The slash stands for the final value.
            *text = text.trim_start_matches('/').to_owned();
        }
        if let Some(path) = &path {
            dynamic_parts.path = Some(self.naming.rendering(path)?);
            target.url = marks.shown(&target.url).unwrap_or_default();
            made.request.path = path.to_string();
        }
        for (number, (name, value)) in made.request.headers.iter_mut().enumerate() {
            let text = std::str::from_utf8(value).ok();
            let Some(pattern) = text.and_then(|text| marks.pattern(text, |_| Some(SlotContext::Header))) else {
                continue;
            };
            if made.follow.is_some() && name.eq_ignore_ascii_case("content-range") {
                // Redirects may drop the body, and derive another field from it.
                return Err(Problem::SlotHere);
            }
            dynamic_parts.headers.push((number, self.naming.rendering(&pattern)?));
            *value = pattern.to_string().into_bytes();
        }
        if let Some(follow) = &mut made.follow {
            Arc::make_mut(&mut follow.form).rewrite(&|text| marks.shown(text));
        }
        Ok(dynamic_parts)
    }

    /// Finishes a step with its name, and with its dynamic parts, if there are any.
    pub(super) fn finish(
        &mut self,
        step: &Step,
        part: PreparedPart,
        dynamic_parts: Made,
    ) -> Result<PreparedPart, Problem> {
        let (target, mut made) = part;
        made.name.clone_from(&step.name);
        made.deadline = step.deadline.map(|deadline| deadline.span);
        made.tags.clone_from(&step.tags);
        // Cookies of the user are added to the dynamic parts.
        let is_needed =
            dynamic_parts.makes_requests() || !dynamic_parts.takes.is_empty() || self.file.defaults.keeps_cookies();
        made.dynamic_parts = is_needed.then(|| Arc::new(dynamic_parts));
        Ok((target, made))
    }

    /// The bytes of a body, and how it is made anew where it is not always the same.
    fn body(&mut self, body: &Body, draft: &mut Draft) -> Result<(BodyBytes, Option<Rendering>), Problem> {
        let (pieces, kind) = match body {
            Body::Text(pattern) => (bodies::text_pieces(pattern), None),
            Body::File(path) => return Ok((self.body_of(path)?, None)),
            Body::RowFile(path) => (bodies::file_pieces(path, self)?, None),
            Body::Json(json) => (bodies::json_pieces(json), Some("application/json".to_owned())),
            Body::Form(fields) => (bodies::form_pieces(fields), None),
            Body::Multipart(parts) => {
                let (pieces, kind) = bodies::part_pieces(parts, self)?;
                (pieces, Some(kind))
            }
        };
        let is_said = draft.request.headers.iter().any(|header| header.name.eq_ignore_ascii_case("content-type"));
        if let Some(kind) = kind.filter(|_| !is_said) {
            draft.request.headers.push(Header::parse(&format!("Content-Type: {kind}"))?);
        }
        Ok(match pieces.finish(self)?.into_constant() {
            Ok(bytes) => (bytes.into(), None),
            Err(rendering) => (b"-".to_vec().into(), Some(rendering)),
        })
    }

    /// The draft of a call, without its messages.
    pub(super) fn call_draft(&mut self, call: &Call) -> Result<Draft, Problem> {
        self.call_parts(call).map(|(draft, _)| draft)
    }

    fn call_parts(&mut self, call: &Call) -> Result<(Draft, Marks), Problem> {
        let (mut draft, mut marks) = (self.draft(), Marks::new(&self.mark));
        let place = self.place(&call.url, Scheme::Grpc, &mut marks)?;
        if !marks.is_empty() {
            return Err(Problem::MethodSlot);
        }
        self.go_to(&mut draft, &place.marked)?;
        self.add_headers(&mut draft, &call.headers, &mut marks)?;
        if let Some(timeout) = call.timeout {
            draft.request.timeout = Some(timeout);
        }
        draft.responses.location = false;
        draft.responses.max_redirs = None;
        Ok((draft, marks))
    }

    /// A gRPC call.
    pub(super) fn call(&mut self, step: &Step, call: &Call) -> Result<PreparedPart, Problem> {
        let (mut draft, marks) = self.call_parts(call)?;
        self.add_expects(&mut draft, &call.expect);
        if call.expect.status.is_none() {
            // The statuses of the defaults are those of HTTP.
            draft.responses.status = None;
        }
        let renderings: Vec<Rendering> =
            call.messages.iter().map(|json| bodies::json_pieces(json).finish(self)).collect::<Result<_, _>>()?;
        let has_slots = renderings.iter().any(|rendering| rendering.constant().is_none());
        if !call.messages.is_empty() {
            let texts: Vec<String> = call.messages.iter().map(|json| without_slots(json).to_string()).collect();
            let text = if has_slots { texts } else { constants(&renderings) };
            draft.request.body = Some(DraftBody::Bytes(text.join("\n").into_bytes().into()));
        }
        let known = self.outside.schemas.iter().find(|(of, _)| of.url == draft.url).map(|(_, schema)| schema);
        let (mut target, mut made) = draft.part(known, false)?;
        let file = self.file;
        let usual = &file.defaults.expect;
        self.add_more_expects(&mut made, &call.expect, usual);
        let mut dynamic_parts = self.making_of((&mut target, &mut made), false, &marks)?;
        dynamic_parts.takes = self.takings(&call.take)?;
        dynamic_parts.expects = self.dynamic_checks(&call.expect, usual)?;
        if has_slots {
            dynamic_parts.messages = renderings;
        }
        self.finish(step, (target, made), dynamic_parts)
    }
}

/// The context of the slots of a URL that is one value; fields of its query stay fields.
fn origin(slot: &plan::Slot, is_whole: bool) -> Option<SlotContext> {
    (is_whole && slot.place != SlotContext::Form).then_some(SlotContext::Origin)
}

fn constants(renderings: &[Rendering]) -> Vec<String> {
    let texts = renderings.iter().map(|rendering| rendering.constant().unwrap_or_default());
    texts.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
}

/// The same message with placeholders for unknown values that fit every type.
fn without_slots(json: &Json) -> serde_json::Value {
    match json {
        Json::Null => serde_json::Value::Null,
        Json::Bool(is_so) => (*is_so).into(),
        Json::Number(number) => serde_json::Value::Number(number.clone()),
        Json::Digits(digits) => serde_json::from_str(digits).unwrap_or_default(),
        Json::Text(pattern) => {
            let plain: Option<String> = pattern
                .parts
                .iter()
                .map(|part| match part {
                    plan::PatternPart::Text(text) => Some(text.as_str()),
                    plan::PatternPart::Slot(_) => None,
                })
                .collect();
            plain.map_or(serde_json::Value::Null, serde_json::Value::from)
        }
        Json::List(items) => {
            // A list has no place for an absent value.
            let items: Vec<_> = items.iter().map(without_slots).filter(|item| !item.is_null()).collect();
            items.into()
        }
        Json::Map(pairs) => {
            let mut map = serde_json::Map::new();
            for (key, value) in pairs {
                let key = without_slots(&Json::Text(key.clone()));
                if let Some(key) = key.as_str() {
                    map.insert(key.to_owned(), without_slots(value));
                }
            }
            map.into()
        }
    }
}
