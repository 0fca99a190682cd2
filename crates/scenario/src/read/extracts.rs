//! Extractions from responses.

use plan::{ExtractError, ExtractFrom, PlanError, Which};

use crate::diagnostic::{FoundInstead, Problem, Things, Wanted, shortened};
use crate::file::{Extract, Name};
use crate::keys::TAKE;
use crate::reader::{Fields, Read, Reader};
use crate::tree::{Node, Value};

/// The keys for the source of a value.
const SOURCES: [&str; 8] = ["json", "regex", "header", "cookie", "status", "css", "body", "url"];
/// Those that only a response has.
const OF_RESPONSES: [&str; 4] = ["header", "cookie", "status", "url"];
/// The most extractions of one step.
const TAKES_MAX: usize = 1_000;

pub(super) fn takes(reader: &mut Reader<'_>, node: &Node) -> Vec<Extract> {
    let named = super::bounded(reader, node, Things::Takes, TAKES_MAX);
    let mut all = Vec::new();
    for (name, at, node) in named {
        let name = reader.name(name, at);
        let read = match &node.value {
            Value::Map(_) => take(reader, node),
            _ => text(reader, node).map(plain),
        };
        all.extend(name.zip(read).map(|(name, extract)| Extract { name, ..extract }));
    }
    all
}

/// The first value from this source, which must be there.
fn plain(from: ExtractFrom) -> Extract {
    let name = Name::default();
    Extract { name, of: None, from, which: Which::First, default: None, is_number: false, from_failed: false }
}

/// The form with a key for each part; it has no name yet.
fn take(reader: &mut Reader<'_>, node: &Node) -> Read<Extract> {
    let mut fields = Fields::open(reader, node, &TAKE)?;
    fields.at_most_one(reader, &SOURCES);
    let mut from = None;
    for source in SOURCES {
        let Some(node) = fields.get(source) else { continue };
        let read = match source {
            "status" | "body" => match reader.switch(node) {
                Some(true) => from_of(reader, node, source, ""),
                Some(false) => reader.wrong(node, Wanted::Extract),
                None => None,
            },
            "url" => reader.text(node).and_then(|text| match text.trim() {
                "true" => Some(ExtractFrom::Url(None)),
                text => from_of(reader, node, source, text),
            }),
            _ => reader.text(node).and_then(|text| from_of(reader, node, source, text)),
        };
        from = from.or(read);
    }
    if fields.given(&SOURCES).is_empty() {
        reader.found.add(fields.at, Problem::MissingKey { object: &TAKE, key: "json" });
    }
    let which = fields.get("which").and_then(|node| which(reader, node));
    let default = fields.get("default").and_then(|node| reader.json(node));
    let types = [("text", false), ("number", true)];
    let is_number = fields.get("as").and_then(|node| reader.word(node, &types)).unwrap_or(false);
    let from_failed = fields.get("from_failed").and_then(|node| reader.switch(node)).unwrap_or(false);
    if is_number && which == Some(Which::All) {
        reader.found.add(fields.place("as"), Problem::Conflict { one: "as: number", other: "which: all" });
    }
    let of = fields.get("from").and_then(|node| reader.text(node).map(|text| (text, node.at)));
    if of.is_some() {
        fields.given(&OF_RESPONSES).into_iter().for_each(|one| {
            reader.found.add(fields.place(one), Problem::Conflict { one, other: "from" });
        });
    }
    let of = of.map(|(text, at)| Name { text: text.trim().to_owned(), at });
    fields.close();
    let which = which.unwrap_or_default();
    from.map(|from| Extract { of, which, default, is_number, from_failed, ..plain(from) })
}

/// The form in one text: `json $.id`.
fn text(reader: &mut Reader<'_>, node: &Node) -> Read<ExtractFrom> {
    let text = reader.text(node)?.trim();
    let (source, rest) =
        text.split_once(char::is_whitespace).map_or((text, ""), |(source, rest)| (source, rest.trim()));
    match SOURCES.iter().find(|known| **known == source) {
        Some(source) => from_of(reader, node, source, rest),
        None => {
            let near = plan::did_you_mean(source, SOURCES).map(str::to_owned);
            match near {
                Some(_) => {
                    let given = shortened(source);
                    reader.emit(node.at, Problem::Choice { given, near, known: SOURCES.join(", ") })
                }
                None => {
                    reader.emit(node.at, Problem::Wrong { wanted: Wanted::Extract, given: FoundInstead::text(text) })
                }
            }
        }
    }
}

fn from_of(reader: &mut Reader<'_>, node: &Node, source: &str, rest: &str) -> Read<ExtractFrom> {
    let is_bare = matches!(source, "status" | "body");
    let pattern = rest.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).filter(|pattern| !pattern.is_empty());
    let is_wrong = match source {
        "url" => !rest.is_empty() && pattern.is_none(),
        _ => is_bare != rest.is_empty(),
    };
    if is_wrong {
        let given = FoundInstead::text(&format!("{source} {rest}"));
        return reader.emit(node.at, Problem::Wrong { wanted: Wanted::Extract, given });
    }
    let owned = rest.to_owned();
    let from = match source {
        "json" => ExtractFrom::Json(owned),
        "url" => ExtractFrom::Url(pattern.map(str::to_owned)),
        "regex" => ExtractFrom::Regex(owned),
        "header" | "cookie" => {
            let is_token = rest.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"(),/:;<=>?@[\\]{}".contains(&byte));
            if !is_token {
                return reader.value(node.at, Err(PlanError::HeaderName { header: shortened(rest) }));
            }
            if source == "header" { ExtractFrom::Header(owned) } else { ExtractFrom::Cookie(owned) }
        }
        "css" => {
            let (selector, attribute) = match rest.rsplit_once('@') {
                Some((selector, attribute)) if plan::is_name(&attribute.replace('-', "_")) => {
                    (selector.trim(), Some(attribute.to_owned()))
                }
                _ => (rest, None),
            };
            if selector.is_empty() {
                return reader
                    .emit(node.at, Problem::Wrong { wanted: Wanted::Extract, given: FoundInstead::text(rest) });
            }
            ExtractFrom::Css { selector: selector.to_owned(), attribute }
        }
        "status" => ExtractFrom::Status,
        _ => ExtractFrom::Body,
    };
    match plan::Extract::new(&from, Which::First) {
        // Whether a build can read HTML does not depend on the file.
        Ok(_) | Err(ExtractError::NoSelectors) => Some(from),
        Err(error) => reader.emit(node.at, Problem::Extract(error)),
    }
}

fn which(reader: &mut Reader<'_>, node: &Node) -> Read<Which> {
    let text = reader.text(node)?;
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return reader.count("which", node, 1, u64::from(u32::MAX)).map(|count| Which::Nth(count as u32));
    }
    let words = [
        ("first", Which::First),
        ("last", Which::Last),
        ("all", Which::All),
        ("random", Which::Random),
        ("count", Which::Count),
    ];
    reader.word(node, &words)
}
