//! The reason why nothing at all succeeded, where it is obvious.

use engine::Basis;
use figures::{Note, Run};
use metrics::{Failure, ProtocolFault};
use plan::{Protocol, Step};

use crate::Language;
use crate::format::{count, percent};
use crate::messages::{failed_statuses, failed_words, failure_name};

/// The beginning of the verdict of a run without a success; `None` of any other.
pub(crate) fn nothing_succeeded(run: &Run, language: Language) -> Option<String> {
    let tally = &run.tally;
    if tally.all_started() == 0 || tally.succeeded() > 0 || tally.connections_established() == 0 {
        return None;
    }
    let why = why(run, language)?;
    Some(language.pick(format!("nothing succeeded: {why}"), format!("没有一个请求成功：{why}")))
}

/// The share of failures from which on they come first in the verdict.
const REPORTED_SHARE_MIN: f64 = 0.01;

/// The beginning of the verdict of a run with failures: their share, and the most frequent reason. Failures of a target
/// that was overloaded are covered by the verdict itself.
pub(crate) fn some_failed(run: &Run, language: Language) -> Option<String> {
    let (tally, finished) = (&run.tally, run.tally.finished());
    let is_reported = tally.failed as f64 >= REPORTED_SHARE_MIN * finished.max(1) as f64;
    let reported_already = matches!(run.verdict.known, Basis::Refusals { .. } | Basis::Outage(_));
    if !is_reported || reported_already {
        return None;
    }
    let most = tally.failures.iter().max_by_key(|each| each.count)?;
    let is_failure = |status: &&(u16, u64)| status.0 >= 300 || status.0 < 200;
    let status = tally.statuses.iter().filter(is_failure).max_by_key(|(_, count)| *count);
    // Statuses include those of redirects and of expected ones too.
    let status = status.filter(|(_, number)| most.failure == Failure::Status && *number <= most.count);
    let status = status.map(|(status, number)| (status.to_string(), *number));
    let word = failed_word(run).filter(|_| most.failure == Failure::Status);
    let named = status.into_iter().chain(word).max_by_key(|(_, number)| *number);
    let (name, number) = named.unwrap_or_else(|| (failure_name(most.failure), most.count));
    let (share, number) = (percent(tally.failed, finished), count(number));
    Some(language.pick(
        format!("{share} of the requests failed ({number} of them: {name})"),
        format!("{share} 的请求失败（其中 {number} 个：{name}）"),
    ))
}

/// The most frequent status that is a word and failed, with its count; `None` where it is unclear which of them did.
fn failed_word(run: &Run) -> Option<(String, u64)> {
    let (words, numbers) = (failed_words(run), failed_statuses(run));
    let sum = words.iter().map(|(_, count)| count).chain(numbers.iter().map(|(_, count)| count)).sum::<u64>();
    let is_clear = sum == run.tally.failures_of(Failure::Status);
    let most = words.into_iter().filter(|_| is_clear).max_by_key(|(_, count)| *count);
    most.map(|(word, count)| (word.into(), count))
}

fn why(run: &Run, language: Language) -> Option<String> {
    let tally = &run.tally;
    let most = tally.failures.iter().max_by_key(|each| each.count)?;
    if run.notes.contains(&Note::SpeaksTls) || most.failure == Failure::Protocol(ProtocolFault::Tls) {
        let scenario = run.plan.scenarios.first()?;
        let scheme = match scenario.target().protocol {
            Protocol::WebSocket => "wss://",
            _ => "https://",
        };
        return Some(language.pick(
            format!("the port speaks TLS; write {scheme}"),
            format!("该端口使用 TLS；请把 URL 改为 {scheme} 开头"),
        ));
    }
    if most.failure == Failure::Check {
        return Some(failed_checks(run, language));
    }
    // A status is the cause only where it is the failure.
    if let [(status, count)] = tally.statuses[..]
        && count >= tally.failed
        && most.failure == Failure::Status
        && !run.is_grpc()
    {
        let sends_body = |step: &Step| !matches!(step.request.method.as_str(), "GET" | "HEAD");
        let has_body = run.plan.scenarios.iter().flat_map(|scenario| &scenario.steps).any(sends_body);
        let remedy = remedy(status, has_body, language);
        return Some(
            language.pick(format!("every answer was {status}; {remedy}"), format!("所有响应都是 {status}；{remedy}")),
        );
    }
    if let (true, [(word, count)]) = (tally.statuses.is_empty(), &tally.status_words[..])
        && *count >= tally.failed
        && most.failure == Failure::Status
    {
        return Some(language.pick(
            format!("every answer was {word}; see it with --show-failures"),
            format!("所有响应都是 {word}；可用 --show-failures 查看"),
        ));
    }
    let name = failure_name(most.failure);
    Some(language.pick(format!("mostly {name}; see the failures"), format!("主要是 {name}；详见失败原因")))
}

/// The checks that the responses did not pass, by their flags: one of them, or several.
fn failed_checks(run: &Run, language: Language) -> String {
    let all = || run.plan.scenarios.iter().flat_map(|scenario| &scenario.steps).map(|step| &step.checks);
    let flags = [
        ("--expect-header", all().any(|checks| !checks.headers.is_empty())),
        ("--expect-body", all().any(|checks| !checks.bodies.is_empty())),
        ("--expect-json", all().any(|checks| !checks.json.is_empty())),
    ];
    let flags: Vec<&str> = flags.iter().filter(|(_, is_used)| *is_used).map(|(flag, _)| *flag).collect();
    language.pick(
        format!("the answers do not meet {}; see them with --show-failures", flags.join(" and ")),
        format!("响应不符合 {} 的要求；可用 --show-failures 查看", flags.join(" 和 ")),
    )
}

fn remedy(status: u16, has_body: bool, language: Language) -> &'static str {
    let (english, chinese) = match status {
        404 | 410 => ("check the path", "请检查路径"),
        401 | 403 | 407 => (
            "give what the server asks for, with -u NAME:PASSWORD or -H 'Authorization: ...'",
            "请用 -u 用户名:密码 或 -H 'Authorization: ...' 提供凭据",
        ),
        405 => ("another method may be right: -X POST", "可能需要其他方法，如 -X POST"),
        400 | 415 | 422 if !has_body => ("check the URL, its query and the headers", "请检查 URL、查询参数和请求头"),
        400 | 415 | 422 => (
            "check the body and its type: -d DATA -H 'Content-Type: ...'",
            "请检查请求体及其类型：-d DATA -H 'Content-Type: ...'",
        ),
        429 => ("the server limits the rate; ask for less with -q", "被服务端限流；请用 -q 降低速率"),
        300..=399 => ("follow redirects with -L", "请用 -L 跟随重定向"),
        500.. => ("look into the log of the server", "请查看服务端日志"),
        _ => (
            "if it is a success here, say so with --expect-status (in a file: expect: {status: ...})",
            "如果这就是预期的结果，请用 --expect-status 说明（文件中为 expect: {status: ...}）",
        ),
    };
    language.pick(english, chinese)
}
