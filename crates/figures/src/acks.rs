//! Detection of responses that waited for a delayed acknowledgement: a system that has nothing to send acknowledges
//! after 40 ms, and a server that writes a response in two pieces waits for that before the second (RFC 896, RFC 1122
//! 4.2.3.2).

use metrics::Distribution;

/// The service times that such a wait causes, in milliseconds; the times around them are rare then.
const WAITED_MS: (u64, u64) = (39, 48);
const BELOW_MS: (u64, u64) = (22, 39);
const ABOVE_MS: (u64, u64) = (48, 80);
/// The limit of the quick responses, in milliseconds.
const QUICK_MS: u64 = 20;
/// The fewest waits that count as evidence.
const WAITED_MIN: u64 = 20;
const WAITED_SHARE_MIN: f64 = 0.01;
/// Times just below or above may be at most this share of the count of delayed times.
const AROUND_SHARE_MAX: f64 = 0.1;

/// The number of service times of responses that waited for an acknowledgement; `None` where the times do not look like
/// it.
pub(crate) fn waited(service: &Distribution) -> Option<u64> {
    let between = |(low, high): (u64, u64)| service.count_between(low * 1_000_000, high * 1_000_000);
    let waited = between(WAITED_MS);
    let around = between(BELOW_MS).max(between(ABOVE_MS)) as f64;
    let is_reported = waited >= WAITED_MIN
        && waited as f64 >= WAITED_SHARE_MIN * service.count() as f64
        && around <= AROUND_SHARE_MAX * waited as f64
        && between((0, QUICK_MS)) >= WAITED_MIN;
    is_reported.then_some(waited)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waited_at(parts: &[(u64, u64)]) -> Option<u64> {
        let mut service = Distribution::default();
        for (ms, count) in parts {
            (0..*count).for_each(|number| service.record(ms * 1_000_000 + number % 7 * 100_000));
        }
        waited(&service)
    }

    #[test]
    fn a_step_at_forty_milliseconds_is_reported() {
        assert_eq!(waited_at(&[(1, 500), (40, 60), (44, 10)]), Some(70));
        for parts in [
            // Too few waits, or too small a share.
            vec![(1, 500), (40, 19)],
            vec![(1, 5_000), (40, 40)],
            // A server that takes as long, or any time.
            vec![(40, 500)],
            vec![(1, 500), (25, 30), (33, 40), (40, 60)],
            vec![(1, 500), (40, 60), (55, 40)],
        ] {
            assert_eq!(waited_at(&parts), None, "{parts:?}");
        }
    }
}
