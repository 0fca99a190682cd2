//! The bottleneck of a run: the generator measures itself, and its evidence is part of the result.
//!
//! A pure function of the plan and of the measurements: how late the loops were, how much CPU their threads got and
//! how long they waited for a core, how much was in flight halfway and at the end, the snapshots, and the exchanges
//! that ended in equal stretches of time (`slices`). It returns a `Limit` and its `Basis`. `gaps` finds
//! stretches without responses, `curve` compares rates with the number in flight. Lateness, loop lag and CPU are
//! caused by the generator; wait, drops and slow responses are not. The kernel's tables are read only when something
//! failed or many connections were made (`figures::Watch`).

mod curve;
mod first;
mod gaps;
mod known;
mod own;
mod probed;
mod signs;
mod syns;
#[cfg(test)]
mod tests;

use metrics::{Class, Counts, Distribution, Failure, Measure, Outcome, Snapshot, Timings};
use pacing::Nanos;
use plan::{OPEN_CONNECTIONS_MAX, Scenario};

use crate::probe_arithmetic::ProbeFinding;
use crate::probed::{NotTried, Probe};
use crate::slices::Slices;
use crate::usage::ThreadUsage;
use crate::user::REFUSED_PAUSE;
pub use known::{Basis, Gaps, PaceHeld, Unknown, UsersPart};
#[cfg(test)]
pub(crate) use probed::concluded as concluded_of;

/// A difference between response and service time below this is no backlog.
const BACKLOG_MIN: Nanos = Nanos::from_millis(10);
/// The share of starts that may be dropped or left over, or may fail, without a bottleneck.
const LOSS_SHARE_MAX: f64 = 0.001;
/// The share of exchanges without a response, or of the time that users spent with them, from which on the target could
/// not sustain a closed load.
const UNANSWERED_SHARE_MAX: f64 = 0.01;
/// The share of a link's speed from which on it is full: framing and acknowledgements use the rest.
const LINK_SHARE_MAX: f64 = 0.9;
/// Growth of the time that starts stay, from halfway to the end of a load, when more come than go.
const GROWTH_FACTOR: f64 = 1.3;
const GROWTH_MIN_S: f64 = 0.05;
const BACKLOG_STARTS_MIN: u64 = 10;
/// The share of busy connections from which on all count as busy.
const BUSY_SHARE_MIN: f64 = 0.95;
/// The share without a response is the target's doing when it is this many times the share for which the generator was
/// late.
const DWARFING: f64 = 5.0;
/// A machine whose cores are busy for this share of the time is full; a process with less than the other share has no
/// part in it.
const FULL_SHARE: f64 = 0.9;
const OWN_PART_MIN: f64 = 0.1;
/// A shorter run has no meaningful rate.
const RUN_MIN: Nanos = Nanos::from_millis(200);

/// The bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// None: target load reached.
    PlanKept,
    /// The target did not keep up.
    Target,
    /// None, as far as was tried: fewer users give less, and more were not tried.
    Below,
    /// The connections that users share, or the streams of each.
    Connections,
    /// This program, or the machine it runs on, did not keep up.
    Generator,
    /// This program and the target share a machine, and it was full.
    Machine,
    /// This host had no local port or no descriptor left.
    PortsOrDescriptors,
    /// The network interface was full.
    Link,
    /// Some of the workers were lost.
    Workers,
    /// Too little was measured to tell.
    Unknown,
}

impl Limit {
    /// A stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::PlanKept => "plan_kept",
            Self::Target => "target",
            Self::Below => "below",
            Self::Connections => "connections",
            Self::Generator => "generator",
            Self::Machine => "machine",
            Self::PortsOrDescriptors => "ports_or_descriptors",
            Self::Link => "link",
            Self::Workers => "workers",
            Self::Unknown => "unknown",
        }
    }
}

/// The network interface through which the target is reached.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkUse {
    /// Name of the interface.
    pub name: String,
    /// Its reported speed.
    pub bits_per_s: u64,
    /// The busier direction of this run, as a share of the speed.
    pub share: f64,
}

