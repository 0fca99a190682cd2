//! Who was the limit of a run: the generator measures itself, and says.
//!
//! A pure function of the plan and of what was measured. Lateness, the lag of the loops and the CPU of their threads are the
//! generator's own doing; wait, drops and slow answers are not.

use metrics::{Counts, Failure, Measure, Snapshot, Timings};
use pacing::Nanos;
use plan::{ConnectionCount, Load, Plan, UserShape};

use crate::run::ShardUse;

/// Starts that are later than this at the 99th percentile are no more what was asked for; a scheduler's own hiccups are below.
const LATENESS_MAX: Nanos = Nanos::from_millis(10);
/// A loop that is later than this at the 99th percentile keeps answers waiting that it should stamp.
const LAG_MAX: Nanos = Nanos::from_millis(20);
/// A shard that wanted a whole core for this share of its time was the limit.
const SATURATED_SHARE_MAX: f64 = 0.2;
/// A difference between response and service time below this is no backlog.
const BACKLOG_MIN: Nanos = Nanos::from_millis(10);
/// The share of starts that may be dropped or left over, or may fail, before somebody was the limit.
const LOSS_SHARE_MAX: f64 = 0.001;
/// The share of exchanges without an answer from which on the target could not follow a closed load.
const UNANSWERED_SHARE_MAX: f64 = 0.01;
/// The share of a link's speed from which on it is full: framing and acknowledgements take the rest.
const LINK_SHARE_MAX: f64 = 0.9;
/// Starts stay so much longer at the end of a load than halfway, and so many, when more comes than goes.
const GROWTH_FACTOR: f64 = 1.3;
const GROWTH_MIN_S: f64 = 0.05;
const BACKLOG_STARTS_MIN: u64 = 10;
/// A time that grows with the load is above this multiple of its least.
const QUEUED_FACTOR: f64 = 2.0;
/// A shorter run has no rate to speak of.
const RUN_MIN: Nanos = Nanos::from_millis(200);

/// Who was the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Nobody: what was asked for was done.
    PlanKept,
    /// The target did not follow.
    Target,
    /// The target answers, and the users of a closed load wait for it: more of them may give more.
    Users,
    /// This program, or the machine it runs on, did not follow.
    Generator,
    /// This host had no local port or no descriptor left.
    PortsOrDescriptors,
    /// The network interface was full.
    Link,
    /// Too little was measured to say.
    Unknown,
}

impl Limit {
    /// A stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::PlanKept => "plan_kept",
            Self::Target => "target",
            Self::Users => "users",
            Self::Generator => "generator",
            Self::PortsOrDescriptors => "ports_or_descriptors",
            Self::Link => "link",
            Self::Unknown => "unknown",
        }
    }
}

/// The network interface through which the target is reached.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkUse {
    /// Its name.
    pub name: String,
    /// Its speed, as it says.
    pub bits_per_s: u64,
    /// The busier direction of this run, as a share of the speed.
    pub share: f64,
}

/// How long a start stayed, halfway through an open load and at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Seconds.
    pub halfway_s: f64,
    /// Seconds.
    pub at_end_s: f64,
    /// Starts that had not ended at the end of the plan.
    pub at_end: u64,
}

impl Growth {
    /// It grew as it does when more comes than goes.
    fn is_backlog(&self) -> bool {
        self.at_end >= BACKLOG_STARTS_MIN
            && self.at_end_s > GROWTH_FACTOR * self.halfway_s
            && self.at_end_s - self.halfway_s > GROWTH_MIN_S
    }
}

/// The verdict with its figures.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Who was the limit.
    pub limit: Limit,
    /// 99th percentile of the starts' lateness, over all outcomes.
    pub lateness_p99_ns: u64,
    /// The same of the wait for a connection.
    pub wait_p99_ns: u64,
    /// The same of the loops' lag.
    pub lag_p99_ns: u64,
    /// The shard that wanted most of its core, and what it spent.
    pub busiest: Option<(usize, ShardUse)>,
    /// Mean service time of all that was answered or given up.
    pub service_mean_ns: Option<f64>,
    /// Exchanges a second that the users of a closed load, or the connections of an open one, can do at that service time.
    pub users_can_per_s: Option<f64>,
    /// The interface, where it is known.
    pub link: Option<LinkUse>,
    /// What piled up in an open load, when it did.
    pub growth: Option<Growth>,
    /// Exchanges that got no complete answer, whoever ended them.
    pub unanswered: u64,
}

/// What the verdict looks at.
pub(crate) struct Evidence<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) total: &'a Snapshot,
    pub(crate) wall: Nanos,
    pub(crate) shards: &'a [ShardUse],
    pub(crate) asked_per_s: Option<f64>,
    pub(crate) link: Option<LinkUse>,
    pub(crate) growth: Option<Growth>,
}

impl Verdict {
    /// The figures are the generator's as much as the target's.
    pub fn is_spoiled(&self) -> bool {
        matches!(self.limit, Limit::Generator | Limit::PortsOrDescriptors)
    }

