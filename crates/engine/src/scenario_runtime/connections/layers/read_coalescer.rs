//! How long received data may lie unread (read coalescing).
//!
//! Responses on streams come one by one, and a loop that runs for each of them makes its target work for each of its
//! requests. A loop that lets them gather for at most 20 us reads several with one call, sends as many requests with
//! one, and wakes less often. It sees a response that much later, so a read may be delayed only by less than a
//! histogram shows: by a thousandth of the time to the first byte that all but 1 % of the last 1,000 to 2,000
//! responses exceed. Only that 1 % is reported late by more, and by 20 us at most.
//!
//! It is off while connections are opened (they are timed too), where streams of messages or exchanges of HTTP/1 are
//! timed on the same shard, and past an instant at which something is due. Requests leave before the sleep, so their
//! timestamps stay exact.

use pacing::Nanos;

/// The longest that data stays unread.
pub(crate) const COALESCE_MAX: Nanos = Nanos(20_000);
/// The divisor of the response time that bounds it, as exact as a quantile of a histogram is.
const PART: u64 = 1_000;
/// Responses that count as recent: these, and as many before.
const WINDOW: u32 = 1_000;
/// Responses of a window that may be faster than the bound allows: they are stamped late by [`COALESCE_MAX`] at most, and
/// no quantile above the first shows that.
const FAST_MAX: usize = 10;

/// Recent response times of a shard.
#[derive(Debug)]
pub(crate) struct ReadCoalescer {
    /// The shortest times of this window, in order: the last is the first that counts. And that of the last window.
    fastest: [Nanos; FAST_MAX + 1],
    least_before: Nanos,
    responses: u32,
    span: Nanos,
    /// Something is timed that is not tracked here.
    is_over: bool,
}

impl Default for ReadCoalescer {
    fn default() -> Self {
        let fastest = [Nanos::NEVER; FAST_MAX + 1];
        Self { fastest, least_before: Nanos::ZERO, responses: 0, span: Nanos::ZERO, is_over: false }
    }
}

impl ReadCoalescer {
    /// How long received data may stay unread now.
    #[inline]
    pub(crate) fn span(&self) -> Nanos {
        self.span
    }

    /// Records the time to the first byte of a response.
    #[inline]
    pub(crate) fn record(&mut self, time: Nanos) {
        self.responses += 1;
        if time < self.fastest[FAST_MAX] {
            let place = self.fastest.partition_point(|known| *known <= time);
            self.fastest[place..].rotate_right(1);
            self.fastest[place] = time;
            self.span = self.span.min(self.allowed(self.fastest[FAST_MAX]));
        }
        if self.responses == WINDOW {
            let least = self.fastest[FAST_MAX];
            self.span = self.allowed(least.min(self.least_before));
            (self.fastest, self.least_before, self.responses) = ([Nanos::NEVER; FAST_MAX + 1], least, 0);
        }
    }

    /// A connection is opened: until a whole window has come after this one, all data is read at once.
    #[inline]
    pub(crate) fn open(&mut self) {
        (self.fastest, self.span) = ([Nanos::ZERO; FAST_MAX + 1], Nanos::ZERO);
    }

    /// All data is read at once from now on.
    pub(crate) fn end(&mut self) {
        (self.is_over, self.span) = (true, Nanos::ZERO);
    }

    fn allowed(&self, least: Nanos) -> Nanos {
        if self.is_over { Nanos::ZERO } else { Nanos(least.0 / PART).min(COALESCE_MAX) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: u64 = WINDOW as u64;

    /// Records `count` responses, each after `time`.
    fn received(coalescer: &mut ReadCoalescer, count: u64, time: Nanos) -> Nanos {
        (0..count).for_each(|_| coalescer.record(time));
        coalescer.span()
    }

    #[test]
    fn it_is_a_small_part_of_what_responses_take() {
        for (time, span) in
            [(0, 0), (1, 1), (100, 100), (1_000, 1_000), (19_999, 19_999), (50_000, 20_000), (9_000_000, 20_000)]
        {
            let mut coalescer = ReadCoalescer::default();
            assert_eq!(received(&mut coalescer, 2 * WHOLE, Nanos(time * 1_000)), Nanos(span), "{time} us");
        }
    }

    #[test]
    fn nothing_is_known_before_two_windows_are_full() {
        let mut coalescer = ReadCoalescer::default();
        assert_eq!(received(&mut coalescer, 2 * WHOLE - 1, Nanos::from_millis(50)), Nanos::ZERO);
        assert_eq!(received(&mut coalescer, 1, Nanos::from_millis(50)), COALESCE_MAX);
    }

    #[test]
    fn a_few_fast_responses_change_nothing_and_one_more_at_once_and_for_two_windows() {
        let mut coalescer = ReadCoalescer::default();
        received(&mut coalescer, 2 * WHOLE + WHOLE / 2, Nanos::from_millis(50));
        assert_eq!(received(&mut coalescer, FAST_MAX as u64, Nanos(100_000)), COALESCE_MAX);
        assert_eq!(received(&mut coalescer, 1, Nanos(300_000)), Nanos(300));
        assert_eq!(received(&mut coalescer, 2 * WHOLE, Nanos::from_millis(50)), Nanos(300));
        assert_eq!(received(&mut coalescer, WHOLE, Nanos::from_millis(50)), COALESCE_MAX);
    }

    #[test]
    fn in_every_order_of_times_all_but_a_few_are_long() {
        let times: Vec<u64> = (0..WHOLE).map(|number| 1 + number * 7_919 % WHOLE).collect();
        for turned in [0, 1, 17, 500, 999] {
            let mut coalescer = ReadCoalescer::default();
            for time in times.iter().cycle().skip(turned).take(2 * WHOLE as usize) {
                coalescer.record(Nanos(*time * 10_000));
            }
            assert_eq!(
                coalescer.span(),
                Nanos((FAST_MAX as u64 + 1) * 10),
                "the eleventh of 1 to 1,000, of 10 us each"
            );
        }
    }

    #[test]
    fn a_new_connection_ends_it_for_a_while() {
        let mut coalescer = ReadCoalescer::default();
        received(&mut coalescer, 3 * WHOLE - 1, Nanos::from_millis(50));
        coalescer.open();
        assert_eq!(
            received(&mut coalescer, 1 + WHOLE, Nanos::from_millis(50)),
            Nanos::ZERO,
            "all of a window comes after it"
        );
        assert_eq!(received(&mut coalescer, WHOLE, Nanos::from_millis(50)), COALESCE_MAX);
    }

    #[test]
    fn what_is_over_stays_over() {
        let mut coalescer = ReadCoalescer::default();
        received(&mut coalescer, 2 * WHOLE, Nanos::from_millis(50));
        coalescer.end();
        assert_eq!(received(&mut coalescer, 9 * WHOLE, Nanos::from_millis(50)), Nanos::ZERO);
    }
}
