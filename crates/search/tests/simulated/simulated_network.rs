//! A simulated network with a target in it, and a search that loads it.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::time::Duration;

use driver::sim::{Faults, Host, Network, SimDriver};
use engine::{SteppedRun, StopHandle};
use metrics::{Class, Measure, Snapshot, Threshold};
use pacing::Nanos;
use pacing::change::ChangeKind;
use plan::{Arrivals, Flags, Load, Plan, RATE_UNIT, RateStage, UserShape};
use search::{
    Bin, Disturbance, Go, Moments, OwnEffects, Search, SearchResult, Settings, Step, Tally, TimePiece, TrialEnding,
    TrialOrder, TrialOutcome,
};
use target::{Behavior, SteppedServer};

/// The setup of a search.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) url: String,
    /// Whether starts are random; else even.
    pub(crate) is_random: bool,
    /// Whether to search users, not a rate.
    pub(crate) has_users: bool,
    /// How long the generator stalls in each second.
    pub(crate) stalled: Duration,
    /// The time that 99 of 100 must not exceed.
    pub(crate) limit: Duration,
    pub(crate) budget: Duration,
}

struct SimulatedNetwork {
    network: Network,
    server: SteppedServer<SimDriver>,
    server_host: Host,
}

fn address() -> SocketAddr {
    "10.0.0.1:80".parse().expect("an address")
}

/// A whole search in a world of its own.
pub(crate) fn search(wanted: &Wanted, seed: u64) -> SearchResult {
    let network = Network::new(seed, Faults::none());
    let driver = network.add_host();
    let server_host = driver.host();
    let behavior = Behavior { seed, ..Behavior::default() };
    let server = SteppedServer::start_as(driver, address(), behavior).expect("a free address");
    let mut world = SimulatedNetwork { network, server, server_host };
    // A refused request is lost too.
    let goals = [format!("p99(response_time) < {}ms", wanted.limit.as_millis()), "failed / done < 1%".to_owned()];
    let goals = goals.map(|text| Threshold::parse(&text).expect("a goal"));
    let settings = Settings {
        goals: allowed(&goals),
        budget: wanted.budget,
        trials_max: None,
        start: if wanted.has_users { 1.0 } else { 10.0 },
        least: 1.0,
        most: 100_000.0,
        is_whole: wanted.has_users,
        is_plain: false,
    };
    let mut search = Search::new(settings);
    let base = base(wanted);
    loop {
        let began = world.network.now().as_duration();
        match search.next(began) {
            Step::Trial(order) => {
                let plan = plan_of(&base, wanted, &order, seed);
                let outcome = world.trial((&plan, &goals), &order, &search, wanted);
                search.received(&order, outcome, began, world.network.now().as_duration());
            }
            // Requests waiting in the target leave before the next trial begins.
            Step::Rest => {
                let rested = world.rest(wanted.limit);
                search.rested(Ok(rested.as_duration()));
            }
            Step::Over => return search.found(),
        }
    }
}

fn allowed(goals: &[Threshold]) -> Vec<(f64, Option<f64>)> {
    goals.iter().map(|goal| (0.01, goal.limit_ns().map(|limit| limit as f64 / 1e9))).collect()
}

fn base(wanted: &Wanted) -> Plan {
    let flags = Flags {
        url: Some(format!("http://10.0.0.1{}", wanted.url)),
        user_agent: "search".to_owned(),
        ..Flags::default()
    };
    flags.plan().expect("a good plan")
}

fn plan_of(base: &Plan, wanted: &Wanted, order: &TrialOrder, seed: u64) -> Plan {
    let mut plan = base.clone();
    (plan.interval, plan.warmup, plan.grace) = (order.bin, order.warmup, wanted.limit * 20);
    plan.scenarios[0].load = if wanted.has_users {
        let (users, duration) = (order.at as u64, Some(order.span_max));
        Load::Closed { users, shape: UserShape::AtOnce, requests: None, duration }
    } else {
        let rate = (order.at * RATE_UNIT as f64) as u64;
        Load::Open {
            stages: vec![RateStage { from: rate, to: rate, span: order.span_max }],
            arrivals: match wanted.is_random {
                true => Arrivals::Poisson { seed: seed * 1_000 + order.number as u64 },
                false => Arrivals::Even,
            },
            requests: None,
            connections: plan::ConnectionCount::UpTo(2_000),
            max_lateness: Duration::from_secs(30),
        }
    };
    plan
}