    pub(crate) fn of(evidence: Evidence<'_>) -> Self {
        let all = evidence.total.all();
        let p99 = |measure| all.of(measure).quantile(0.99).unwrap_or(0);
        let service_mean_ns = all.of(Measure::Service).mean();
        // Those that are there all the time, and wait for the target alone.
        let users = match evidence.plan.scenarios.first().map(|scenario| &scenario.load) {
            Some(Load::Closed { shape: UserShape::AtOnce, .. })
            | Some(Load::Open { connections: ConnectionCount::Exactly(_), .. }) => {
                evidence.plan.scenarios.first().map(plan::Scenario::users)
            }
            _ => None,
        };
        let is_unanswered = |failure| {
            matches!(
                failure,
                Failure::Timeout
                    | Failure::ConnectTimeout
                    | Failure::ConnectRefused
                    | Failure::Reset
                    | Failure::ClosedEarly
            )
        };
        let busiest = evidence.shards.iter().copied().enumerate();
        let busiest = busiest.max_by(|(_, one), (_, other)| one.wanted_share().total_cmp(&other.wanted_share()));
        let mut verdict = Self {
            limit: Limit::Unknown,
            lateness_p99_ns: p99(Measure::Lateness),
            wait_p99_ns: p99(Measure::Wait),
            lag_p99_ns: evidence.total.lag.quantile(0.99).unwrap_or(0),
            busiest,
            service_mean_ns,
            users_can_per_s: users
                .zip(service_mean_ns.filter(|mean| *mean > 0.0))
                .map(|(users, mean)| users as f64 / (mean / 1e9)),
            link: evidence.link.clone(),
            growth: evidence.growth.filter(Growth::is_backlog),
            unanswered: failed(&evidence.total.counts, is_unanswered),
        };
        verdict.limit = verdict.limit(&evidence, &all);
        verdict
    }

    fn limit(&self, evidence: &Evidence<'_>, all: &Timings) -> Limit {
        let counts = &evidence.total.counts;
        let share_of_started = |count: u64| count as f64 / counts.started.max(1) as f64;
        let is_local = |failure| matches!(failure, Failure::NoLocalPort | Failure::NoDescriptor);
        if counts.started == 0 || evidence.wall < RUN_MIN {
            return Limit::Unknown;
        }
        if share_of_started(failed(counts, is_local)) > LOSS_SHARE_MAX {
            return Limit::PortsOrDescriptors;
        }
        let is_link_full = self.link.as_ref().is_some_and(|link| link.share >= LINK_SHARE_MAX);
        if self.generator_was_late(evidence) && !is_link_full {
            return Limit::Generator;
        }
        if is_link_full {
            return Limit::Link;
        }
        let nobody_answered = counts.finished() == 0 && counts.unfinished > 0;
        if evidence.asked_per_s.is_none() {
            let is_target = share_of_started(self.unanswered) > UNANSWERED_SHARE_MAX || nobody_answered;
            return if is_target { Limit::Target } else { Limit::Users };
        }
        let lost = counts.dropped - counts.dropped_by_generator + counts.unfinished + self.unanswered;
        if share_of_started(lost) <= LOSS_SHARE_MAX && !self.has_backlog(all) && self.growth.is_none() {
            return Limit::PlanKept;
        }
        if self.connections_were_too_few(evidence, all) { Limit::Users } else { Limit::Target }
    }

    /// The load named a number of connections, all answers came, each about as fast as the fastest, and more starts came than so
    /// many connections carry.
    fn connections_were_too_few(&self, evidence: &Evidence<'_>, all: &Timings) -> bool {
        let (Some(can), Some(asked)) = (self.users_can_per_s, evidence.asked_per_s) else { return false };
        let service = all.of(Measure::Service);
        let (least, half) = (service.min().unwrap_or(0) as f64, service.quantile(0.5).unwrap_or(0) as f64);
        self.unanswered == 0 && can < asked && half < QUEUED_FACTOR * least
    }

    fn generator_was_late(&self, evidence: &Evidence<'_>) -> bool {
        let is_saturated = self.busiest.is_some_and(|(_, spent)| spent.saturated_share() >= SATURATED_SHARE_MAX);
        let counts = &evidence.total.counts;
        let dropped = counts.dropped_by_generator as f64 > LOSS_SHARE_MAX * counts.started as f64;
        let late = self.lateness_p99_ns > LATENESS_MAX.0 || self.lag_p99_ns > LAG_MAX.0;
        is_saturated || dropped || late
    }

    /// Starts wait for a free connection far longer than an exchange takes.
    fn has_backlog(&self, all: &Timings) -> bool {
        let p99 = |measure| all.of(measure).quantile(0.99).unwrap_or(0);
        let (response, service) = (p99(Measure::Response), p99(Measure::Service));
        let behind = response.saturating_sub(service);
        behind > BACKLOG_MIN.0 && behind > service / 2 && self.wait_p99_ns > BACKLOG_MIN.0
    }
}