/// Use of this machine, which the target is on too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineUse {
    /// Cores that this process may use.
    pub cores: f64,
    /// How many of them were busy, by any process.
    pub busy: f64,
    /// How many of them this process used.
    pub own: f64,
}

impl MachineUse {
    /// None of its cores was free, and both this process and others had a part in that.
    fn is_full(&self) -> bool {
        let least = OWN_PART_MIN * self.cores;
        self.busy >= FULL_SHARE * self.cores && self.own >= least && self.busy - self.own >= least
    }
}

/// How long a start stayed, halfway through an open load and at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Halfway, in seconds.
    pub halfway_s: f64,
    /// At the end, in seconds.
    pub at_end_s: f64,
    /// Starts that had not ended at the end of the plan.
    pub at_end: u64,
}

impl Growth {
    /// Whether it grew as it does when more comes than goes.
    fn is_backlog(&self) -> bool {
        self.at_end >= BACKLOG_STARTS_MIN
            && self.at_end_s > GROWTH_FACTOR * self.halfway_s
            && self.at_end_s - self.halfway_s > GROWTH_MIN_S
    }
}

/// A verdict with its figures.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The bottleneck.
    pub limit: Limit,
    /// The basis of the verdict.
    pub known: Basis,
    /// Index of the scenario in the plan.
    pub scenario: usize,
    /// 99th percentile of the starts' lateness, over all outcomes; `None` where none was measured: a closed load has
    /// none, and incomplete starts have none.
    pub lateness_p99_ns: Option<u64>,
    /// 99th percentile of the wait for a connection, likewise.
    pub wait_p99_ns: Option<u64>,
    /// 99th percentile of the loop's lag, of the latest thread.
    pub lag_p99_ns: u64,
    /// The shard that needed most of its core, and its usage.
    pub busiest: Option<(usize, ThreadUsage)>,
    /// The shard whose loop was stalled longest, and its usage; `None` when none was.
    pub stalled: Option<(usize, ThreadUsage)>,
    /// The share of the users' time spent on exchanges without a response.
    pub unanswered_time_share: f64,
    /// Mean service time of all exchanges with a response or incomplete.
    pub service_mean_ns: Option<f64>,
    /// The network interface, where it is known.
    pub link: Option<LinkUse>,
    /// Use of this machine, where the target is on it too.
    pub machine: Option<MachineUse>,
    /// The first request of each user took this share of the time of later ones, where that shows that a queue filled
    /// up.
    pub first_round: Option<f64>,
    /// The growth of an open load's backlog, when there was one.
    pub growth: Option<Growth>,
    /// Exchanges without a complete response, whichever side ended them.
    pub unanswered: u64,
}

/// Evidence for a verdict.
pub(crate) struct Evidence<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) total: &'a Snapshot,
    pub(crate) wall: Nanos,
    pub(crate) shards: &'a [ThreadUsage],
    pub(crate) requested_per_s: Option<f64>,
    pub(crate) link: Option<LinkUse>,
    pub(crate) growth: Option<Growth>,
    pub(crate) slices: &'a Slices,
    /// Service times of the first exchange of each user, where all began at once.
    pub(crate) first: &'a Distribution,
    /// How long all users of a closed load were there together, in seconds; none where that is not known.
    pub(crate) users_s: Option<f64>,
    pub(crate) machine: Option<MachineUse>,
}

impl Limit {
    /// The order of verdicts: what makes figures unreliable comes first, then bottlenecks, then none.
    fn rank(self) -> u8 {
        match self {
            Self::Workers | Self::Generator => 0,
            Self::PortsOrDescriptors => 1,
            Self::Link | Self::Machine => 2,
            Self::Target => 3,
            Self::Connections => 4,
            Self::Unknown => 5,
            Self::Below => 6,
            Self::PlanKept => 7,
        }
    }
}

