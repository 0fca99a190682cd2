//! The behavior of the target: response delays, and faults that all of its threads share.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pacing::{Nanos, Random};

use crate::millis::{DELAY_MAX, millis, thousandths};
use crate::queue::{QueueShape, Queues};

/// The largest spread of a lognormal delay; beyond it the mean is far above all values that ever occur.
const SIGMA_THOUSANDTHS_MAX: u64 = 3_000;

/// The behavior of every connection of a server, from its beginning on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behavior {
    /// Random seed: the same seed gives the same delays to the requests of a thread.
    pub seed: u64,
    /// Time for which a new connection is not read.
    pub accept_delay: Duration,
    /// Number of responses per connection: the last one announces the close, and the server closes.
    pub close_after: Option<u32>,
    /// Interval of pushes of two bytes on each long connection.
    pub push: Option<Duration>,
    /// Whether it is a proxy too, which leads to itself, and accepts headers of the PROXY protocol.
    pub is_proxy: bool,
}

impl Default for Behavior {
    fn default() -> Self {
        Self { seed: 1, accept_delay: Duration::ZERO, close_after: None, push: None, is_proxy: false }
    }
}

/// The delay of responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delay {
    Constant(Nanos),
    /// Uniformly distributed from `low` to `high`.
    Uniform {
        low: Nanos,
        high: Nanos,
    },
    /// Lognormally distributed: half are below `median`, few are far above it.
    Lognormal {
        median: Nanos,
        sigma_thousandths: u64,
    },
}

impl Delay {
    /// Parses `20`, `uniform/10-50`, `lognormal/20,0.5`: milliseconds with up to three decimals.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(range) = text.strip_prefix("uniform/") {
            let (low, high) = range.split_once('-')?;
            let (low, high) = (millis(low)?, millis(high)?);
            return (low <= high).then_some(Self::Uniform { low, high });
        }
        if let Some(shape) = text.strip_prefix("lognormal/") {
            let (median, sigma) = shape.split_once(',')?;
            let sigma_thousandths = thousandths(sigma).filter(|sigma| *sigma <= SIGMA_THOUSANDTHS_MAX)?;
            return Some(Self::Lognormal { median: millis(median)?, sigma_thousandths });
        }
        millis(text).map(Self::Constant)
    }

    pub(crate) fn draw(self, random: &mut Random) -> Nanos {
        match self {
            Self::Constant(span) => span,
            Self::Uniform { low, high } => Nanos(random.between(low.0, high.0)),
            Self::Lognormal { median, sigma_thousandths } => {
                // Box-Muller: two uniform numbers make a normal one.
                let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
                let normal = radius * (std::f64::consts::TAU * random.unit()).cos();
                let span = median.0 as f64 * (normal * sigma_thousandths as f64 / 1e3).exp();
                Nanos((span as u64).min(DELAY_MAX.as_nanos() as u64))
            }
        }
    }
}

/// A span in which no thread acts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Freeze {
    pub(crate) from: Nanos,
    pub(crate) until: Nanos,
}

/// No freeze is scheduled.
const NO_FREEZE: Freeze = Freeze { from: Nanos::NEVER, until: Nanos::ZERO };

/// The scheduled freeze, and the connections that requested one.
struct FreezeRequest {
    freeze: Freeze,
    /// Open connections that requested one: as long as there are some, they belong to one run.
    connections: u64,
    /// Number of requests for a freeze.
    times: u64,
}

/// The state that the threads of a target share.
pub(crate) struct Agreed {
    /// The span in which all threads freeze.
    requested: Mutex<FreezeRequest>,
    /// Its beginning, readable without the lock.
    freeze_from: AtomicU64,
    /// The instant at which `/serial`, which serves one request at a time, is free again.
    busy_until: AtomicU64,
    /// The queues of `/queue`. The lock is taken only by their requests.
    queues: Mutex<Queues>,
}

