//! Connections that took as long as the retries of a lost SYN: the listen queue of the target was full, or packets were
//! lost.

use metrics::Distribution;
use pacing::Nanos;

/// When a SYN is sent again, counted from the first: each second, or after 1, 3, 7 s and so on, depending on the
/// system.
const RETRIES_S: [u64; 8] = [1, 2, 3, 4, 5, 7, 15, 31];
/// How soon a connection is open after the retry that opened it. Timers are a little early or late.
const BEFORE: Nanos = Nanos::from_millis(10);
const WITHIN: Nanos = Nanos::from_millis(150);
/// The longest that a client waits for the first retry and its response.
pub(super) const RETRY_MAX: Nanos = Nanos::from_millis(1_000 + 150);
/// Other connections are open sooner than this, or the latency is too high to tell.
const USUAL_MAX: Nanos = Nanos::from_millis(200);
/// Fewer mean nothing; nor do they where this share of the slow ones took another time.
const LOST_MIN: u64 = 3;
const LOST_SHARE_MIN: f64 = 0.01;
const OTHERS_SHARE_MAX: f64 = 0.2;

/// Connections that were open only after their SYN had been sent again, where that explains slow ones.
pub(super) fn lost(connect: &Distribution) -> Option<u64> {
    let slow = connect.count_between(Nanos::from_millis(1_000).0 - BEFORE.0, u64::MAX);
    let after = |at: u64| connect.count_between(at * 1_000_000_000 - BEFORE.0, at * 1_000_000_000 + WITHIN.0);
    let lost: u64 = RETRIES_S.into_iter().map(after).sum();
    let is_reported = lost >= LOST_MIN
        && lost as f64 >= LOST_SHARE_MIN * connect.count() as f64
        && (slow - lost) as f64 <= OTHERS_SHARE_MAX * slow as f64
        && connect.min().is_some_and(|least| least < USUAL_MAX.0);
    is_reported.then_some(lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: u64 = 1_000_000;

    fn connects(quick: u64, slow_ms: &[u64]) -> Distribution {
        let mut connect = Distribution::default();
        connect.record_many(MILLI / 5, quick);
        slow_ms.iter().for_each(|took| connect.record(took * MILLI));
        connect
    }

    #[test]
    fn steps_of_seconds_are_lost_syns() {
        assert_eq!(lost(&connects(40, &[1_002, 1_031, 2_050, 3_070, 7_003])), Some(5));
        // One of a few connections may take any time.
        assert_eq!(lost(&connects(40, &[1_002, 1_031, 2_050, 3_070, 7_003, 1_500])), Some(5));
        for (quick, slow) in [
            (40, vec![]),
            (40, vec![1_002, 1_031]),
            (4_000, vec![1_002, 1_031, 3_004]),
            (40, vec![1_300, 1_700, 2_500, 1_010, 2_010, 3_010]),
            // A high latency, at which a second is nothing.
            (0, vec![1_002, 1_031, 2_050, 3_070, 7_003]),
        ] {
            assert_eq!(lost(&connects(quick, &slow)), None, "{quick} {slow:?}");
        }
    }
}
