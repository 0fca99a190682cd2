//! From a plan to what each shard has to do.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use driver::Clock;
use pacing::change::{Course, Timeline};
use pacing::open::{Rate, Schedule, Spacing, Stage, Starts};
use pacing::{LevelStage, Levels, Nanos, SLOT_COUNT, Segment};
use plan::{Arrivals, ConnectionCount, Load, Plan, RateStage, UserShape};
use wire::tls::ClientConfig;

use crate::control::{Changes, Refused};
use crate::shard::Backlog;
use crate::verdict::Growth;
use crate::world::{ClosedWork, OpenWork, Origin, PreparedStep, Work};
use crate::{Places, PlacesError};

/// What each shard of a plan has to do, on at most `threads` shards; one without users is left out.
pub(super) fn works(
    plan: &Plan,
    ways: &[(SocketAddr, Option<ClientConfig>)],
    threads: usize,
) -> Result<Vec<Work>, PlacesError> {
    let scenario = plan.scenarios.first().expect("a plan has a scenario");
    let prepared = || -> Arc<[PreparedStep]> {
        let step = |(number, step): (usize, &plan::Step)| {
            PreparedStep::new(number as u32, step, &scenario.targets[step.target], plan.keeps)
        };
        scenario.steps.iter().enumerate().map(step).collect()
    };
    let steps = prepared();
    // Shards that share requests write their counts of references in turn, at each that they send.
    let is_shared = scenario.steps.iter().map(plan::Step::bytes).sum::<usize>() > COPIES_BYTES_MAX;
    let streams = scenario.target().streams;
    let (users, requests) = match &scenario.load {
        Load::Closed { users, requests, .. } => (*users, *requests),
        Load::Open { connections, .. } => (connections.most(), None),
    };
    let busy = requests.map_or(users, |requests| users.min(requests));
    let most = u64::try_from(threads.max(1)).unwrap_or(u64::MAX);
    let mut count = most.min(busy).clamp(1, u64::from(SLOT_COUNT)) as u32;
    if let Load::Open { .. } = scenario.load
        && users < FEW_CONNECTIONS * u64::from(count)
    {
        // Starts are dealt out evenly: a shard with fewer connections than another would make them wait.
        count = (1..=count).rev().find(|count| users.is_multiple_of(u64::from(*count))).unwrap_or(1);
    }
    let schedule = match &scenario.load {
        Load::Closed { .. } => None,
        Load::Open { stages, requests, .. } => Some(Arc::new(schedule_of(stages, *requests))),
    };
    let warmup = Nanos::from(plan.warmup);
    let levels = Arc::new(levels(&scenario.load, warmup));
    let is_rendezvous = matches!(scenario.load, Load::Closed { shape: UserShape::Rendezvous, .. });
    let connections = scenario.load.connections();
    let origins = scenario.targets.iter().zip(ways).enumerate().map(|(number, (target, (address, tls)))| {
        let to_it = scenario.steps.iter().filter(|step| step.target == number);
        let connect_timeout = to_it.map(|step| step.connect_timeout).max().unwrap_or_default().into();
        let places = Places::of(target, *address, connections)?;
        Ok(Origin::new(Arc::new(target.clone()), places, tls.clone(), connect_timeout))
    });
    let origins: Arc<[Origin]> = origins.collect::<Result<Vec<_>, PlacesError>>()?.into();
    let secrets = plan::Known::of_plan(plan);
    let work = |index| {
        let segment = Segment::share(index, count);
        let open = schedule.as_ref().and_then(|schedule| open_work(&scenario.load, schedule, segment, plan.warmup));
        let closed = ClosedWork { levels: levels.clone(), segment, is_rendezvous };
        let mut share = pacing::closed::share(users, requests, segment);
        share.users *= u64::from(streams);
        let steps = if index == 0 || is_shared { steps.clone() } else { prepared() };
        let origins = origins.clone();
        Work {
            origins,
            segment,
            steps,
            order: scenario.order,
            keeps: plan.keeps,
            streams,
            share,
            closed,
            open,
            warmup,
            secrets: secrets.clone(),
        }
    };
    Ok((0..count).map(work).collect())
}

/// Requests that are larger than this together are there once for all shards: what one costs is its bytes.
const COPIES_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Connections for each shard of an open load, above which one more or less makes no difference.
const FEW_CONNECTIONS: u64 = 64;

/// The load of a plan over time, as nobody has changed it.
pub(super) fn changes_of(plan: &Plan, clock: Clock) -> Changes {
    let load = &plan.scenarios.first().expect("a plan has a scenario").load;
    let fixed = match load {
        Load::Closed { shape: UserShape::Rendezvous, .. } => Some(Refused::Rendezvous),
        Load::Closed { requests: Some(_), .. } => Some(Refused::Counted),
        _ => None,
    };
    let warmup = Nanos::from(plan.warmup);
    let timeline = match load {
        Load::Closed { duration, .. } => {
            Timeline::new(Course::Users(Arc::new(levels(load, warmup)), warmup), duration.map(Nanos::from))
        }
        Load::Open { stages, requests, .. } => {
            let schedule = schedule_of(stages, *requests);
            let end = schedule.end();
            Timeline::new(Course::Rate(Arc::new(schedule)), Some(end))
        }
    };
    Changes::new(timeline, fixed, clock)
}

