//! The sections of `docs/why.md` that explain failures: cause, what to look at, what to do.

use metrics::{Failure, ProtocolFault, TlsFault};

use super::{FailureContext, custom};
use crate::Language;

/// The id of the section that explains a failure; `None` where its remedy is all there is to say.
pub(crate) fn section(failure: Failure, context: &FailureContext<'_>) -> Option<&'static str> {
    Some(match failure {
        Failure::ConnectRefused | Failure::ConnectTimeout if context.is_over_tcp(failure) => "dns-truncated",
        Failure::ConnectRefused if context.is_datagram => "udp-refused",
        Failure::ConnectRefused => "connection-refused",
        Failure::Reset | Failure::ClosedEarly => "connection-reset-by-peer",
        Failure::NoDescriptor => "too-many-open-files",
        Failure::NoLocalPort => "cannot-assign-requested-address",
        Failure::Timeout if context.is_datagram && context.went_over_tcp > 0 => "dns-truncated",
        Failure::Timeout if context.is_datagram => match context.custom_request().and_then(custom::silence_section) {
            Some(section) if context.received == Some(0) => section,
            _ => "udp-drops",
        },
        Failure::Custom(number) => return custom::section(number),
        Failure::ConnectTimeout | Failure::NoFirstAnswer | Failure::Timeout | Failure::Tls(TlsFault::NoAnswer) => {
            "timeouts"
        }
        Failure::Tls(_) | Failure::Protocol(ProtocolFault::Tls) => "certificate-errors",
        Failure::Dns => "dns",
        Failure::CallHttp(_) => return status_section(failure.http_status()?),
        Failure::Status => return status_section(context.failed_statuses.iter().max_by_key(|(_, count)| *count)?.0),
        _ => return None,
    })
}

/// The same of an HTTP status that is a failure.
fn status_section(status: u16) -> Option<&'static str> {
    match status {
        429 => Some("429"),
        502..=504 => Some("502-503-504"),
        400..=499 => Some("401-403-404"),
        _ => None,
    }
}

/// The line that leads to these sections.
pub(crate) fn more(sections: &[&str], language: Language) -> String {
    let page = language.pick("docs/why.md", "docs/why.zh.md");
    let links: Vec<String> = sections.iter().map(|section| format!("#{section}")).collect();
    let links = links.join(language.pick(", ", "、"));
    language.pick(format!("more: {page}{links}"), format!("详见 {page}{links}"))
}
