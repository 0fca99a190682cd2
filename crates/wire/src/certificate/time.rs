//! Instants as certificates write them (RFC 5280 4.1.2.5).

use super::der::{Reader, tag};

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A calendar time in UTC, to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    year: i64,
    month: u8,
    day: u8,
    hour: u8,
    minute: u8,
    second: u8,
}

impl Time {
    /// The next value, read as a time.
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let (form, text) = reader.next()?;
        let (century, text) = match form {
            // Two digits: from 1950 to 2049.
            tag::UTC_TIME => (if number(text, 0)? >= 50 { 19 } else { 20 }, text),
            tag::GENERALIZED_TIME => (number(text, 0)?, text.get(2..)?),
            _ => return None,
        };
        if text.len() != 13 || text[12] != b'Z' {
            return None;
        }
        let [year, month, day, hour, minute, second] = [
            number(text, 0)?,
            number(text, 2)?,
            number(text, 4)?,
            number(text, 6)?,
            number(text, 8)?,
            number(text, 10)?,
        ];
        let year = i64::from(century) * 100 + i64::from(year);
        let is_time = hour < 24 && minute < 60 && second < 60;
        let is_day = (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
        (is_time && is_day).then_some(Self { year, month, day, hour, minute, second })
    }

    /// Seconds since the Unix epoch, without leap seconds.
    pub fn unix_seconds(&self) -> i64 {
        let years_before = self.year - 1;
        let leaps = |years: i64| years.div_euclid(4) - years.div_euclid(100) + years.div_euclid(400);
        let days_before = (self.year - 1970) * 365 + leaps(years_before) - leaps(1969);
        let in_year: i64 = (1..self.month).map(|month| i64::from(days_of(self.year, month))).sum();
        let days = days_before + in_year + i64::from(self.day) - 1;
        days * 86_400 + i64::from(self.hour) * 3_600 + i64::from(self.minute) * 60 + i64::from(self.second)
    }
}

/// The two digits at `at`.
fn number(text: &[u8], at: usize) -> Option<u8> {
    match text.get(at..at + 2)? {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => Some((tens - b'0') * 10 + (ones - b'0')),
        _ => None,
    }
}

fn days_of(year: i64, month: u8) -> u8 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + u8::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl core::fmt::Display for Time {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { year, day, hour, minute, second, .. } = self;
        let month = MONTHS[usize::from(self.month) - 1];
        write!(f, "{month} {day:>2} {hour:02}:{minute:02}:{second:02} {year} +00:00")
    }
}
