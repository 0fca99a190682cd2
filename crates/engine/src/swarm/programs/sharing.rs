//! Users of a closed load that share connections.

use std::time::Duration;

use metrics::{Class, Measure};
use pacing::Nanos;
use plan::{Flags, Load, Node, OnFailure, UserShape, UserStage};

use super::{answered, ask, fixed, plan, played, users};
use crate::swarm::history::{History, Setup};

const SECOND: u64 = 1_000_000_000;

fn run(paths: &[&str], nodes: Vec<Node>, flags: Flags, connections: u64, threads: usize) -> History {
    let mut plan = plan(&[(paths, nodes)], flags);
    plan.scenarios[0].shared_connections = Some(connections);
    played(Setup { plan, threads, ..Setup::calm(11) })
}

fn mean_ms(history: &History, measure: Measure) -> f64 {
    history.total.class(Class::Succeeded).by_measure(measure).mean().expect("some") / 1e6
}

/// Twenty users, and four connections that carry one exchange of 10 ms at a time: each waits for four others.
#[test]
fn requests_wait_for_a_connection_and_that_is_in_their_time() {
    for threads in [1, 2, 7] {
        let history = run(&["/delay/10"], vec![ask(0)], users(20, 400), 4, threads);
        assert_eq!((answered(&history, 0), history.total.counts.connections_established()), (400, 4), "{threads}");
        assert_eq!(history.most_sockets, 4, "{threads}");
        let (response, service) = (mean_ms(&history, Measure::Response), mean_ms(&history, Measure::Service));
        assert!((47.0..53.0).contains(&response), "{threads}: {response} ms");
        assert!((10.0..11.0).contains(&service), "{threads}: {service} ms");
        assert!((37.0..43.0).contains(&mean_ms(&history, Measure::Wait)), "{threads}");
        assert!((1.0..1.1).contains(&(history.wall.0 as f64 / 1e9)), "{threads}: {:?}", history.wall);
        // First come, first served: no user waits for more than all the others.
        let slowest = history.total.class(Class::Succeeded).by_measure(Measure::Response).max();
        assert!(slowest < Some(62_000_000), "{threads}: {slowest:?}");
    }
}

/// On streams all of them go on at a time, over as many connections as were requested.
#[test]
fn streams_of_shared_connections_carry_all() {
    for threads in [1, 2, 3] {
        let flags = Flags { http2: true, ..users(30, 600) };
        let history = run(&["/delay/10"], vec![ask(0)], flags, 6, threads);
        assert_eq!((answered(&history, 0), history.total.counts.connections_established()), (600, 6), "{threads}");
        let response = mean_ms(&history, Measure::Response);
        assert!((10.0..12.0).contains(&response), "{threads}: {response} ms");
    }
}

/// A server that ends each connection: there are never more of them than allowed, and each is opened anew.
#[test]
fn connections_that_end_are_opened_anew() {
    for threads in [1, 2] {
        let flags = Flags { no_keepalive: true, ..users(12, 120) };
        let history = run(&["/delay/5"], vec![ask(0)], flags, 2, threads);
        let counts = &history.total.counts;
        assert_eq!((counts.succeeded(), counts.connections_established()), (120, 120), "{threads}");
        let history = run(&["/close", "/"], vec![ask(0), ask(1)], users(6, 60), 3, threads);
        let counts = &history.total.counts;
        assert_eq!(counts.started(), 120, "{threads}");
        assert_eq!(counts.succeeded() + counts.failed(), 120, "{threads}");
    }
}

/// No more connections are opened than users need, and one user after the other takes those that are there.
#[test]
fn connections_are_opened_as_they_are_needed() {
    for threads in [1, 2] {
        let history = run(&["/delay/10"], vec![ask(0)], users(4, 40), 16, threads);
        assert_eq!(history.total.counts.connections_established(), 4, "{threads}");
        // A user in a pause holds no connection: ten users are served by two.
        let history = run(&["/delay/1"], vec![ask(0), fixed(100)], users(10, 200), 2, threads);
        assert_eq!((answered(&history, 0), history.total.counts.connections_established()), (200, 2), "{threads}");
        assert!(mean_ms(&history, Measure::Response) < 8.0, "{threads}");
        assert!(history.wall < Nanos(2 * SECOND + SECOND / 4), "{threads}: {:?}", history.wall);
        let fork = Node::Parallel { most: 6, steps: vec![0; 6], optional: Vec::new(), on_failure: OnFailure::Next };
        let history = run(&["/delay/100"], vec![fork], users(2, 10), 4, threads);
        assert_eq!((answered(&history, 0), history.total.counts.connections_established()), (60, 4), "{threads}");
    }
}

/// Users that leave return their connections to the others.
#[test]
fn connections_stay_when_users_go() {
    for threads in [1, 2] {
        let mut plan = plan(&[(&["/delay/10"], vec![ask(0)])], users(8, 8));
        plan.scenarios[0].shared_connections = Some(4);
        let stage = |users, millis| UserStage { from: users, to: users, span: Duration::from_millis(millis) };
        let shape = UserShape::Stages(vec![stage(8, 1_000), stage(2, 1_000), stage(8, 1_000)]);
        plan.scenarios[0].load =
            Load::Closed { users: 8, shape, requests: None, duration: Some(Duration::from_secs(3)) };
        let history = played(Setup { plan, threads, ..Setup::calm(11) });
        let counts = &history.total.counts;
        assert_eq!((counts.connections_established(), counts.failed()), (4, 0), "{threads}");
        // 4 at a time, then 2, then 4.
        assert!((950..=1_010).contains(&counts.succeeded()), "{threads}: {}", counts.succeeded());
    }
}
