//! A limit of requests per second, and the dates by which a refused client may come again.

use std::time::Duration;

use pacing::Nanos;

/// Requests per second, unless a request says another number.
pub(super) const PER_S_USUAL: u32 = 10;
/// The largest limit.
pub(super) const PER_S_MAX: u32 = 1_000_000;

const SECOND: Nanos = Nanos(1_000_000_000);
const SECONDS_A_DAY: u64 = 86_400;
const SECONDS_AN_HOUR: u64 = 3_600;
const SECONDS_A_MINUTE: u64 = 60;
/// The first day of the Unix epoch was a Thursday.
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [(&str, u64); 12] = [
    ("Jan", 31),
    ("Feb", 28),
    ("Mar", 31),
    ("Apr", 30),
    ("May", 31),
    ("Jun", 30),
    ("Jul", 31),
    ("Aug", 31),
    ("Sep", 30),
    ("Oct", 31),
    ("Nov", 30),
    ("Dec", 31),
];

/// The limit of a user: a bucket that holds the requests of one second, and is full again one second after the last.
#[derive(Debug, Default)]
pub(crate) struct RateLimit {
    /// The instant at which the bucket is full again.
    full_at: Nanos,
    /// Number of refused requests.
    refused: u32,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OverLimit {
    /// Time until the next request is admitted, if no other comes before.
    wait: Nanos,
    /// Whether the client is given a date instead of seconds.
    is_date: bool,
}

impl RateLimit {
    /// Admits a request, or refuses it.
    pub(crate) fn admit(&mut self, per_s: u32, now: Nanos) -> Result<(), OverLimit> {
        let each = Nanos(SECOND.0 / u64::from(per_s));
        let full_at = self.full_at.max(now) + each;
        let admitted_at = full_at.since(now + SECOND);
        if admitted_at == Nanos::ZERO {
            self.full_at = full_at;
            return Ok(());
        }
        let is_date = self.refused % 2 == 1;
        self.refused = self.refused.wrapping_add(1);
        Err(OverLimit { wait: admitted_at, is_date })
    }
}

impl OverLimit {
    /// The value of `Retry-After` (RFC 9110 10.2.3). `unix_now`: the time since the Unix epoch.
    pub(crate) fn retry_after(self, unix_now: Duration) -> String {
        if self.is_date {
            return http_date(seconds_up(unix_now + self.wait.as_duration()));
        }
        seconds_up(self.wait.as_duration()).to_string()
    }
}

/// A span in seconds; a part of a second counts as a whole one.
fn seconds_up(span: Duration) -> u64 {
    span.as_secs() + u64::from(span.subsec_nanos() > 0)
}

fn is_leap(year: u64) -> bool {
    (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400)
}

/// A time of Unix as a date of HTTP (RFC 9110 5.6.7).
fn http_date(unix_s: u64) -> String {
    let (mut days, second) = (unix_s / SECONDS_A_DAY, unix_s % SECONDS_A_DAY);
    let day_name = DAYS[(days % DAYS.len() as u64) as usize];
    let mut year = 1970;
    loop {
        let length = MONTHS.iter().map(|(_, days)| days).sum::<u64>() + u64::from(is_leap(year));
        if days < length {
            break;
        }
        (days, year) = (days - length, year + 1);
    }
    let mut month_name = "";
    for (name, length) in MONTHS {
        month_name = name;
        let length = length + u64::from(name == "Feb" && is_leap(year));
        if days < length {
            break;
        }
        days -= length;
    }
    let (hour, minute) = (second / SECONDS_AN_HOUR, second % SECONDS_AN_HOUR / SECONDS_A_MINUTE);
    let (day, second) = (days + 1, second % SECONDS_A_MINUTE);
    format!("{day_name}, {day:02} {month_name} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        let cases = [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            // The example of RFC 9110.
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (978_307_199, "Sun, 31 Dec 2000 23:59:59 GMT"),
            (1_709_251_200, "Fri, 01 Mar 2024 00:00:00 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
        ];
        for (unix_s, expect) in cases {
            assert_eq!(http_date(unix_s), expect);
        }
    }

    #[test]
    fn a_second_has_its_number_of_requests() {
        let mut limit = RateLimit::default();
        let ms = Nanos::from_millis;
        let mut admitted = |at_ms: u64| limit.admit(4, ms(at_ms)).map_err(|over| (over.wait, over.is_date));
        assert_eq!([10_000; 4].map(&mut admitted), [Ok(()); 4]);
        assert_eq!(admitted(10_000), Err((ms(250), false)));
        assert_eq!(admitted(10_249), Err((ms(1), true)));
        assert_eq!([10_250, 10_500, 10_600].map(&mut admitted), [Ok(()), Ok(()), Err((ms(150), false))]);
        assert_eq!([20_000; 5].map(&mut admitted), [Ok(()), Ok(()), Ok(()), Ok(()), Err((ms(250), true))]);
    }

    #[test]
    fn clients_are_given_seconds_or_a_date() {
        let over = |is_date| OverLimit { wait: Nanos::from_millis(1_001), is_date };
        let unix_now = Duration::from_millis(784_111_775_500);
        assert_eq!(over(false).retry_after(unix_now), "2");
        assert_eq!(over(true).retry_after(unix_now), "Sun, 06 Nov 1994 08:49:37 GMT");
    }
}
