//! URLs: absolute, or relative to the target.

use plan::{Address, ORIGINS_MAX, Pattern, PatternPart, PlanError, TextContext, UrlOrigin, masked_url};

use crate::diagnostic::{Problem, Things, shortened};
use crate::file::Origin;
use crate::reader::{Read, Reader, Target};
use crate::source::Span;
use crate::tree::Node;

/// The base of relative URLs.
pub(super) fn target(reader: &mut Reader<'_>, node: &Node) -> Read<Pattern> {
    // Until it is read without an error, relative URLs are not reported.
    reader.target = Target::Open;
    if reader.report_wide(node) {
        return None;
    }
    let target = reader.pattern(node, TextContext::Url)?;
    if begins_with_slot(&target) {
        return Some(target);
    }
    let like = sample(&target);
    reader.value(node.at, Address::parse(&like))?;
    // As in the flags: without a scheme, http:// is meant.
    let like = if like.contains("://") { like } else { format!("http://{like}") };
    reader.target = Target::Like(like.trim_end_matches('/').to_owned());
    Some(target)
}

/// Origins: URLs without a path.
pub(super) fn origins(reader: &mut Reader<'_>, node: &Node) -> Vec<Origin> {
    let mut all = reader.one_or_more(node, origin);
    if let Some(first) = all.get(ORIGINS_MAX) {
        reader.found.add(first.at, Problem::TooMany { what: Things::Origins, most: ORIGINS_MAX });
        all.truncate(ORIGINS_MAX);
    }
    all
}

fn origin(reader: &mut Reader<'_>, node: &Node) -> Read<Origin> {
    let url = reader.pattern(node, TextContext::Url)?;
    // What has slots is checked when these have values.
    if let Some(text) = url.as_plain()
        && UrlOrigin::from_text(text).is_none()
    {
        return reader.emit(node.at, Problem::not_an_origin(text));
    }
    Some(Origin { url, at: node.at })
}

/// The URL of a step with this verb.
pub(super) fn url(reader: &mut Reader<'_>, node: &Node, verb: &'static str) -> Read<Pattern> {
    let url = reader.pattern(node, TextContext::Url)?;
    check(reader, node, &url, verb);
    Some(url)
}

/// Checks that a URL is valid for this verb.
pub(super) fn check(reader: &mut Reader<'_>, node: &Node, url: &Pattern, verb: &'static str) {
    if begins_with_slot(url) {
        return;
    }
    let schemes: &[&str] = match verb {
        "grpc" => &["grpc", "grpcs"],
        "websocket" => &["ws", "wss"],
        "tcp" => &["tcp"],
        _ => &["http", "https"],
    };
    let custom = protocol::by_name(verb).map(|protocol| protocol.about().schemes);
    let is_its_own = |scheme: &str| match custom {
        Some(own) => own.iter().any(|own| own.name == scheme),
        None => schemes.contains(&scheme),
    };
    let like = sample(url);
    // A path or a query may contain a URL.
    let is_relative = like.starts_with(['/', '?']);
    let scheme = like.split_once("://").filter(|_| !is_relative).map(|(scheme, _)| scheme.to_ascii_lowercase());
    let shown = || shortened(&masked_url(&like));
    match scheme {
        Some(scheme) if is_its_own(&scheme) => {
            let read = Address::parse(&like);
            reader.value(node.at, read);
        }
        None if is_relative && verb != "tcp" && custom.is_none() => match reader.target.clone() {
            Target::None => reader.found.add(node.at, Problem::NoTarget { url: shown() }),
            Target::Open => {}
            Target::Like(target) => {
                let read = reader.value(node.at, Address::parse(&format!("{target}{like}")));
                if read.is_some_and(|address| address.custom_protocol().is_some()) {
                    reader.found.add(node.at, Problem::Scheme { url: shortened(&masked_url(&target)), verb });
                }
            }
        },
        _ if reader.report_wide(node) => return,
        _ => {
            reader.found.add(node.at, Problem::Scheme { url: shown(), verb });
            return;
        }
    }
    if verb == "grpc" {
        method(reader, node, url, &like);
    }
}

/// Checks that the target of the file is one of a custom protocol, for a step without a URL.
pub(super) fn check_target(reader: &mut Reader<'_>, at: Span, verb: &'static str) {
    match reader.target.clone() {
        Target::None => reader.found.add(at, Problem::NoTarget { url: verb.to_owned() }),
        Target::Open => {}
        Target::Like(target) => {
            let address = Address::parse(&target).ok();
            if address.is_some_and(|address| address.custom_protocol() != Some(verb)) {
                reader.found.add(at, Problem::Scheme { url: shortened(&masked_url(&target)), verb });
            }
        }
    }
}

/// A method has the form `/package.Service/Method`, unless part of it is a slot.
fn method(reader: &mut Reader<'_>, node: &Node, url: &Pattern, like: &str) {
    let path = like.split_once("://").map_or(like, |(_, rest)| rest.find('/').map_or("", |at| &rest[at..]));
    let is_method = path
        .strip_prefix('/')
        .and_then(|path| path.split_once('/'))
        .is_some_and(|(service, method)| !service.is_empty() && !method.is_empty() && !method.contains('/'));
    if !is_method && url.slots().next().is_none() {
        reader.found.add(node.at, Problem::Value(PlanError::GrpcPath { path: shortened(path) }));
    }
}

fn begins_with_slot(url: &Pattern) -> bool {
    matches!(url.parts.first(), Some(PatternPart::Slot(_)))
}

/// A sample of the URL with its slots filled, as far as known.
fn sample(url: &Pattern) -> String {
    let parts = url.parts.iter().map(|part| match part {
        PatternPart::Text(text) => text.as_str(),
        PatternPart::Slot(_) => "1",
    });
    parts.collect()
}