/// How many exchanges failed for such a reason.
fn failed(counts: &Counts, is: impl Fn(Failure) -> bool) -> u64 {
    counts.failures().filter(|(failure, _)| is(*failure)).map(|(_, count)| count).sum()
}

#[cfg(test)]
mod tests {
    use metrics::Outcome;
    use plan::Flags;

    use super::*;

    const MILLI: u64 = 1_000_000;

    fn plan(rate: Option<&str>) -> Plan {
        let flags = Flags {
            url: Some("http://a/".to_owned()),
            rate: rate.map(str::to_owned),
            connections: Some("10".to_owned()),
            ..Flags::default()
        };
        flags.plan().expect("a good plan")
    }

    /// A thousand exchanges with these times, in milliseconds.
    fn seen(lateness: u64, wait: u64, service: u64) -> Snapshot {
        let mut seen = Snapshot::default();
        for _ in 0..1_000 {
            seen.counts.started += 1;
            let timings = seen.outcome(0, Outcome::Succeeded);
            timings.record(Measure::Lateness, lateness * MILLI);
            timings.record(Measure::Wait, wait * MILLI);
            timings.record(Measure::Service, service * MILLI);
            timings.record(Measure::Response, (lateness + wait + service) * MILLI);
        }
        seen
    }

    fn spent(cpu: u64, delay: u64) -> ShardUse {
        let mut spent = ShardUse::default();
        let mut seen = Snapshot::default();
        (seen.cpu_ns, seen.run_delay_ns) = (cpu * MILLI, delay * MILLI);
        spent.add(Nanos::from_millis(1_000), &seen);
        spent
    }

    fn judge(plan: &Plan, total: &Snapshot, shards: &[ShardUse], link: Option<f64>) -> Verdict {
        let is_open = matches!(plan.scenarios[0].load, Load::Open { .. });
        let link = link.map(|share| LinkUse { name: "eth0".to_owned(), bits_per_s: 1, share });
        let asked_per_s = is_open.then_some(1_000.0);
        let wall = Nanos::from_millis(1_000);
        Verdict::of(Evidence { plan, total, wall, shards, asked_per_s, link, growth: None })
    }

    fn limit(is_open: bool, total: &Snapshot, shards: &[ShardUse]) -> Limit {
        judge(&plan(is_open.then_some("1000")), total, shards, None).limit
    }

    #[test]
    fn each_limit_has_its_signs() {
        let idle = [spent(300, 10), spent(200, 10)];
        assert_eq!(limit(true, &seen(0, 0, 5), &idle), Limit::PlanKept);
        // Ten connections of 5 ms carry 2,000/s, and 1,000/s are asked: who waits waits for the target.
        assert_eq!(limit(true, &seen(0, 500, 5), &idle), Limit::Target);
        // Of 50 ms they carry 200/s, and each answer comes as fast as the first: more of them would do.
        assert_eq!(limit(true, &seen(0, 500, 50), &idle), Limit::Users);
        assert_eq!(limit(true, &seen(20, 500, 5), &idle), Limit::Generator);
        assert_eq!(limit(false, &seen(0, 0, 20), &idle), Limit::Users);
        assert_eq!(limit(false, &seen(0, 0, 20), &[spent(300, 10), spent(980, 0)]), Limit::Generator);
        // Half a core of its own and half a core that somebody else had.
        assert_eq!(limit(true, &seen(0, 0, 20), &[spent(490, 480)]), Limit::Generator);
        assert_eq!(limit(true, &Snapshot::default(), &idle), Limit::Unknown);
        let full = judge(&plan(None), &seen(0, 0, 20), &idle, Some(0.95));
        assert_eq!((full.limit, full.is_spoiled()), (Limit::Link, false));
    }

    #[test]
    fn what_is_lost_has_an_owner() {
        let idle = [spent(300, 10)];
        let mut lost = seen(0, 0, 5);
        for _ in 0..50 {
            lost.counts.started += 1;
            lost.outcome(0, Outcome::Failed(Failure::NoLocalPort)).record(Measure::Response, 1);
        }
        assert_eq!(limit(true, &lost, &idle), Limit::PortsOrDescriptors);
        let mut dropped = seen(0, 0, 5);
        dropped.counts.started += 50;
        (0..50).for_each(|_| dropped.drop_start(1));
        assert_eq!(limit(true, &dropped, &idle), Limit::Target);
        dropped.counts.dropped_by_generator = 50;
        assert_eq!(limit(true, &dropped, &idle), Limit::Generator);
    }

    #[test]
    fn users_can_do_what_their_waiting_allows() {
        let verdict = judge(&plan(None), &seen(0, 0, 20), &[spent(1, 0)], None);
        let can = verdict.users_can_per_s.expect("a figure");
        assert!((can - 500.0).abs() < 1.0, "{can}");
    }
}
