//! When a request over datagrams is sent again.

use std::time::Duration;

/// When a request is sent again if no response comes. Each try waits `factor` times as long as the one before, plus or
/// minus a part that is drawn. The timeout of the request ends it, whatever is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resend {
    /// The wait before the first.
    pub after: Duration,
    /// The factor of each further wait.
    pub factor: u32,
    /// The longest wait.
    pub longest: Duration,
    /// The part of a wait that is drawn, in percent: 10 is plus or minus 10 %.
    pub jitter_percent: u32,
    /// The most times that it is sent again.
    pub most: u32,
}

impl Resend {
    /// The shortest first wait.
    pub const AFTER_MIN: Duration = Duration::from_millis(1);

    /// The wait after the request was sent for the `count`-th time again; `None` where it is not sent any more.
    /// `drawn`: from 0 to the largest number.
    pub fn wait(&self, count: u32, drawn: u32) -> Option<Duration> {
        if count >= self.most {
            return None;
        }
        let factor = u64::from(self.factor).saturating_pow(count);
        let whole = u64::try_from(self.after.as_nanos()).unwrap_or(u64::MAX).saturating_mul(factor);
        let whole = whole.min(u64::try_from(self.longest.as_nanos()).unwrap_or(u64::MAX));
        let part = u128::from(whole) * u128::from(self.jitter_percent.min(100)) / 100;
        let drawn = 2 * part * u128::from(drawn) / u128::from(u32::MAX);
        Some(Duration::from_nanos(u64::try_from(u128::from(whole) - part + drawn).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_the_longest_and_end() {
        let second = Duration::from_secs(1);
        let resend = Resend { after: 2 * second, factor: 2, longest: 16 * second, jitter_percent: 0, most: 5 };
        let waits: Vec<_> = (0..7).map(|count| resend.wait(count, 7).map(|wait| wait.as_secs())).collect();
        assert_eq!(waits, [Some(2), Some(4), Some(8), Some(16), Some(16), None, None]);
    }

    #[test]
    fn what_is_drawn_is_within_its_part() {
        let resend =
            Resend { after: Duration::from_secs(2), factor: 2, longest: Duration::MAX, jitter_percent: 10, most: 99 };
        assert_eq!(resend.wait(0, 0), Some(Duration::from_millis(1_800)));
        assert_eq!(resend.wait(0, u32::MAX), Some(Duration::from_millis(2_200)));
        let middle = resend.wait(1, u32::MAX / 2).expect("a wait");
        assert!(middle.abs_diff(Duration::from_secs(4)) < Duration::from_micros(1), "{middle:?}");
        assert!(resend.wait(98, u32::MAX).is_some_and(|wait| wait > Duration::from_secs(1 << 33)));
    }
}
