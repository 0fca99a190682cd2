//! Comparisons of equal and of different runs: real loads in a simulated world, whose reports are compared like any
//! others.

use std::net::SocketAddr;
use std::ops::ControlFlow;

use ::history::Comparison;
use driver::sim::{Faults, Host, Network, SimDriver};
use engine::{SteppedRun, StopHandle};
use serde_json::Value;
use target::SteppedServer;

use super::*;

/// The number of pairs of equal loads; the world of the others has fewer.
const EQUAL_PAIRS: usize = 40;
const SLOWER_PAIRS: usize = 20;
/// The most pairs of equal loads with a clear difference.
const EQUAL_CLEAR_MAX: usize = 2;
const SLOWER_CLEAR_MIN: usize = 19;
/// The length of a run, in virtual time.
const SECONDS: &str = "20s";
const RATE: &str = "100";

/// A target in a simulated network that continues from one run to the next: no two runs have the same delays.
struct World {
    network: Network,
    server: SteppedServer<SimDriver>,
    host: Host,
    at: SocketAddr,
}

impl World {
    fn new(seed: u64) -> Self {
        let network = Network::new(seed, Faults::none());
        let driver = network.add_host();
        let (host, at) = (driver.host(), "10.0.0.1:80".parse().expect("an address"));
        let server = SteppedServer::start(driver, at).expect("a free address");
        Self { network, server, host, at }
    }

    /// The JSON report of a load at this path.
    fn report(&mut self, path: &str) -> Value {
        let flags = Flags {
            url: Some(format!("http://{}{path}", self.at)),
            rate: Some(RATE.to_owned()),
            duration: Some(SECONDS.to_owned()),
            ..Flags::default()
        };
        let plan = flags.plan().expect("a good plan");
        let (mut json, mut hosts) = (Json::default(), Vec::new());
        let mut run = SteppedRun::start(&plan, self.at, 1, &StopHandle::default(), || {
            let driver = self.network.add_host();
            hosts.push(driver.host());
            driver
        });
        while run.is_waiting() {
            let host = self.network.next().expect("something will happen");
            if host == self.host {
                self.server.step().expect("a driver that works");
                continue;
            }
            let shard = hosts.iter().position(|of| *of == host);
            let is_on = shard.is_some_and(|shard| {
                let observed = |reported: &engine::Interval<'_>| {
                    json.interval(&Interval::new(reported, &plan));
                    ControlFlow::Continue(())
                };
                run.step(shard, observed).expect("a driver that works")
            });
            if !is_on {
                self.network.park(host);
            }
        }
        let observed = |reported: &engine::Interval<'_>| {
            json.interval(&Interval::new(reported, &plan));
            ControlFlow::Continue(())
        };
        let finished = run.finish(observed).expect("a driver that works");
        let result = RunResult {
            wall: finished.wall,
            started_for: finished.stopped_at,
            requested_per_s: RATE.parse().ok(),
            ..result(finished.total)
        };
        json.value(&super::run(&plan, result))
    }

    fn pair(&mut self, one: &str, other: &str) -> Comparison {
        let (one, other) = (self.report(one), self.report(other));
        let comparison = ::history::compare(&[&one], &[&other]);
        assert!(comparison.intervals.iter().all(|count| *count >= 18), "{:?}", comparison.intervals);
        comparison
    }
}

fn is_clear(comparison: &Comparison) -> bool {
    comparison.differences.iter().any(|one| one.is_clear)
}

/// The target's times vary between requests by half of themselves: one run cannot determine their mean more closely.
#[test]
fn equal_loads_are_equal_and_a_tenth_slower_is_clear() {
    let mut world = World::new(7);
    let usual = "/delay/lognormal/20,0.5";
    let equal = (0..EQUAL_PAIRS).filter(|_| is_clear(&world.pair(usual, usual))).count();
    let slower = (0..SLOWER_PAIRS).filter(|_| {
        let comparison = world.pair(usual, "/delay/lognormal/22,0.5");
        let clear = comparison.differences.iter().filter(|one| one.is_clear);
        clear.clone().all(|one| one.change.is_some_and(|change| change > 0.0)) && clear.count() > 0
    });
    let slower = slower.count();
    assert!(equal <= EQUAL_CLEAR_MAX && slower >= SLOWER_CLEAR_MIN, "{equal} of equal ones, {slower} of slower ones");
}
