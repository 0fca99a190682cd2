//! Sets of status codes: `200,300-399`.

use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

use crate::PlanError;

/// The gRPC statuses, by their numbers.
const GRPC_NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// A set of status codes, of HTTP or of gRPC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusSet(Vec<RangeInclusive<u16>>);

impl StatusSet {
    /// Whether every status is in it.
    pub(crate) fn is_all(&self) -> bool {
        (100..=599).all(|status| self.0.iter().any(|range| range.contains(&status)))
    }
}

impl Default for StatusSet {
    /// Every status below 400.
    fn default() -> Self {
        Self(vec![100..=399])
    }
}

impl StatusSet {
    /// Parses statuses and ranges, separated by commas.
    ///
    /// # Errors
    /// An item is no status from 100 to 999, or a range runs backwards.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let ranges: Option<Vec<_>> = text.split(',').map(|item| range(item.trim())).collect();
        ranges.map(Self).ok_or_else(|| PlanError::Statuses { value: text.to_owned() })
    }

    /// Every HTTP status.
    pub fn any() -> Self {
        Self(vec![100..=999])
    }

    /// One status.
    pub(crate) fn one(status: u16) -> Self {
        Self(vec![status..=status])
    }

    /// The gRPC status of a successful call.
    pub fn grpc_ok() -> Self {
        Self(vec![0..=0])
    }

    /// Parses gRPC statuses, by their names or numbers, separated by commas.
    ///
    /// # Errors
    /// An item is no gRPC status.
    pub fn parse_grpc(text: &str) -> Result<Self, PlanError> {
        let one = |item: &str| {
            let number = GRPC_NAMES.iter().position(|name| name.eq_ignore_ascii_case(item));
            let number = number.or_else(|| item.parse().ok().filter(|number| *number < GRPC_NAMES.len()))?;
            Some(number as u16..=number as u16)
        };
        let statuses: Option<Vec<_>> = text.split(',').map(|item| one(item.trim())).collect();
        statuses.map(Self).ok_or_else(|| PlanError::GrpcStatuses { value: text.to_owned() })
    }

    /// Whether `status` belongs to it.
    #[inline]
    pub fn contains(&self, status: u16) -> bool {
        let is_within = |range: &RangeInclusive<u16>| *range.start() <= status && status <= *range.end();
        match &self.0[..] {
            // Called for each response, mostly with one range.
            [only] => is_within(only),
            several => several.iter().any(is_within),
        }
    }
}

fn range(item: &str) -> Option<RangeInclusive<u16>> {
    let (first, last) = item.split_once('-').unwrap_or((item, item));
    let (first, last) = (status(first.trim())?, status(last.trim())?);
    (first <= last).then_some(first..=last)
}

fn status(text: &str) -> Option<u16> {
    let is_plain = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|status| is_plain && (100..=999).contains(status))
}
