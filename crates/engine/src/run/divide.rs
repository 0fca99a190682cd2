//! Divides a plan over shards: which shard runs which part of which scenario. A scenario that needs few shards is
//! spread over them.

use std::sync::Arc;
use std::time::Duration;

use driver::Clock;
use metrics::{Catalog, Counter, SeriesId, SeriesKind, Snapshot};
use pacing::change::{LoadProfile, Timeline};
use pacing::open::{Rate, Schedule, Spacing, Stage, Starts};
use pacing::{LevelStage, Nanos, SLOT_COUNT, Segment, UserProfile};
use plan::{Arrivals, ConnectionCount, Load, Plan, RateStage, Scenario, UserShape};

use super::Partition;
use super::routes::TargetRoute;
use crate::barriers::Barriers;
use crate::budget_lease::SharedBudget;
use crate::control::{Changes, Refused};
use crate::data_sources::SharedData;
use crate::endpoints::EndpointRotation;
use crate::messaging::has_message_checks;
use crate::request_log::RequestLogConfig;
use crate::scenario_runtime::{ClosedWork, Counters, OpenWork, Origin, PreparedStep, ScenarioConfig};
use crate::series::catalog;
use crate::shard::ShardAssignment;
use crate::times::{Backlog, duration_of, longest};
use crate::verdict::Growth;
use crate::{Places, PlacesError};

/// Assignments of the shards of a plan, on at most `threads` shards; a shard without users is left out. `routes`: to the
/// targets of all scenarios, in their order.
pub(super) fn assignments(
    plan: &Plan,
    routes: &[TargetRoute],
    threads: usize,
    part: &Partition,
) -> Result<Vec<ShardAssignment>, PlacesError> {
    let (mut routes, catalog) = (routes, catalog(plan));
    let pool = plan.budget.is_set().then(|| Arc::new(SharedBudget::new(plan.budget)));
    let mut shares = Vec::new();
    for (number, scenario) in plan.scenarios.iter().enumerate() {
        let (own, rest) = routes.split_at(scenario.targets.len());
        let mut works = works(plan, number, &catalog, own, (threads, part))?;
        let counters = Counters::new(scenario.memory.counters, part.segment.clone());
        works.iter_mut().for_each(|work| work.counters = counters.clone());
        works.iter_mut().for_each(|work| work.budget = pool.clone());
        shares.push(works);
        routes = rest;
    }
    meet(plan, &mut shares);
    // Scenarios that need few shards are spread over all of them.
    let count = shares.iter().map(Vec::len).max().unwrap_or(0);
    let mut assignments: Vec<ShardAssignment> = (0..count).map(|_| Vec::new()).collect();
    let mut place = 0;
    for (works, scenario) in shares.into_iter().zip(&plan.scenarios) {
        for work in works {
            assignments[place % count].push((work, duration_of(scenario)));
            place += 1;
        }
    }
    Ok(assignments)
}

/// Lets the users of a scenario that wait for each other do so on all shards together.
fn meet(plan: &Plan, shares: &mut [Vec<ScenarioConfig>]) {
    let all = shares.iter_mut().zip(&plan.scenarios);
    let barrier = all.filter(|(_, scenario)| !scenario.program.barriers().is_empty());
    let works: Vec<&mut ScenarioConfig> = barrier.flat_map(|(works, _)| works).collect();
    let barriers = Arc::new(Barriers::new(&plan.barriers, works.len()));
    works.into_iter().enumerate().for_each(|(participant, work)| work.barriers = Some((barriers.clone(), participant)));
}

/// The barriers of the users of all assignments; none where users do not wait for others.
pub(super) fn barriers_of(assignments: &[ShardAssignment]) -> Option<Arc<Barriers>> {
    let mut works = assignments.iter().flatten().map(|(work, _)| work);
    works.find_map(|work| work.barriers.as_ref().map(|(barriers, _)| barriers.clone()))
}

/// The scenarios that a shard plays.
pub(super) fn scenarios_of(assignment: &ShardAssignment) -> Vec<usize> {
    assignment.iter().map(|(work, _)| work.scenario).collect()
}

