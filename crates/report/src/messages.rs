//! Error messages in both languages: cause and remedy.

mod closes;
mod config_error;
mod custom;
mod export_error;
mod extract_error;
mod failure_context;
mod failures;
mod feed_error;
mod grpc;
mod more;
mod plan_error;
mod proxy;
mod reach;
mod run_error;
mod scenario;
mod secure;
mod silence;
mod snapshot_error;
mod system;
mod threshold_error;
mod wide;

use driver::DriverSelection;
use std::net::SocketAddr;
use std::path::Path;

use engine::ResolveError;
use figures::{FailureCount, Held, Run};
use metrics::{Failure, TlsFault};
pub(crate) use plan::listed;

pub(crate) use closes::code_and_reason;
pub use config_error::{config_error, config_line};
pub(crate) use export_error::export_fault;
pub use export_error::{export_error, export_left_out};
pub(crate) use extract_error::why_in_chinese;
pub use extract_error::{extract_error, not_extracted};
pub(crate) use failure_context::FailureContext;
pub use feed_error::feed_error;
pub use grpc::reflect_error;
pub(crate) use more::{more, section};
pub use plan_error::plan_error;
pub use reach::unconsented_hosts;
pub use run_error::run_error;
pub use scenario::{flag_fault, scenario_contents, scenario_mistakes, scenario_warnings};
pub use secure::tls_error;
pub use snapshot_error::snapshot_error;
pub use system::{Doing, in_chinese, system_fault};
pub use threshold_error::{threshold_error, threshold_fault};

use crate::Language;
use crate::format::count;

/// The name of a failure, with the detail that some have.
pub(crate) fn failure_name(failure: Failure) -> String {
    match failure.detail() {
        Some(detail) => format!("{} ({detail})", failure.name()),
        None => failure.name().to_owned(),
    }
}

/// The same for people who read Chinese: what it is called, and its name in brackets.
pub(crate) fn failure_called(failure: Failure, language: Language) -> String {
    let name = failure_name(failure);
    match language {
        Language::En => name,
        Language::Zh => format!("{}（{name}）", failures::chinese(failure)),
    }
}

/// The same of a name in a report.
pub fn reason_called(name: &str, language: Language) -> String {
    let plain = name.split(" (").next().unwrap_or_default();
    match Failure::all().find(|failure| failure.name() == plain) {
        Some(failure) if language == Language::Zh => format!("{}（{name}）", failures::chinese(failure)),
        _ => name.to_owned(),
    }
}

/// The same, with the HTTP status of a gRPC call that failed with it.
pub(crate) fn failure_in(failure: Failure, context: &FailureContext<'_>, language: Language) -> String {
    let name = failure_name(failure);
    match call_status(failure, context.is_grpc) {
        Some(status) if !matches!(failure, Failure::GrpcStatus(_)) => {
            language.pick(format!("{name}, counted as {status}"), format!("{name}，计为 {status}"))
        }
        _ => name,
    }
}

/// The HTTP status of a gRPC call that failed with it; `None` when it has a gRPC status, or no calls are made.
pub(crate) fn call_status_name(failure: Failure, run: &Run) -> Option<&'static str> {
    call_status(failure, run.is_grpc())
}

/// The most statuses that are named individually.
const STATUSES_NAMED_MAX: usize = 4;

/// A failure with its count. Statuses are counted separately, where that is known.
pub(crate) fn failure_counted(failure: &FailureCount, context: &FailureContext<'_>, language: Language) -> String {
    let all = count(failure.count);
    let plain = || {
        let (name, called) = (failure_in(failure.failure, context, language), failures::chinese(failure.failure));
        let gap = if called.starts_with(|first: char| first.is_ascii()) { " " } else { "" };
        language.pick(format!("{all} {name}"), format!("{all} 次{gap}{called}（{name}）"))
    };
    if failure.failure != Failure::Status {
        return plain();
    }
    let of_http = context.failed_statuses.iter().map(|(status, count)| (format!("HTTP {status}"), *count));
    let words = context.failed_words.iter().map(|(word, count)| (word.to_string(), *count));
    let mut statuses: Vec<(String, u64)> = of_http.chain(words).collect();
    // A redirect, or a status expected by one step only, makes it unclear which of them failed.
    if statuses.iter().map(|(_, count)| count).sum::<u64>() != failure.count {
        return plain();
    }
    statuses.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    let rest: u64 = statuses.iter().skip(STATUSES_NAMED_MAX).map(|(_, count)| count).sum();
    let named = statuses.iter().take(STATUSES_NAMED_MAX);
    let mut parts: Vec<String> = named
        .map(|(status, number)| {
            let number = count(*number);
            language.pick(format!("{number} x {status}"), format!("{number} 个 {status}"))
        })
        .collect();
    if rest > 0 {
        let rest = count(rest);
        parts.push(language.pick(format!("{rest} x others"), format!("其他 {rest} 个")));
    }
    parts.join(language.pick(", ", "，"))
}

/// HTTP statuses that no step counts as a success.
pub(crate) fn failed_statuses(run: &Run) -> Vec<(u16, u64)> {
    let steps = || run.plan.scenarios.iter().flat_map(|scenario| &scenario.steps);
    if steps().any(|step| step.call.is_some()) {
        return Vec::new();
    }
    let is_success = |status: u16| steps().any(|step| step.messaging.is_none() && step.checks.status.contains(status));
    run.tally.statuses.iter().copied().filter(|(status, _)| !is_success(*status)).collect()
}

