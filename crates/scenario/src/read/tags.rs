//! Tags of steps: `tags: {kind: api}`. A threshold is of all steps with one: `p99(response_time, kind=api)`.

use crate::diagnostic::{FoundInstead, Problem, Things, Wanted};
use crate::reader::Reader;
use crate::tree::Node;

/// The most tags of one step.
const TAGS_MAX: usize = 16;
/// The longest text of a tag.
const TAG_BYTES_MAX: usize = 64;
/// In thresholds this key means something else.
const ADDRESS: &str = "address";

/// Tags by key, each as `key=value`.
pub(super) fn tags(reader: &mut Reader<'_>, node: &Node) -> Vec<String> {
    let mut all = Vec::new();
    for (key, at, node) in super::bounded(reader, node, Things::Tags, TAGS_MAX) {
        let Some(value) = reader.raw_text(node) else { continue };
        if !is_plain(key) || key == ADDRESS {
            reader.found.add(at, Problem::Wrong { wanted: Wanted::Tag, given: FoundInstead::text(key) });
        } else if !is_plain(value) {
            reader.found.add(node.at, Problem::Wrong { wanted: Wanted::Tag, given: FoundInstead::text(value) });
        } else {
            all.push(format!("{key}={value}"));
        }
    }
    all
}

/// Whether a text can stand in a threshold.
fn is_plain(text: &str) -> bool {
    let belongs = |each: char| each.is_alphanumeric() || matches!(each, '_' | '-' | '.');
    !text.is_empty() && text.len() <= TAG_BYTES_MAX && text.chars().all(belongs)
}