/// The steps of a scenario, and behind them those at the origins of each, which count as it does.
fn prepared_steps(plan: &Plan, scenario: &plan::Scenario, first_step: u32) -> Arc<[PreparedStep]> {
    // The step that opens a conversation determines for all of its steps what is kept.
    let are_kept = |target| scenario.steps.iter().any(|step| step.target == target && has_message_checks(step));
    let step = |(number, step): (u32, &plan::Step)| {
        let prepared = PreparedStep::new(number, step, &scenario.targets[step.target], plan.capture_options);
        let prepared = if are_kept(step.target) { prepared.keeping_messages() } else { prepared };
        let keeps_heads = scenario.memory.cookies || scenario.program.waits_as_requested();
        if keeps_heads { prepared.keeping_heads() } else { prepared }
    };
    let mut all: Vec<PreparedStep> = (first_step..).zip(&scenario.steps).map(step).collect();
    for (number, one) in (0..).zip(&scenario.steps) {
        let places = all.len() as u32..(all.len() + one.at_origins.len()) as u32;
        all.extend(one.at_origins.iter().map(|at_origin| step((first_step + number, at_origin))));
        all[number as usize].lead_to(places);
    }
    all.into()
}

/// How many shards carry a scenario, by its users, its requests, and the connections that users share.
fn shard_count(
    scenario: &plan::Scenario,
    (users, requests, shared): (u64, Option<u64>, Option<u64>),
    threads: usize,
    part: &Partition,
) -> u32 {
    // In a partition of the load, its own part.
    let own = |all: u64| part.segment.count_of_first(all);
    let busy = own(requests.map_or(users, |requests| users.min(requests)).min(shared.unwrap_or(u64::MAX)));
    let most = u64::try_from(threads.max(1)).unwrap_or(u64::MAX);
    let count = most.min(busy).clamp(1, part.segment.slot_count().into()) as u32;
    let dealt = if let Load::Open { .. } = scenario.load { Some(own(users)) } else { shared.map(own) };
    match dealt.filter(|connections| *connections < FEW_CONNECTIONS * u64::from(count)) {
        // Starts and users are divided evenly: a shard with fewer connections than another would make them wait.
        Some(connections) => (1..=count).rev().find(|count| connections.is_multiple_of(u64::from(*count))).unwrap_or(1),
        None => count,
    }
}

/// The configuration of each shard for one scenario.
fn works(
    plan: &Plan,
    number: usize,
    catalog: &Catalog,
    routes: &[TargetRoute],
    (threads, part): (usize, &Partition),
) -> Result<Vec<ScenarioConfig>, PlacesError> {
    let scenario = &plan.scenarios[number];
    let first_step = catalog.first(number, SeriesKind::Step);
    let prepared = || prepared_steps(plan, scenario, first_step);
    let steps = prepared();
    // Shards that share requests all write their reference counts, at each request that they send.
    let is_shared = scenario.steps.iter().map(plan::Step::bytes).sum::<usize>() > COPIES_BYTES_MAX;
    let streams = scenario.target().streams;
    let (users, requests) = match &scenario.load {
        Load::Closed { users, requests, .. } => (*users, *requests),
        Load::Open { connections, .. } => (connections.most(), None),
    };
    let shared = scenario.shared_connections.filter(|_| matches!(scenario.load, Load::Closed { .. }));
    let count = shard_count(scenario, (users, requests, shared), threads, part);
    let schedule = match &scenario.load {
        Load::Closed { .. } => None,
        Load::Open { stages, requests, .. } => Some(Arc::new(schedule_of(stages, *requests))),
    };
    let warmup = Nanos::from(plan.warmup);
    let levels = Arc::new(levels(scenario, warmup));
    let is_rendezvous = matches!(scenario.load, Load::Closed { shape: UserShape::Rendezvous, .. });
    let origins = origins_of(scenario, routes)?;
    let secrets = plan::SecretValues::from_plan(plan);
    let memory = Arc::new(scenario.memory.clone());
    let work = |index| {
        let segment = part.segment.part(index, count);
        let open = schedule.as_ref().and_then(|schedule| open_work(plan, number, schedule, (&segment, part.from)));
        let closed = ClosedWork {
            levels: levels.clone(),
            segment: segment.clone(),
            is_rendezvous,
            from: part.from.map_or(Nanos::ZERO, |from| warmup + from),
        };
        let mut share = pacing::closed::share(users, requests, &segment);
        share.users *= u64::from(streams);
        let steps = if index == 0 || is_shared { steps.clone() } else { prepared() };
        let origins = origins.clone();
        ScenarioConfig {
            scenario: number,
            name: scenario.name.as_str().into(),
            first_series: SeriesId::step(first_step),
            first_transaction: catalog.first(number, SeriesKind::Transaction),
            first_check: catalog.first(number, SeriesKind::Check),
            names_places: plan.scenarios.len() > 1,
            origins,
            segment: segment.clone(),
            steps,
            program: scenario.program.clone().into(),
            seed: plan.seed,
            capture_options: plan.capture_options,
            every: scenario.every.map(Nanos::from),
            iterations_per_user: scenario.iterations_per_user,
            streams,
            shared: shared.map(|connections| segment.count_of_first(connections)),
            first_number: first_number((number, scenario), warmup, part),
            share,
            closed,
            open,
            warmup,
            secrets: secrets.clone(),
            budget: None,
            barriers: None,
            memory: memory.clone(),
            counters: Counters::new(0, Segment::WHOLE),
            shared_data: SharedData::default(),
            log_config: RequestLogConfig::default(),
            shard: 0,
            has_first_round: begins_together(plan, scenario, part),
        }
    };
    Ok((0..count).map(work).collect())
}