impl Verdict {
    /// The verdict of a run of several scenarios: that of the most limited one.
    pub(crate) fn worst<'a>(verdicts: impl IntoIterator<Item = &'a Self>) -> Self {
        let worst = verdicts.into_iter().enumerate().min_by_key(|(_, verdict)| verdict.limit.rank());
        let (scenario, worst) = worst.expect("a plan has a scenario");
        Self { scenario, ..worst.clone() }
    }

    /// The figures reflect the generator as much as the target.
    pub fn is_unreliable(&self) -> bool {
        matches!(self.limit, Limit::Generator | Limit::PortsOrDescriptors | Limit::Workers)
    }

    /// Some workers were lost: the load is not what was planned.
    pub(crate) fn without_workers(&mut self) {
        // The lost workers are counted: a probe does not change that.
        (self.limit, self.known) = (Limit::Workers, Basis::Counts);
    }

    pub(crate) fn new(evidence: Evidence<'_>) -> Self {
        let all = evidence.total.all();
        let p99 = |measure| all.by_measure(measure).quantile(0.99);
        let is_closed = evidence.requested_per_s.is_none();
        // All that is no complete response, except for what this machine lacked.
        let is_unanswered = |failure| {
            let class = Class::from_outcome(Outcome::Failed(failure));
            matches!(class, Class::FailedUnanswered | Class::TimedOut) && !is_local(failure)
        };
        let shards = || evidence.shards.iter().cloned().enumerate();
        let busiest = shards().max_by(|(_, one), (_, other)| one.wanted_share().total_cmp(&other.wanted_share()));
        let stalled = shards().filter(|(_, spent)| spent.stalled_ns > 0).max_by_key(|(_, spent)| spent.stalled_ns);
        let mut verdict = Self {
            limit: Limit::Unknown,
            known: Basis::Counts,
            scenario: 0,
            lateness_p99_ns: p99(Measure::Lateness).filter(|_| !is_closed),
            wait_p99_ns: p99(Measure::Wait),
            lag_p99_ns: evidence.shards.iter().filter_map(|spent| spent.lag.quantile(0.99)).max().unwrap_or(0),
            busiest,
            stalled,
            unanswered_time_share: unanswered_time_share(evidence.total, evidence.wall),
            service_mean_ns: all.by_measure(Measure::Service).mean(),
            link: evidence.link.clone(),
            machine: evidence.machine,
            first_round: first::first_round(
                evidence.first,
                evidence.total.class(Class::Succeeded).by_measure(Measure::Service),
            ),
            growth: evidence.growth.filter(Growth::is_backlog),
            unanswered: failed(&evidence.total.counts, is_unanswered),
        };
        let service = |quantile| all.by_measure(Measure::Service).quantile(quantile).unwrap_or(0) as f64;
        // Starts at a rate meet a stall as often as it lasts; users in step wait for slow steps together.
        let few = if is_closed { 0.95 } else { 0.75 };
        let gaps = gaps::gaps(evidence.slices, (service(0.5), service(few)));
        (verdict.limit, verdict.known) = verdict.concluded(&evidence, &all, gaps);
        verdict.check_machine();
        verdict
    }

    /// Applies the result of the probe after the measured time.
    pub(crate) fn learn(&mut self, probed: Result<&Probe, NotTried>) {
        if self.wants_probe() {
            (self.limit, self.known) = match probed {
                Ok(probe) => probed::concluded(probe),
                Err(why) => (Limit::Unknown, Basis::Nothing(Unknown::NotTried(why))),
            };
            if let (Limit::Unknown, Some(share)) = (self.limit, self.first_round) {
                (self.limit, self.known) = (Limit::Target, Basis::FirstRound(share));
            }
            self.check_machine();
        }
    }

    fn is_machine_full(&self) -> bool {
        self.machine.is_some_and(|machine| machine.is_full())
    }

    /// A target at its limit on a full machine that it shares with the generator may give more on another.
    fn check_machine(&mut self) {
        let is_of_rates =
            matches!(self.known, Basis::Counts | Basis::Probe(_) | Basis::Curve(_) | Basis::FirstRound(_));
        if self.limit == Limit::Target && is_of_rates && self.is_machine_full() && self.unanswered == 0 {
            self.limit = Limit::Machine;
        }
    }

    /// Fewer users have not been tried, and a probe would tell.
    pub fn wants_probe(&self) -> bool {
        self.known == Basis::Nothing(Unknown::NotTried(NotTried::NotYet))
    }

    /// The bottleneck, and the basis of that.
    fn concluded(&self, evidence: &Evidence<'_>, all: &Timings, gaps: Option<Gaps>) -> (Limit, Basis) {
        let counts = &evidence.total.counts;
        let share_of_started = |count: u64| count as f64 / counts.all_started().max(1) as f64;
        // A target that was never reached is reported at once, whatever the generator's threads did in so short a time.
        let is_dead = counts.responses() == 0 && self.unanswered > 0 && self.unanswered == counts.finished();
        let too_little = (Limit::Unknown, Basis::Nothing(Unknown::TooLittle));
        if counts.all_started() == 0 || evidence.wall < RUN_MIN {
            return if is_dead { (Limit::Target, Basis::Counts) } else { too_little };
        }
        if share_of_started(failed(counts, is_local)) > LOSS_SHARE_MAX {
            return (Limit::PortsOrDescriptors, Basis::Counts);
        }
        // In a gap the generator's threads were on time, however late they were elsewhere.
        if let Some(known) =
            signs::refusals_basis(evidence).or_else(|| gaps.map(|gaps| signs::gaps_basis(evidence, gaps)))
        {
            return (Limit::Target, known);
        }
        let is_link_full = self.link.as_ref().is_some_and(|link| link.share >= LINK_SHARE_MAX);
        let is_late = own::was_late(evidence, all) && !is_link_full;
        if is_late && self.lost_share(evidence) <= DWARFING * own::own_share(evidence, all) {
            return (if self.is_machine_full() { Limit::Machine } else { Limit::Generator }, Basis::Counts);
        }
        if is_link_full {
            return (Limit::Link, Basis::Counts);
        }
        // A run that was stopped before anything had ended met nothing that could have been the bottleneck, unless the
        // target was unreachable.
        let is_cut = counts.finished() == 0 && counts.cut() > 0;
        if is_cut || counts.iterations_cut() > 0 && counts.iterations() + counts.iterations_failed() == 0 {
            return if is_dead { (Limit::Target, Basis::Counts) } else { too_little };
        }
        if let Some(known) = signs::failures_basis(evidence) {
            return (Limit::Target, known);
        }
        match evidence.requested_per_s {
            None => self.concluded_of_users(evidence, all),
            Some(_) => self.concluded_of_rate(evidence, all),
        }
    }

    /// Conclusion for a closed load, with a given number of users.
    fn concluded_of_users(&self, evidence: &Evidence<'_>, all: &Timings) -> (Limit, Basis) {
        // A user that hangs is one request, and as much of the load as the time it hangs.
        if self.lost_share(evidence) > UNANSWERED_SHARE_MAX {
            return (Limit::Target, Basis::Counts);
        }
        if let Some(held) = signs::held(evidence, all) {
            return (Limit::PlanKept, Basis::PaceHeld(held));
        }
        if let Some(known) = signs::waits(evidence, all) {
            return (Limit::Connections, known);
        }
        // More users that pause are in flight because the target is slow, and not the other way round.
        let curve = if evidence.scenario.program.pauses() { None } else { curve::curve(evidence.slices) };
        match curve {
            Some((part, ProbeFinding::AtLimit | ProbeFinding::Refuses)) => (Limit::Target, Basis::Curve(part)),
            Some((part, ProbeFinding::Below)) => (Limit::Below, Basis::Curve(part)),
            _ => (Limit::Unknown, Basis::Nothing(Unknown::NotTried(NotTried::NotYet))),
        }
    }

    /// Conclusion for an open load: starts at a rate, whatever the responses.
    fn concluded_of_rate(&self, evidence: &Evidence<'_>, all: &Timings) -> (Limit, Basis) {
        let is_lost = self.lost_share(evidence) > LOSS_SHARE_MAX;
        if !is_lost && !self.has_backlog(all) && self.growth.is_none() {
            return (Limit::PlanKept, Basis::Counts);
        }
        let connections = evidence.scenario.load.connections();
        let most = evidence.slices.each.iter().map(|slice| slice.in_flight).max();
        // Where there are no slices, a configured number is taken as the number of busy connections.
        let were_all_busy =
            most.map_or(connections < OPEN_CONNECTIONS_MAX, |most| most as f64 >= BUSY_SHARE_MIN * connections as f64);
        if self.unanswered > 0 || !self.has_waited() || !were_all_busy {
            return (Limit::Target, Basis::Counts);
        }
        if let Some(held) = signs::pausing(evidence, all, connections) {
            return (Limit::Connections, Basis::PaceHeld(held));
        }
        match curve::curve(evidence.slices) {
            Some((part, ProbeFinding::AtLimit | ProbeFinding::Refuses)) => (Limit::Target, Basis::Curve(part)),
            Some((part, ProbeFinding::Below)) => (Limit::Connections, Basis::Curve(part)),
            _ => (Limit::Unknown, Basis::Nothing(Unknown::AllBusy { connections })),
        }
    }

    /// Whether starts waited for a free connection.
    fn has_waited(&self) -> bool {
        self.wait_p99_ns > Some(BACKLOG_MIN.0) || self.growth.is_some()
    }

    /// The share without a response: of the starts, and in a closed load of the users' time. Aborted exchanges are
    /// caused by neither side.
    fn lost_share(&self, evidence: &Evidence<'_>) -> f64 {
        let counts = &evidence.total.counts;
        let of_starts = |count: u64| count as f64 / counts.all_started().max(1) as f64;
        if evidence.requested_per_s.is_none() {
            return of_starts(self.unanswered).max(self.unanswered_time_share);
        }
        let left = counts.unfinished() - counts.cut();
        of_starts(counts.dropped() - counts.dropped_by_generator() + left + self.unanswered)
    }

    /// Whether starts waited for a free connection far longer than an exchange takes.
    fn has_backlog(&self, all: &Timings) -> bool {
        let p99 = |measure| all.by_measure(measure).quantile(0.99).unwrap_or(0);
        let (response, service) = (p99(Measure::Response), p99(Measure::Service));
        let behind = response.saturating_sub(service);
        behind > BACKLOG_MIN.0 && behind > service / 2 && self.wait_p99_ns > Some(BACKLOG_MIN.0)
    }
}