/// The words that may have failed: those that occurred at most as often as requests failed with a status. Where their
/// counts, with those of [`failed_statuses`], add up to that number, exactly these failed.
pub(crate) fn failed_words(run: &Run) -> Vec<(Box<str>, u64)> {
    let failed = run.tally.failures_of(Failure::Status);
    run.tally.status_words.iter().filter(|(_, count)| *count <= failed).cloned().collect()
}

fn call_status(failure: Failure, is_grpc: bool) -> Option<&'static str> {
    let status = engine::call_status(failure).filter(|_| is_grpc)?;
    Some(metrics::GRPC_STATUSES[status.index()])
}

/// The target of the load.
pub(crate) fn place(run: &Run) -> String {
    let scenario = run.plan.scenarios.first();
    let unix = scenario.and_then(|scenario| scenario.targets.first()).and_then(|target| target.unix.as_deref());
    place_of(run.address, unix)
}

/// The target of a hold.
pub(crate) fn place_held(held: &Held) -> String {
    place_of(held.address, held.plan.target.unix.as_deref())
}

fn place_of(address: SocketAddr, unix: Option<&Path>) -> String {
    unix.map_or_else(|| address.to_string(), |path| format!("unix:{}", path.display()))
}

/// The reason why a connection was not established, in brackets. Where the remedy names the error, its number is
/// omitted.
pub(crate) fn failure_in_brackets(failure: Failure, language: Language) -> String {
    match failure {
        Failure::Os(_) => String::new(),
        _ => language.pick(format!(" ({})", failure_name(failure)), format!("（{}）", failure_name(failure))),
    }
}

/// The remedy of a failure for the user.
pub fn failure_remedy(failure: Failure, run: &Run, language: Language) -> String {
    remedy_in(failure, &FailureContext::for_failure(run, failure), language)
}

/// The remedy of a failure at this host.
pub(crate) fn remedy_at(failure: Failure, place: &str, run: &Run, language: Language) -> String {
    let context = FailureContext::for_failure(run, failure);
    // For a single target the address says more than its name.
    let place = Some(place).filter(|place| context.address.is_none() && !place.is_empty());
    remedy_in(failure, &FailureContext { place, ..context }, language)
}

/// The same, in given circumstances.
pub(crate) fn remedy_in(failure: Failure, context: &FailureContext<'_>, language: Language) -> String {
    // Some servers close without an alert, or with an unspecific one.
    let may_be_for_want_of_one = matches!(
        failure,
        Failure::Status
            | Failure::CallHttp(_)
            | Failure::Reset
            | Failure::ClosedEarly
            | Failure::Tls(TlsFault::ClosedEarly | TlsFault::Alert | TlsFault::ClientCertificate)
    );
    if context.lacked_certificate && may_be_for_want_of_one {
        return language.pick(
            "the server asked for a client certificate, but none was given; give one that it accepts with --cert FILE --key FILE".to_owned(),
            "服务端要求客户端证书，但没有给出；请用 --cert FILE --key FILE 给出它认可的证书".to_owned(),
        );
    }
    failures::remedy(failure, context, language)
}

/// The reason for the selected driver.
pub(crate) fn driver_reason(chosen: &DriverSelection, language: Language) -> String {
    match (&chosen.refusal, chosen.was_requested) {
        (Some(refusal), _) => language
            .pick(format!("io_uring is not available: {refusal}"), in_chinese(&format!("io_uring 不可用：{refusal}"))),
        (None, true) => language.pick("as requested", "按 --driver 指定").to_owned(),
        (None, false) => language.pick("the kernel has io_uring", "内核支持 io_uring").to_owned(),
    }
}

/// The error that io_uring was requested explicitly, and the system refuses it.
pub fn driver_error(error: &std::io::Error, language: Language) -> String {
    language.pick(
        format!("--driver uring does not work here: {error}; use --driver poll, or allow io_uring (seccomp, kernel.io_uring_disabled)"),
        in_chinese(&format!("此处无法使用 --driver uring：{error}；请用 --driver poll，或放开 io_uring（seccomp、kernel.io_uring_disabled）")),
    )
}

/// A name resolution error.
pub fn resolve_error(error: &ResolveError, language: Language) -> String {
    match (language, error) {
        (Language::En, error) => error.to_string(),
        (Language::Zh, ResolveError::Unknown { host }) => format!("找不到主机 '{host}'；请检查拼写，或直接写 IP 地址"),
        (Language::Zh, ResolveError::NoZone { address }) => {
            format!("{address} 是链路本地地址，须带上网络接口：[{address}%25eth0]；用 ip link 查看")
        }
        (Language::Zh, ResolveError::Zone { zone }) => format!("本机没有网络接口 '{zone}'；用 ip link 查看"),
        (Language::Zh, ResolveError::Server { host, reason }) => {
            in_chinese(&format!("无法解析主机 '{host}'：{reason}；请检查 --dns，或去掉它"))
        }
        (Language::Zh, ResolveError::Consent { unconsented_hosts }) => reach::refusal_in_chinese(unconsented_hosts),
        (Language::Zh, ResolveError::Lookup { host, reason }) => {
            in_chinese(&format!("无法解析主机 '{host}'：{reason}；请检查 /etc/resolv.conf，或直接写 IP 地址"))
        }
    }
}