/// The origins of a scenario, one for each of its targets.
fn origins_of(scenario: &Scenario, routes: &[TargetRoute]) -> Result<Arc<[Origin]>, PlacesError> {
    let origins = scenario.targets.iter().zip(routes).enumerate().map(
        |(number, (target, TargetRoute { addresses, name, tls }))| {
            let to_it = scenario.all_steps().filter(|step| step.target == number);
            let connect_timeout = to_it.map(|step| step.connect_timeout).max().unwrap_or_default().into();
            let places = Places::resolve(target, addresses, scenario.load.connections())?;
            let opens_with = scenario.steps.iter().position(|step| step.target == number && step.messaging.is_some());
            let proxy_tls =
                crate::proxy_tls(target).map_err(|error| PlacesError::ProxyTls { reason: error.to_string() })?;
            let origin = Origin::new(
                Arc::new(target.clone()),
                EndpointRotation::new(places, name.clone()),
                tls.clone(),
                proxy_tls,
                connect_timeout,
            );
            Ok(origin.opened_with(opens_with.map(|step| step as u32)))
        },
    );
    Ok(origins.collect::<Result<Vec<_>, PlacesError>>()?.into())
}

/// Whether all users of a scenario begin at once, with nothing but one exchange after the other, each on a connection
/// of its own.
fn begins_together(plan: &Plan, scenario: &Scenario, part: &Partition) -> bool {
    let is_at_once = matches!(scenario.load, Load::Closed { shape: UserShape::AtOnce, .. });
    let is_whole = plan.scenarios.len() == 1 && part.from.is_none() && plan.warmup.is_zero();
    let are_alone = scenario.shared_connections.is_none() && scenario.target().streams == 1;
    let is_one = scenario.every.is_none() && scenario.program.is_one_exchange();
    // Requests that differ may take different times.
    let are_same = scenario.steps.iter().all(|step| step.dynamic_parts.is_none());
    is_at_once && is_whole && are_alone && is_one && are_same
}

/// Requests that are larger than this together are stored once for all shards: the cost of one is its bytes.
const COPIES_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The first iteration number of an open load. Iterations are numbered over all partitions: those of a partition that
/// begins later have unused numbers. For evenly spaced starts without a warm-up they are the numbers of the starts.
fn first_number((number, scenario): (usize, &Scenario), warmup: Nanos, part: &Partition) -> u64 {
    let (Load::Open { stages, arrivals, .. }, Some(from)) = (&scenario.load, part.from) else { return 0 };
    let (mut timeline, _) = changing(scenario, warmup);
    let own = part.changes.iter().filter(|change| change.scenario == number);
    own.for_each(|change| timeline.change(change));
    let LoadProfile::Rate(schedule) = timeline.course() else { return 0 };
    let before = from.0.checked_sub(1).map_or(0, |last| schedule.count_until(Nanos(last)));
    if *arrivals == Arrivals::Even && warmup == Nanos::ZERO {
        return before;
    }
    let first = stages.iter().find(|stage| !stage.span.is_zero()).map_or(0, |stage| stage.from);
    let warm = schedule_of(&[RateStage { from: first, to: first, span: warmup.as_duration() }], None);
    let before = before + warm.count();
    let rounds = 8 * u64::from(SLOT_COUNT);
    // Random starts of a slot exceed its share by a few standard deviations at most.
    before + 8 * (before.saturating_mul(SLOT_COUNT.into())).isqrt() + rounds
}

/// Connections for each shard of an open load, above which one more or less makes no difference.
const FEW_CONNECTIONS: u64 = 64;