/// The mean rate that an open load was asked for, while it was not paused.
pub(crate) fn asked_per_s(plan: &Plan, timeline: &Timeline, until: Nanos) -> Option<f64> {
    let Course::Rate(schedule) = timeline.course() else { return None };
    let working = until.since(timeline.paused_between(Nanos::ZERO, until));
    let share = if working == Nanos::ZERO { 1.0 } else { until.as_secs_f64() / working.as_secs_f64() };
    // What starts is an iteration, with all its steps.
    let steps = plan.scenarios.first()?.steps.len() as f64;
    Some(schedule.mean_rate_until(until) * share * steps)
}

fn schedule_of(stages: &[RateStage], requests: Option<u64>) -> Schedule {
    let rate = Rate::per_hour_thousandths;
    let stages: Vec<Stage> = stages
        .iter()
        .map(|stage| Stage { from: rate(stage.from), to: rate(stage.to), span: stage.span.into() })
        .collect();
    Schedule::new(&stages).with_limit(requests)
}

/// How long a start of an open load stayed, halfway and at the end, by what was in flight and the rate then (Little's law). `None`
/// when that says nothing: before the first answers everything is in flight, and a load that was changed has no half.
pub(super) fn growth(timeline: &Timeline, backlog: Backlog) -> Option<Growth> {
    let Course::Rate(schedule) = timeline.course() else { return None };
    let halfway = Nanos(schedule.end().0 / 2);
    let started = schedule.mean_rate_until(halfway) * halfway.as_secs_f64();
    // The rate just before the end: at the end it is over.
    let rates = [halfway, Nanos(schedule.end().0.saturating_sub(1))].map(|at| schedule.rate_at(at));
    let is_telling = !schedule.is_limited()
        && timeline.revision() == 0
        && rates.iter().all(|rate| *rate > 0.0)
        && (backlog.halfway as f64) < 0.9 * started;
    is_telling.then(|| Growth {
        halfway_s: backlog.halfway as f64 / rates[0],
        at_end_s: backlog.at_end as f64 / rates[1],
        at_end: backlog.at_end,
    })
}

/// How many users there are at an instant of the run.
fn levels(load: &Load, warmup: Nanos) -> Levels {
    let Load::Closed { users, shape, .. } = load else { return Levels::constant(0) };
    match shape {
        UserShape::AtOnce | UserShape::Rendezvous => Levels::constant(*users),
        UserShape::Ramp(span) => Levels::new(&[LevelStage { from: 0, to: *users, span: (*span).into() }]),
        UserShape::Stages(stages) => {
            // A warm-up has the users that the stages begin with.
            let first = stages.iter().find(|stage| !stage.span.is_zero()).map_or(0, |stage| stage.from);
            let warm = LevelStage { from: first, to: first, span: warmup };
            let stages =
                stages.iter().map(|stage| LevelStage { from: stage.from, to: stage.to, span: stage.span.into() });
            Levels::new(&std::iter::once(warm).chain(stages).collect::<Vec<_>>())
        }
    }
}

fn open_work(load: &Load, schedule: &Arc<Schedule>, segment: Segment, warmup: Duration) -> Option<OpenWork> {
    let Load::Open { stages, arrivals, connections, max_lateness, requests } = load else { return None };
    let spacing = match *arrivals {
        Arrivals::Even => Spacing::Even,
        Arrivals::Poisson { seed } => Spacing::Poisson { seed },
    };
    let first = stages.iter().find(|stage| !stage.span.is_zero()).map_or(0, |stage| stage.from);
    let warm_schedule = schedule_of(&[RateStage { from: first, to: first, span: warmup }], None);
    let warmup = (!warmup.is_zero()).then(|| Starts::new(Arc::new(warm_schedule), spacing, segment));
    Some(OpenWork {
        warmup,
        starts: Starts::new(schedule.clone(), spacing, segment),
        max_lateness: (*max_lateness).into(),
        opens_all: matches!(connections, ConnectionCount::Exactly(_)),
        ends_with_last: requests.is_some(),
        ends_by_count: schedule.reaches_limit(),
    })
}

#[cfg(test)]
mod tests {
    use plan::Flags;

    use super::*;

    fn two_shards(data: &str) -> Vec<Work> {
        let flags = Flags {
            url: Some("http://127.0.0.1:1/".to_owned()),
            connections: Some("2".to_owned()),
            data: Some(data.to_owned()),
            ..Flags::default()
        };
        let address = "127.0.0.1:1".parse().expect("an address");
        works(&flags.plan().expect("a good plan"), &[(address, None)], 2).expect("two shards")
    }

    /// A count of references that two threads write at each request goes from core to core.
    #[test]
    fn shards_have_requests_of_their_own() {
        let is_shared = |works: &[Work]| Arc::ptr_eq(&works[0].steps, &works[1].steps);
        assert!(!is_shared(&two_shards("a few bytes")));
        // A large one costs its bytes, and is there once.
        assert!(is_shared(&two_shards(&"x".repeat(COPIES_BYTES_MAX + 1))));
    }
}