/// The failure means that this machine had none left.
fn is_local(failure: Failure) -> bool {
    matches!(failure, Failure::NoLocalPort | Failure::NoDescriptor)
}

/// The share of the time of all exchanges spent on those without a response; what began earlier counts at most as long
/// as the load.
fn unanswered_time_share(total: &Snapshot, span: Nanos) -> f64 {
    let time_of = |timings: &Timings| within(timings.by_measure(Measure::Response), span);
    let [unanswered, timed_out] = [Class::FailedUnanswered, Class::TimedOut].map(|class| time_of(&total.class(class)));
    let (unfinished, succeeded) = (total.unfinished(), total.class(Class::Succeeded));
    // An aborted exchange that had not waited longer than others with a response might have got one too.
    let longest = |timings: &Timings| timings.by_measure(Measure::Response).max();
    let might_have_ended = total.counts.cut() > 0 && longest(&unfinished) <= longest(&succeeded);
    // A user whose connection was refused waits before it retries, and that is time without a response too.
    let refused = failed(&total.counts, |failure| failure == Failure::ConnectRefused);
    let paused = refused as f64 * REFUSED_PAUSE.0 as f64;
    let lost = unanswered + timed_out + paused + if might_have_ended { 0.0 } else { time_of(&unfinished) };
    let all = lost + time_of(&total.class(Class::Succeeded)) + time_of(&total.class(Class::FailedAnswered));
    if all > 0.0 { lost / all } else { 0.0 }
}

/// The sum of times, none of them longer than the load: a user that waits since the warm-up waits at most that long in
/// it.
fn within(times: &Distribution, span: Nanos) -> f64 {
    if times.max().is_none_or(|longest| longest <= span.0) {
        return times.sum() as f64;
    }
    times.buckets().map(|bucket| bucket.middle_ns().min(span.0) as f64 * bucket.count as f64).sum()
}

/// Exchanges that failed for such a reason.
fn failed(counts: &Counts, is: impl Fn(Failure) -> bool) -> u64 {
    counts.failures().filter(|(failure, _)| is(*failure)).map(|(_, count)| count).sum()
}