impl Agreed {
    /// `seed`: the random seed of queues.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            freeze_from: AtomicU64::new(Nanos::NEVER.0),
            requested: Mutex::new(FreezeRequest { freeze: NO_FREEZE, connections: 0, times: 0 }),
            busy_until: AtomicU64::new(0),
            queues: Mutex::new(Queues::new(seed)),
        }
    }

    /// Schedules a freeze from `from` to `until`. False when a freeze is scheduled or in progress, and while a
    /// connection that has requested one is open: a run has one.
    pub(crate) fn freeze(&self, now: Nanos, from: Nanos, until: Nanos) -> bool {
        let mut requested = self.requested.lock().expect("no holder of the lock panics");
        requested.times += 1;
        if requested.connections > 0 || requested.freeze.until > now {
            return false;
        }
        requested.freeze = Freeze { from, until };
        self.freeze_from.store(from.0, Ordering::Release);
        true
    }

    /// Counts a connection that has requested a freeze for the first time.
    pub(crate) fn asker_came(&self) {
        self.requested.lock().expect("no holder of the lock panics").connections += 1;
    }

    /// Such a connection is gone. If there were several requests, the last of these connections also removes a freeze
    /// that has not begun: it must not hit another run. A single request only schedules the freeze.
    pub(crate) fn asker_left(&self, now: Nanos) {
        let mut requested = self.requested.lock().expect("no holder of the lock panics");
        requested.connections -= 1;
        if requested.connections > 0 {
            return;
        }
        if requested.times > 1 && requested.freeze.from > now {
            requested.freeze = NO_FREEZE;
            self.freeze_from.store(Nanos::NEVER.0, Ordering::Release);
        }
        requested.times = 0;
    }

    /// The beginning of the next or the last freeze; never, when there was none.
    pub(crate) fn freeze_from(&self) -> Nanos {
        Nanos(self.freeze_from.load(Ordering::Relaxed))
    }

    /// The span of the requested freeze, if there is one.
    pub(crate) fn freeze_requested(&self) -> Option<(Nanos, Nanos)> {
        let freeze = self.requested.lock().expect("no holder of the lock panics").freeze;
        (freeze.from < Nanos::NEVER).then_some((freeze.from, freeze.until))
    }

    /// The freeze that has begun at the instant `at`: a thread that was busy for all of it was frozen as well, and is
    /// notified later. `known`: the beginning of the last freeze in which the thread took part.
    #[inline]
    pub(crate) fn freeze_begun(&self, at: Nanos, known: Nanos) -> Option<Freeze> {
        let from = self.freeze_from();
        if at < from || from <= known {
            return None;
        }
        let freeze = self.requested.lock().expect("no holder of the lock panics").freeze;
        // Another freeze may have been scheduled meanwhile.
        (known < freeze.from && freeze.from <= at).then_some(freeze)
    }

    /// Enters a queue: returns when the request has been served; `None` when there is no room.
    pub(crate) fn queue_up(&self, shape: QueueShape, at: Nanos) -> Option<Nanos> {
        self.queues.lock().expect("no holder of the lock panics").arrive(shape, at)
    }

    /// The log of the queues, as CSV.
    pub(crate) fn queue_log(&self) -> String {
        self.queues.lock().expect("no holder of the lock panics").log_csv()
    }

    /// Waits until the server is free and serves for `span`: returns the end.
    pub(crate) fn serve_alone(&self, at: Nanos, span: Nanos) -> Nanos {
        let free = |until: u64| Some(until.max(at.0).saturating_add(span.0));
        let before = self.busy_until.fetch_update(Ordering::SeqCst, Ordering::SeqCst, free);
        Nanos(before.unwrap_or_else(|until| until).max(at.0)) + span
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_read() {
        let ms = Nanos::from_millis;
        let cases = [
            ("20", Some(Delay::Constant(ms(20)))),
            ("2.5", Some(Delay::Constant(Nanos(2_500_000)))),
            ("uniform/10-50", Some(Delay::Uniform { low: ms(10), high: ms(50) })),
            ("lognormal/20,0.5", Some(Delay::Lognormal { median: ms(20), sigma_thousandths: 500 })),
            ("uniform/50-10", None),
            ("uniform/10", None),
            ("lognormal/20", None),
            ("lognormal/20,9", None),
            ("2.5555", None),
            (".5", None),
            ("3600001", None),
            ("", None),
            ("-1", None),
            ("99999999999999999999", None),
        ];
        for (text, expect) in cases {
            assert_eq!(Delay::parse(text), expect, "{text}");
        }
    }

    #[test]
    fn delays_have_their_shape() {
        let mut random = Random::new(3);
        let mut drawn = |delay: Delay| {
            let mut all: Vec<f64> = (0..20_000).map(|_| delay.draw(&mut random).0 as f64 / 1e6).collect();
            all.sort_by(f64::total_cmp);
            [0.1, 0.5, 0.9].map(|quantile| all[(quantile * all.len() as f64) as usize])
        };
        let uniform = drawn(Delay::parse("uniform/10-50").expect("a delay"));
        for (is, expect) in uniform.into_iter().zip([14.0, 30.0, 46.0]) {
            assert!((is - expect).abs() < 0.5, "{is} for {expect}");
        }
        let lognormal = drawn(Delay::parse("lognormal/20,0.5").expect("a delay"));
        // exp(-1.2816 * 0.5) and exp(1.2816 * 0.5) times the median.
        for (is, expect) in lognormal.into_iter().zip([10.54, 20.0, 37.96]) {
            assert!((is / expect - 1.0).abs() < 0.03, "{is} for {expect}");
        }
    }

    #[test]
    fn one_at_a_time() {
        let agreed = Agreed::new(1);
        let span = Nanos(10);
        assert_eq!(agreed.serve_alone(Nanos(100), span), Nanos(110));
        assert_eq!(agreed.serve_alone(Nanos(105), span), Nanos(120));
        assert_eq!(agreed.serve_alone(Nanos(500), span), Nanos(510));
    }

    /// A run whose connections keep requesting gets one freeze, which ends with it; a single request schedules a freeze
    /// for any later load.
    #[test]
    fn a_freeze_is_of_one_run() {
        let agreed = Agreed::new(1);
        let requested = |now: u64| agreed.freeze(Nanos(now), Nanos(now + 10), Nanos(now + 20));
        // Two connections, in a run that is longer than its freeze.
        assert!(requested(0));
        agreed.asker_came();
        assert!(!requested(1));
        agreed.asker_came();
        assert!(!requested(20) && !requested(500), "one freeze for each run");
        agreed.asker_left(Nanos(501));
        assert!(!requested(502));
        agreed.asker_left(Nanos(503));
        // The next run ends before its freeze.
        assert!(requested(600));
        agreed.asker_came();
        assert!(!requested(601));
        assert_eq!(agreed.freeze_requested(), Some((Nanos(610), Nanos(620))));
        agreed.asker_left(Nanos(609));
        assert_eq!((agreed.freeze_requested(), agreed.freeze_from()), (None, Nanos::NEVER));
        assert_eq!(agreed.freeze_begun(Nanos(615), Nanos(10)).map(|freeze| freeze.from), None);
        // A freeze that has begun goes on.
        assert!(requested(700));
        agreed.asker_came();
        assert!(!requested(701));
        agreed.asker_left(Nanos(710));
        assert_eq!(agreed.freeze_requested(), Some((Nanos(710), Nanos(720))));
        // A freeze of a single request remains, even after another single request.
        assert!(requested(800));
        agreed.asker_came();
        agreed.asker_left(Nanos(801));
        assert!(!requested(802));
        agreed.asker_came();
        agreed.asker_left(Nanos(803));
        assert_eq!(agreed.freeze_requested(), Some((Nanos(810), Nanos(820))));
    }

    #[test]
    fn a_freeze_has_two_ends() {
        let agreed = Agreed::new(1);
        let begun = |at: u64, known: u64| agreed.freeze_begun(Nanos(at), Nanos(known)).map(|freeze| freeze.until.0);
        assert_eq!(begun(5, 0), None);
        assert!(agreed.freeze(Nanos(5), Nanos(10), Nanos(20)));
        assert!(!agreed.freeze(Nanos(6), Nanos(40), Nanos(50)), "the first one stays");
        assert_eq!([9, 10, 19].map(|at| begun(at, 0)), [None, Some(20), Some(20)]);
        // Each thread takes part once, even one that was busy until it was over, whatever others have done.
        assert_eq!([20, 90].map(|at| begun(at, 0)), [Some(20), Some(20)]);
        assert_eq!([10, 19, 20, 90].map(|at| begun(at, 10)), [None; 4]);
        assert!(agreed.freeze(Nanos(20), Nanos(30), Nanos(40)));
        assert_eq!([29, 30, 90].map(|at| begun(at, 10)), [None, Some(40), Some(40)]);
    }
}
