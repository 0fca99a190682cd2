//! Errors without the secrets in them.

use super::PlanError;
use crate::{CurlFault, masked, masked_header, masked_url};

impl PlanError {
    /// The same error, safe for a screen or a log.
    #[must_use]
    pub fn without_secrets(mut self) -> Self {
        match &mut self {
            Self::Url { url, .. }
            | Self::Scheme { url, .. }
            | Self::TcpUrl { url }
            | Self::HoldScheme { url }
            | Self::Credentials { url }
            | Self::NotGrpc { url } => *url = masked_url(url),
            Self::HeaderColon { header } | Self::HeaderName { header } | Self::HeaderValue { header } => {
                *header = masked_header(header);
            }
            Self::Pattern { value, reason, .. } | Self::JsonCheck { value, reason } => {
                // The message about a check quotes a piece of it.
                let is_secret = masked(value) != *value;
                *value = masked(value);
                if is_secret {
                    *reason = masked(reason).split('\'').next().unwrap_or_default().trim_end().to_owned();
                }
            }
            Self::Until { value, .. }
            | Self::Hex { value }
            | Self::Sources { value }
            | Self::ProxyHeaderSources { value }
            | Self::Places { value }
            | Self::Resolve { value }
            | Self::ConnectTo { value }
            | Self::Number { value, .. }
            | Self::Duration { value, .. }
            | Self::DurationTooShort { value, .. }
            | Self::Rate { value, .. }
            | Self::Stage { value, .. }
            | Self::Choice { value, .. }
            | Self::GrpcStatuses { value }
            | Self::Statuses { value }
            | Self::Method { method: value }
            | Self::GrpcPath { path: value }
            | Self::UnixSocket { path: value }
            | Self::File { path: value, .. }
            | Self::FileTooLarge { path: value, .. } => *value = as_typed(value),
            Self::Json { reason, .. } => *reason = without_values(reason),
            Self::Curl { fault, .. } => hide_in_fault(fault),
            Self::AtLine { inner, .. } | Self::InFile { inner, .. } => **inner = (**inner).clone().without_secrets(),
            _ => {}
        }
        self
    }
}

fn hide_in_fault(fault: &mut CurlFault) {
    match fault {
        CurlFault::Value { value, .. } | CurlFault::Shell { what: value } => *value = as_typed(value),
        CurlFault::Unknown { flag } | CurlFault::Ambiguous { flag, .. } | CurlFault::NoValue { flag } => {
            *flag = as_typed(flag);
        }
        CurlFault::NotCurl { word } => *word = as_typed(word),
        CurlFault::Glob { url } => *url = masked_url(url),
        _ => {}
    }
}

/// A value that does not fit its flag: perhaps a header or a URL.
fn as_typed(value: &str) -> String {
    if value.contains('@') && value.contains(':') { masked_url(value) } else { masked_header(value) }
}

/// The message of a JSON parser, without the values in it: they may be secrets.
fn without_values(reason: &str) -> String {
    let signs = [(": string \"", '"'), ("value '", '\'')];
    let met = signs.iter().find_map(|(sign, quote)| reason.find(sign).map(|at| (at + sign.len(), *quote)));
    let Some((from, quote)) = met else { return reason.to_owned() };
    match reason[from..].rfind(quote) {
        Some(length) => format!("{}...{}", &reason[..from], &reason[from + length..]),
        None => reason.to_owned(),
    }
}