/// The loads of a plan over time, unchanged.
pub(super) fn changes_of(plan: &Plan, clock: Clock) -> Changes {
    let warmup = Nanos::from(plan.warmup);
    Changes::new(plan.scenarios.iter().map(|scenario| changing(scenario, warmup)).collect(), clock)
}

fn changing(scenario: &Scenario, warmup: Nanos) -> (Timeline, Option<Refused>) {
    let fixed = match &scenario.load {
        Load::Closed { shape: UserShape::Rendezvous, .. } => Some(Refused::Rendezvous),
        Load::Closed { requests: Some(_), .. } => Some(Refused::Counted),
        _ => None,
    };
    let timeline = match &scenario.load {
        Load::Closed { .. } => {
            Timeline::new(LoadProfile::Users(Arc::new(levels(scenario, warmup)), warmup), duration_of(scenario))
        }
        Load::Open { stages, requests, .. } => {
            let schedule = schedule_of(stages, *requests);
            let end = schedule.end();
            Timeline::new(LoadProfile::Rate(Arc::new(schedule)), Some(end))
        }
    };
    (timeline, fixed)
}

/// The mean rate requested from an open load, while it was not paused.
pub(crate) fn requested_per_s(scenario: &Scenario, timeline: &Timeline, until: Nanos, seen: &Snapshot) -> Option<f64> {
    let LoadProfile::Rate(schedule) = timeline.course() else { return None };
    // Late starts do not reduce the requested rate.
    let until = if schedule.is_limited() { until.min(timeline.end().unwrap_or(until)) } else { until };
    let working = until.since(timeline.paused_between(Nanos::ZERO, until));
    let share = if working == Nanos::ZERO { 1.0 } else { until.as_secs_f64() / working.as_secs_f64() };
    // A start is an iteration, with all its exchanges.
    let each = scenario.program.asks_each().map_or_else(|| requested_each(seen), |each| each as f64);
    Some(schedule.mean_rate_until(until) * share * each)
}

/// Exchanges of an iteration where chances and conditions decide: as many as there were.
fn requested_each(seen: &Snapshot) -> f64 {
    let counts = &seen.counts;
    let iterations = counts[Counter::Iterations] + counts[Counter::IterationsCut] + counts[Counter::IterationsFailed];
    let starts = counts.started().saturating_sub(counts[Counter::Redirects] + counts.dropped());
    if iterations == 0 { 1.0 } else { starts as f64 / iterations as f64 }
}

fn schedule_of(stages: &[RateStage], requests: Option<u64>) -> Schedule {
    let rate = Rate::per_hour_thousandths;
    let stages: Vec<Stage> = stages
        .iter()
        .map(|stage| Stage { from: rate(stage.from), to: rate(stage.to), span: stage.span.into() })
        .collect();
    Schedule::new(&stages).with_limit(requests)
}

