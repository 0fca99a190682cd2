//! How the target behaves on request: times that it holds answers, and faults that all of its threads share.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pacing::{Nanos, Random};

use crate::millis::{DELAY_MAX, millis, thousandths};
use crate::queue::{QueueShape, Queues};

/// The largest spread of a lognormal delay; beyond it the mean is far above all that is ever seen.
const SIGMA_THOUSANDTHS_MAX: u64 = 3_000;

/// What holds of every connection of a server, from its beginning on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behavior {
    /// Of what is random: the same seed gives the same delays to the requests of a thread.
    pub seed: u64,
    /// A new connection is not read for this long.
    pub accept_delay: Duration,
    /// The server ends a connection with its so-manieth answer, and says so in it.
    pub close_after: Option<u32>,
    /// The time between two pushes of two bytes on each long connection.
    pub push: Option<Duration>,
}

impl Default for Behavior {
    fn default() -> Self {
        Self { seed: 1, accept_delay: Duration::ZERO, close_after: None, push: None }
    }
}

/// How long answers are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delay {
    Constant(Nanos),
    /// Any time from `low` to `high`, each as likely as another.
    Uniform {
        low: Nanos,
        high: Nanos,
    },
    /// The logarithm of the time is normal: half are below `median`, few are far above it.
    Lognormal {
        median: Nanos,
        sigma_thousandths: u64,
    },
}

impl Delay {
    /// `20`, `uniform/10-50`, `lognormal/20,0.5`: milliseconds with up to three decimals.
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
                // Box and Muller: two even numbers make a normal one.
                let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
                let normal = radius * (std::f64::consts::TAU * random.unit()).cos();
                let span = median.0 as f64 * (normal * sigma_thousandths as f64 / 1e3).exp();
                Nanos((span as u64).min(DELAY_MAX.as_nanos() as u64))
            }
        }
    }
}

/// A span in which nobody acts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Freeze {
    pub(crate) from: Nanos,
    pub(crate) until: Nanos,
}

/// Nothing is agreed on.
const NO_FREEZE: Freeze = Freeze { from: Nanos::NEVER, until: Nanos::ZERO };

/// The freeze that is agreed on, and who asked for one.
struct Asked {
    freeze: Freeze,
    /// Open connections on which one was asked for: as long as there are some, they are of one run.
    connections: u64,
    /// How often they have asked.
    times: u64,
}

/// What the threads of a target agree on.
pub(crate) struct Agreed {
    /// All threads stand still from one instant to another.
    requested: Mutex<Asked>,
    /// Its beginning, for those who only pass by.
    freeze_from: AtomicU64,
    /// When the one that `/serial` serves at a time is free again.
    busy_until: AtomicU64,
    /// Those of `/queue`. Its lock is taken for them alone.
    queues: Mutex<Queues>,
}

impl Agreed {
    /// `seed`: of what is random in queues.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            freeze_from: AtomicU64::new(Nanos::NEVER.0),
            requested: Mutex::new(Asked { freeze: NO_FREEZE, connections: 0, times: 0 }),
            busy_until: AtomicU64::new(0),
            queues: Mutex::new(Queues::new(seed)),
        }
    }

    /// Nobody answers from `from` to `until`. False when a freeze is agreed on already, or on, and where a connection that has asked for one
    /// is still open: a run has one.
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

    /// A connection has asked for a freeze for the first time.
    pub(crate) fn asker_came(&self) {
        self.requested.lock().expect("no holder of the lock panics").connections += 1;
    }

    /// Such a connection is gone. With the last of several requests goes the freeze that they have not come to: it is of no other run. A single
    /// request is nothing but the wish for it.
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

    /// When the next freeze begins, or the last one began; never, when there was none.
    pub(crate) fn freeze_from(&self) -> Nanos {
        Nanos(self.freeze_from.load(Ordering::Relaxed))
    }

    /// From when to when everybody stands still, where that was asked for.
    pub(crate) fn freeze_requested(&self) -> Option<(Nanos, Nanos)> {
        let freeze = self.requested.lock().expect("no holder of the lock panics").freeze;
        (freeze.from < Nanos::NEVER).then_some((freeze.from, freeze.until))
    }

    /// The freeze that has begun at the instant `at`: whoever was away for all of it stood still as well, and learns of it later. `known`:
    /// when the last one began in which the thread took part.
    #[inline]
    pub(crate) fn freeze_begun(&self, at: Nanos, known: Nanos) -> Option<Freeze> {
        let from = self.freeze_from();
        if at < from || from <= known {
            return None;
        }
        let freeze = self.requested.lock().expect("no holder of the lock panics").freeze;
        // Another may have been agreed on meanwhile.
        (known < freeze.from && freeze.from <= at).then_some(freeze)
    }

    /// Queues up: when it has been served; `None` when there is no room.
    pub(crate) fn queue_up(&self, shape: QueueShape, at: Nanos) -> Option<Nanos> {
        self.queues.lock().expect("no holder of the lock panics").arrive(shape, at)
    }

    /// What queues served, as CSV.
    pub(crate) fn queue_log(&self) -> String {
        self.queues.lock().expect("no holder of the lock panics").log_csv()
    }

    /// Waits for its turn and is served for `span`: when that is over.
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

    /// Whose connections ask all the time gets one freeze, and takes it along; a single request has asked for whoever comes.
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
        // The next run is gone before its freeze.
        assert!(requested(600));
        agreed.asker_came();
        assert!(!requested(601));
        assert_eq!(agreed.freeze_requested(), Some((Nanos(610), Nanos(620))));
        agreed.asker_left(Nanos(609));
        assert_eq!((agreed.freeze_requested(), agreed.freeze_from()), (None, Nanos::NEVER));
        assert_eq!(agreed.freeze_begun(Nanos(615), Nanos(10)).map(|freeze| freeze.from), None);
        // One that has begun goes on.
        assert!(requested(700));
        agreed.asker_came();
        assert!(!requested(701));
        agreed.asker_left(Nanos(710));
        assert_eq!(agreed.freeze_requested(), Some((Nanos(710), Nanos(720))));
        // A single request leaves its freeze behind, whoever else asks once.
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
        // Each thread takes part once, also one that was away until it was over, whatever others have seen.
        assert_eq!([20, 90].map(|at| begun(at, 0)), [Some(20), Some(20)]);
        assert_eq!([10, 19, 20, 90].map(|at| begun(at, 10)), [None; 4]);
        assert!(agreed.freeze(Nanos(20), Nanos(30), Nanos(40)));
        assert_eq!([29, 30, 90].map(|at| begun(at, 10)), [None, Some(40), Some(40)]);
    }
}
