//! A duration that was typed as the body of a request.

use super::Flags;
use crate::address::Scheme;
use crate::text::is_time;
use crate::{Address, DataIs, PlanError};

/// wrk and others call their duration `-d`. A lone number may be a body, but not where nothing else suggests that there
/// is one.
pub(super) fn refuse_time_as_data(flags: &Flags, instead: &'static str) -> Result<(), PlanError> {
    let Some(value) = flags.data.clone() else { return Ok(()) };
    // Other errors of the address are reported later.
    let scheme = flags.url.as_deref().and_then(|url| Address::parse(url.trim()).ok()).map(|address| address.scheme);
    let is_messaging = instead != "-z" || scheme.is_some_and(Scheme::is_messaging);
    let is_counted = flags.requests.is_some() || flags.requests_each.is_some();
    let is_bare = flags.duration.is_none() && !is_counted && flags.method.is_none();
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit()) && !value.is_empty();
    let is_call = scheme == Some(Scheme::Grpc);
    let is_count_of_seconds = is_number && is_bare && flags.headers.is_empty() && !is_messaging && !is_call;
    let what = if is_messaging { DataIs::Message } else { DataIs::Body };
    match is_time(&value) || is_count_of_seconds {
        true => Err(PlanError::DataIsTime { value, what, instead }),
        false => Ok(()),
    }
}