/// How long a start of an open load stayed, halfway and at the end, by what was in flight and the rate then (Little's
/// law). `None` when that is meaningless: before the first responses everything is in flight, and a load that was
/// changed has no half.
pub(super) fn growth(timeline: &Timeline, backlog: Backlog) -> Option<Growth> {
    let LoadProfile::Rate(schedule) = timeline.course() else { return None };
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

/// When the loads of a plan are over, counted from the beginning of the measured load; `None` when no time ends them.
pub fn end_of_plan(plan: &Plan) -> Option<Nanos> {
    longest(plan.scenarios.iter().map(duration_of))
}

/// Starts of open loads intended from one instant to before another one, in some slots, with all changes.
pub fn starts_between(plan: &Plan, timelines: &[Arc<Timeline>], slots: &Segment, (from, to): (Nanos, Nanos)) -> u64 {
    let of = |(scenario, timeline): (&Scenario, &Arc<Timeline>)| {
        let (Load::Open { arrivals, .. }, LoadProfile::Rate(schedule)) = (&scenario.load, timeline.course()) else {
            return 0;
        };
        let mut starts = Starts::from(schedule.clone(), spacing_of(*arrivals), slots.clone(), from);
        to.0.checked_sub(1).map_or(0, |last| starts.take_until(Nanos(last)))
    };
    plan.scenarios.iter().zip(timelines).map(of).sum()
}

fn spacing_of(arrivals: Arrivals) -> Spacing {
    match arrivals {
        Arrivals::Even => Spacing::Even,
        Arrivals::Poisson { seed } => Spacing::Poisson { seed },
    }
}

/// The number of users over time.
fn levels(scenario: &Scenario, warmup: Nanos) -> UserProfile {
    let Load::Closed { users, shape, .. } = &scenario.load else { return UserProfile::constant(0) };
    if !scenario.begin.is_zero() {
        return later_levels(*users, shape, warmup + scenario.begin.into());
    }
    match shape {
        UserShape::AtOnce | UserShape::Rendezvous => UserProfile::constant(*users),
        UserShape::Ramp(span) => UserProfile::new(&[LevelStage { from: 0, to: *users, span: (*span).into() }]),
        UserShape::Stages(stages) => {
            // A warm-up has the users that the stages begin with.
            let first = stages.iter().find(|stage| !stage.span.is_zero()).map_or(0, |stage| stage.from);
            let warm = LevelStage { from: first, to: first, span: warmup };
            let stages =
                stages.iter().map(|stage| LevelStage { from: stage.from, to: stage.to, span: stage.span.into() });
            UserProfile::new(&std::iter::once(warm).chain(stages).collect::<Vec<_>>())
        }
    }
}

/// The users of a load that begins later: none before `begin`, not in a warm-up either.
fn later_levels(users: u64, shape: &UserShape, begin: Nanos) -> UserProfile {
    let nobody = LevelStage { from: 0, to: 0, span: begin };
    let level = |from, to, span: Duration| LevelStage { from, to, span: span.into() };
    let stages = match shape {
        UserShape::AtOnce | UserShape::Rendezvous => vec![level(users, users, Duration::ZERO)],
        UserShape::Ramp(span) => vec![level(0, users, *span)],
        UserShape::Stages(stages) => stages.iter().map(|stage| level(stage.from, stage.to, stage.span)).collect(),
    };
    UserProfile::new(&std::iter::once(nobody).chain(stages).collect::<Vec<_>>())
}

fn open_work(
    plan: &Plan,
    scenario: usize,
    schedule: &Arc<Schedule>,
    (segment, from): (&Segment, Option<Nanos>),
) -> Option<OpenWork> {
    let load = &plan.scenarios[scenario].load;
    let Load::Open { stages, arrivals, connections, max_lateness, requests } = load else { return None };
    let spacing = spacing_of(*arrivals);
    let first = stages.iter().find(|stage| !stage.span.is_zero()).map_or(0, |stage| stage.from);
    let warm_schedule = schedule_of(&[RateStage { from: first, to: first, span: plan.warmup }], None);
    let first_deadline = plan.scenarios[scenario].first_deadline();
    let first_deadline = first_deadline.map(|(deadline, step)| (Nanos::from(deadline), step as u32));
    let is_warming = !plan.warmup.is_zero() && from.is_none();
    let warmup = is_warming.then(|| Starts::new(Arc::new(warm_schedule), spacing, segment.clone()));
    Some(OpenWork {
        warmup,
        starts: Starts::from(schedule.clone(), spacing, segment.clone(), from.unwrap_or_default()),
        max_lateness: (*max_lateness).into(),
        first_deadline: first_deadline.filter(|(deadline, _)| *deadline < Nanos::from(*max_lateness)),
        opens_all: matches!(connections, ConnectionCount::Exactly(_)),
        ends_with_last: requests.is_some(),
        ends_by_count: schedule.reaches_limit(),
    })
}

#[cfg(test)]
mod tests {
    use plan::Flags;

    use super::*;

    fn two_shards(data: &str) -> Vec<ScenarioConfig> {
        let flags = Flags {
            url: Some("http://127.0.0.1:1/".to_owned()),
            connections: Some("2".to_owned()),
            data: Some(data.to_owned()),
            ..Flags::default()
        };
        let address = "127.0.0.1:1".parse().expect("an address");
        let plan = flags.plan().expect("a good plan");
        works(&plan, 0, &catalog(&plan), &[TargetRoute::to(address, None)], (2, &Partition::default()))
            .expect("two shards")
    }

    /// A reference count that two threads write at each request moves from core to core.
    #[test]
    fn shards_have_requests_of_their_own() {
        let is_shared = |works: &[ScenarioConfig]| Arc::ptr_eq(&works[0].steps, &works[1].steps);
        assert!(!is_shared(&two_shards("a few bytes")));
        // A large request costs its bytes, and is stored once.
        assert!(is_shared(&two_shards(&"x".repeat(COPIES_BYTES_MAX + 1))));
    }
}
