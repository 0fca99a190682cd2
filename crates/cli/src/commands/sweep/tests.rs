use std::sync::Arc;

use driver::sim::Faults;
use figures::RunInput;
use plan::Flags;
use selftest::{Happens, SimulatedWorld};

use super::*;
use crate::session::machine;

/// A run of some users in a simulated network, where two requests are served at a time, 10 ms each: 200 a second.
fn pool(connections: u64) -> SweptRun {
    let text = |text: &str| Some(text.to_owned());
    let url = Some(format!("http://{}/queue/2/10/even", SimulatedWorld::address()));
    let connections = Some(connections.to_string());
    let flags = Flags { url, connections, duration: text("2s"), ..Flags::default() };
    let plan = flags.plan().expect("a good plan");
    let mut world = SimulatedWorld::new(1, Faults::none());
    let result = world.run(&plan, 1, &Happens::default(), |_| ()).expect("a world that works");
    let (lookup, host, address) = (None, machine::host_facts(), SimulatedWorld::address());
    let (thresholds, notes, changes) = (&[][..], Vec::new(), Vec::new());
    let plan = Arc::new(plan);
    let run = Run::new(RunInput { plan, address, lookup, result, thresholds, notes, changes, host });
    swept_run(&run, &Cell { place: 0, values: Vec::new(), round: 1 }, None)
}

/// Requests waiting at the end complete after it, and are in no rate: a pool has the same rate for any number of users.
#[test]
fn a_pool_gives_the_same_rate_to_all() {
    for connections in [4, 16, 100, 400] {
        let run = pool(connections);
        assert!((195.0..=200.5).contains(&run.rate), "{connections}: {run:?}");
        assert_eq!(run.is_affected, [false; 2]);
    }
}
