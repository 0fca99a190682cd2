//! Sets of status codes: `200,300-399`.

use std::ops::RangeInclusive;

use crate::PlanError;

/// A set of status codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusSet(Vec<RangeInclusive<u16>>);

impl Default for StatusSet {
    /// Every status below 400.
    fn default() -> Self {
        Self(vec![100..=399])
    }
}

impl StatusSet {
    /// Reads statuses and ranges, separated by commas.
    ///
    /// # Errors
    /// Something is no status from 100 to 999, or a range runs backwards.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let ranges: Option<Vec<_>> = text.split(',').map(|item| range(item.trim())).collect();
        ranges.map(Self).ok_or_else(|| PlanError::Statuses { value: text.to_owned() })
    }

    /// Whether `status` belongs to it.
    pub fn contains(&self, status: u16) -> bool {
        self.0.iter().any(|range| range.contains(&status))
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
