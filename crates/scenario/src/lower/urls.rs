//! The URL of a step: the host is known before the run, and the rest may change with each exchange.

use plan::{Filling, Pattern, PatternPart, Slot};

use super::DynamicParts;
use super::marks::Marks;
use crate::diagnostic::Problem;

/// A URL whose slots are marks.
pub(super) struct UrlTemplate {
    pub(super) marked: String,
    /// Whether path and query are one value, which may be a URL of the target.
    pub(super) is_whole: bool,
}

impl DynamicParts<'_> {
    /// The URL of a step. `scheme`: that of relative URLs, where it is not that of the target.
    pub(super) fn place(&self, url: &Pattern, scheme: Scheme, marks: &mut Marks) -> Result<UrlTemplate, Problem> {
        let first = url.parts.first();
        let is_fixed =
            |slot: &Slot| matches!(slot.filling, Filling::Environment(_)) || self.naming.constant(slot).is_some();
        let is_dynamic = matches!(first, Some(PatternPart::Slot(slot)) if !is_fixed(slot));
        let is_relative = match first {
            Some(PatternPart::Text(text)) => text.starts_with('/') || text.starts_with('?'),
            Some(PatternPart::Slot(slot)) => {
                self.naming.constant(slot).is_none_or(|value| value.to_string().starts_with('/'))
            }
            None => true,
        };
        let mut marked = if is_relative { self.base(scheme)? } else { String::new() };
        if is_dynamic {
            // A URL of a response belongs to the host of the target, and is checked once it is known.
            let host = marked.find("://").map_or(0, |at| at + "://".len());
            marked.truncate(marked[host..].find(['/', '?', '#']).map_or(marked.len(), |at| host + at));
            marked.push('/');
        }
        for part in &url.parts {
            match part {
                PatternPart::Text(text) => marked.push_str(text),
                PatternPart::Slot(slot) => match self.naming.constant(slot) {
                    Some(value) if !has_path(&marked) => marked.push_str(&value.to_string()),
                    _ if !has_path(&marked) => return Err(not_constant(slot)),
                    _ => marked.push_str(&marks.mark(slot)),
                },
            }
        }
        Ok(UrlTemplate { marked, is_whole: is_dynamic })
    }

    /// The base of relative URLs.
    pub(super) fn base(&self, scheme: Scheme) -> Result<String, Problem> {
        if let Some(origin) = &self.origin {
            return Ok(origin.clone());
        }
        let Some(target) = &self.file.target else { return Err(Problem::NoTarget { url: "/".to_owned() }) };
        Ok(scheme.applied_to(&self.constant_url(target)?))
    }

    /// A URL that is known before the run, without a slash at its end.
    pub(super) fn constant_url(&self, url: &Pattern) -> Result<String, Problem> {
        let mut text = String::new();
        for part in &url.parts {
            match part {
                PatternPart::Text(part) => text.push_str(part),
                PatternPart::Slot(slot) => text.push_str(&self.constant_text(slot)?),
            }
        }
        text.truncate(text.trim_end_matches('/').len());
        Ok(text)
    }

    fn constant_text(&self, slot: &Slot) -> Result<String, Problem> {
        self.naming.constant(slot).map(|value| value.to_string()).ok_or_else(|| not_constant(slot))
    }
}

/// The fault of a slot whose value is unknown before the run.
fn not_constant(slot: &Slot) -> Problem {
    match &slot.filling {
        Filling::Environment(name) => Problem::Unset { name: name.clone() },
        _ => Problem::HostSlot { text: slot.text.clone() },
    }
}

/// Whether the host of a URL is complete.
fn has_path(text: &str) -> bool {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    rest.contains(['/', '?', '#'])
}

/// The scheme for the target of a relative URL.
#[derive(Clone, Copy)]
pub(super) enum Scheme {
    Http,
    Grpc,
    WebSocket,
    /// That of the target.
    Own,
}

impl Scheme {
    /// The same target with this scheme.
    fn applied_to(self, url: &str) -> String {
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        let is_tls = matches!(scheme, "https" | "wss" | "grpcs");
        let own = match (self, is_tls) {
            (Self::Http, false) => "http",
            (Self::Http, true) => "https",
            (Self::Grpc, false) => "grpc",
            (Self::Grpc, true) => "grpcs",
            (Self::Own, _) => scheme,
            (Self::WebSocket, false) => "ws",
            (Self::WebSocket, true) => "wss",
        };
        format!("{own}://{rest}")
    }
}