fn fault(
    own: &OwnEffects,
    (goals, tally): (&[Threshold], &Tally),
    total: &Snapshot,
    is_open: bool,
) -> Option<Disturbance> {
    let longer_ns = own.longest().as_nanos() as u64;
    let beyond: Vec<_> = goals.iter().map(|goal| goal.longer_by(longer_ns).lost(total)).collect();
    let goals = &allowed(goals);
    own.fault(&TrialEnding { goals, tally, beyond: &beyond, is_open, threads: 1, is_full: false, limit: None })
}

impl SimulatedNetwork {
    fn trial(
        &mut self,
        (plan, goals): (&Plan, &[Threshold]),
        order: &TrialOrder,
        search: &Search,
        wanted: &Wanted,
    ) -> TrialOutcome {
        let mut judge = search.judge(order);
        let (stop, began) = (StopHandle::default(), self.network.now());
        let mut host = None;
        let network = self.network.clone();
        let mut run = SteppedRun::start(plan, address(), 1, &stop, || {
            let driver = network.add_host();
            host = Some(driver.host());
            driver
        });
        let host = host.expect("one shard");
        if !wanted.stalled.is_zero() {
            self.stall(host, began, (order.warmup + order.span_max, wanted.stalled));
        }
        let (mut tally, mut wants_end, mut is_ended) = (Tally::default(), false, false);
        let mut own = OwnEffects::default();
        let mut ends_at = Nanos::from(order.span_max);
        while run.is_waiting() {
            let next = self.network.next().expect("something happens");
            if next == self.server_host {
                self.server.step().expect("a simulated driver works");
                continue;
            }
            let is_on = run.step(0, |reported| {
                let lost = goals.iter().map(|goal| goal.lost(reported.added)).collect();
                let in_flight = reported.total.gauges.in_flight.response.count();
                let piece = TimePiece::new(reported.added, in_flight, order.bin);
                let mut bin = Bin { lost, times: Moments::new(reported.added), ..Bin::default() };
                if reported.is_update || reported.from >= ends_at {
                    own.mend(&piece);
                    tally.mend(bin);
                } else {
                    own.piece(&piece).mark(&mut bin);
                    tally.push(bin.clone());
                    let in_flight: Vec<u64> = goals.iter().map(|goal| goal.lost_in_flight(reported.total)).collect();
                    wants_end |= judge.piece(bin, &in_flight) == Go::Stop;
                }
                ControlFlow::Continue(())
            });
            if !is_on.expect("a simulated driver works") {
                self.network.park(host);
            }
            if wants_end && !is_ended {
                is_ended = true;
                // It may be over by itself.
                if let Ok(change) = run.change(0, ChangeKind::End, self.network.now()) {
                    ends_at = ends_at.min(change.effective_at);
                }
            }
        }
        let finished = run.finish_run(plan, |_| ControlFlow::Continue(())).expect("a simulated driver works");
        let fault = fault(&own, (goals, &tally), &finished.total, !wanted.has_users);
        let times = finished.total.class(Class::Succeeded);
        let response = times.by_measure(Measure::Response);
        let measured = self.network.now().since(began).as_duration().saturating_sub(order.warmup);
        TrialOutcome {
            tally,
            measured,
            done_per_s: finished.total.counts.finished() as f64 / measured.as_secs_f64(),
            p50_ns: response.quantile(0.5),
            p99_ns: response.quantile(0.99),
            fault,
            stall: own.stall_max(),
            limit: fault.map_or("target", Disturbance::limit),
            ..TrialOutcome::default()
        }
    }

    /// Stalls a host for this long in each second of a span.
    fn stall(&self, host: Host, began: Nanos, (span, stalled): (Duration, Duration)) {
        for second in 0..=span.as_secs() {
            let from = began + Nanos::from_millis(1_000 * second + 250);
            self.network.freeze(host, from, from + Nanos::from(stalled));
        }
    }

    /// Waits as long as the longest request may wait, plus all that is in flight.
    fn rest(&mut self, limit: Duration) -> Nanos {
        let began = self.network.now();
        let until = began + Nanos::from(limit) + Nanos::from_millis(2_000);
        while self.network.now() < until {
            match self.network.next() {
                Some(host) if host == self.server_host => self.server.step().expect("a simulated driver works"),
                Some(host) => self.network.park(host),
                None => break,
            }
        }
        self.network.now().since(began)
    }
}
