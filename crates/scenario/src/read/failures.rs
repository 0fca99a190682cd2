//! What follows a failure: a word, `retry 3`, or a map of how it is tried again.

use std::time::Duration;

use plan::{OnFailure, RETRIES_MAX, did_you_mean, parse_count, parse_share};

use crate::diagnostic::{FoundInstead, Problem, Wanted, shortened};
use crate::file::{AfterFailure, RetryOptions};
use crate::keys::RETRY;
use crate::reader::{Fields, Read, Reader};
use crate::tree::{Node, Value};

/// What may follow a failure, by its word.
const WORDS: [(&str, OnFailure); 5] = [
    ("next_iteration", OnFailure::Next),
    ("continue", OnFailure::GoOn),
    ("break", OnFailure::Break),
    ("stop_user", OnFailure::Stop),
    ("stop_run", OnFailure::StopRun),
];
/// Words of other programs, and those meant here.
const OTHERS: [(&str, &str); 4] =
    [("stop", "stop_user"), ("abort", "stop_run"), ("ignore", "continue"), ("next", "next_iteration")];
/// The whole of a share, in the unit of the parser.
const MILLION: f64 = 1_000_000.0;

/// `next_iteration`, `retry 3`, `{retry: 3, after: 1s}`.
pub(super) fn on_failure(reader: &mut Reader<'_>, node: &Node) -> Read<AfterFailure> {
    if matches!(node.value, Value::Map(_)) {
        return retrying(reader, node);
    }
    let text = reader.text(node)?.trim();
    let Some(count) = text.strip_prefix("retry ") else {
        let then = word(reader, node, true)?;
        return Some(AfterFailure { at: node.at, retry: None, then });
    };
    let count = reader.value(node.at, parse_count("retry", count.trim(), 1, RETRIES_MAX))?;
    Some(AfterFailure { at: node.at, retry: Some(RetryOptions::at_once(count as u16)), then: OnFailure::Next })
}

/// One of the words; `may_retry`: whether a retry could stand here too.
fn word(reader: &mut Reader<'_>, node: &Node, may_retry: bool) -> Read<OnFailure> {
    let text = reader.text(node)?.trim();
    if let Some((_, then)) = WORDS.iter().find(|(word, _)| *word == text) {
        return Some(*then);
    }
    let known = || WORDS.iter().map(|(word, _)| *word);
    let of_others = OTHERS.iter().find(|(word, _)| *word == text).map(|(_, meant)| *meant);
    let near = of_others.or_else(|| did_you_mean(text, known())).map(str::to_owned);
    if near.is_none() && may_retry {
        return reader.emit(node.at, Problem::Wrong { wanted: Wanted::OnFailure, given: FoundInstead::text(text) });
    }
    let known = known().collect::<Vec<_>>().join(", ");
    reader.emit(node.at, Problem::Choice { given: shortened(text), near, known })
}

fn retrying(reader: &mut Reader<'_>, node: &Node) -> Read<AfterFailure> {
    let mut fields = Fields::open(reader, node, &RETRY)?;
    let most = fields.need(reader, "retry").and_then(|node| reader.count("retry", node, 1, RETRIES_MAX));
    let after = fields.get("after").map(|node| reader.time("after", node));
    let backoff = fields.get("backoff").map(|node| factor(reader, node));
    let max_wait = fields.get("max_wait").map(|node| reader.span("max_wait", node));
    let retry_after = fields.get("retry_after").and_then(|node| reader.switch(node)).unwrap_or(false);
    let jitter = fields.get("jitter").map(|node| share(reader, node));
    let condition = fields.get("if").map(|node| reader.expression(node));
    let then = fields.get("then").and_then(|node| word(reader, node, false)).unwrap_or(OnFailure::Next);
    fields.close();
    let usual = RetryOptions::at_once(most? as u16);
    let retry = RetryOptions {
        after: after.unwrap_or(Some(Duration::ZERO))?,
        backoff: backoff.unwrap_or(Some(usual.backoff))?,
        max_wait: max_wait.unwrap_or(Some(usual.max_wait))?,
        jitter: jitter.unwrap_or(Some(usual.jitter))?,
        condition: condition.map_or(Some(None), |read| read.map(Some))?,
        retry_after,
        ..usual
    };
    Some(AfterFailure { at: node.at, retry: Some(retry), then })
}

/// `2`, `1.5`: a factor that plans accept.
fn factor(reader: &mut Reader<'_>, node: &Node) -> Read<f64> {
    let text = reader.measure(node, Wanted::Factor)?;
    let factor = text.trim().parse::<f64>().ok();
    let is_valid = |backoff: &f64| {
        let retry = RetryOptions { backoff: *backoff, ..RetryOptions::at_once(1) };
        retry.in_plan(None, OnFailure::Next).fault().is_none()
    };
    match factor.filter(is_valid) {
        Some(factor) => Some(factor),
        None => reader.emit(node.at, Problem::Wrong { wanted: Wanted::Factor, given: FoundInstead::text(text) }),
    }
}

/// `20%`, as a part of one.
fn share(reader: &mut Reader<'_>, node: &Node) -> Read<f64> {
    let text = reader.text(node)?;
    reader.value(node.at, parse_share("jitter", text)).map(|millionths| f64::from(millionths) / MILLION)
}
