//! The `Retry-After` of a response (RFC 9110 10.2.3): seconds, or a date.

use std::time::Duration;

const SECONDS_OF_DAY: u64 = 86_400;
/// The months of an HTTP date.
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The wait that a field asks for; `now`: since 1970. A date that has passed asks for none. `None`: it is neither
/// seconds nor a date.
pub fn retry_after(field: &[u8], now: Duration) -> Option<Duration> {
    let text = std::str::from_utf8(field).ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    Some(Duration::from_secs(unix_of(text)?).saturating_sub(now))
}

/// Seconds since 1970 of a date as servers write it: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn unix_of(date: &str) -> Option<u64> {
    let (_, rest) = date.split_once(", ")?;
    let mut words = rest.split(' ');
    let mut number = |most: u64| words.next()?.parse::<u64>().ok().filter(|number| *number <= most);
    let day = number(31).filter(|day| *day > 0)?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|known| *known == month)? as u64 + 1;
    let year = words.next()?.parse::<u64>().ok().filter(|year| (1970..=9999).contains(year))?;
    let mut clock = words.next()?.split(':').map(|part| part.parse::<u64>().ok());
    let mut part = |most: u64| clock.next()?.filter(|number| *number <= most);
    let (hour, minute, second) = (part(23)?, part(59)?, part(60)?);
    let is_whole = words.next() == Some("GMT") && words.next().is_none();
    is_whole.then(|| days_since_1970(year, month, day) * SECONDS_OF_DAY + hour * 3_600 + minute * 60 + second)
}

/// Days of the Gregorian calendar; a year begins in March here, so that the leap day is its last.
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    const BEFORE_1970: u64 = 719_468;
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - BEFORE_1970
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_understood() {
        let now = Duration::from_secs(784_111_777);
        let wait = |field: &str| retry_after(field.as_bytes(), now).map(|wait| wait.as_secs());
        for (field, expected) in [
            ("0", Some(0)),
            (" 120 ", Some(120)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Tue, 29 Feb 2000 00:00:00 GMT", Some(951_782_400 - 784_111_777)),
            ("Sat, 01 Jan 2000 00:00:00 GMT", Some(946_684_800 - 784_111_777)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("", None),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
            ("Sun, 06 Nov 1994 08:49:37", None),
            ("Sun, 32 Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 Nox 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 24:49:37 GMT", None),
        ] {
            assert_eq!(wait(field), expected, "{field}");
        }
    }
}
