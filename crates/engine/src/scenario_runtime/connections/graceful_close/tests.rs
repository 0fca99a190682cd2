//! How long peers that do not agree to a close are waited for, in a simulated network, to the nanosecond.

use std::net::SocketAddr;
use std::ops::ControlFlow;

use driver::sim::{Faults, Network};
use plan::Flags;
use target::SteppedServer;

use crate::scenario_runtime::connections::graceful_close::*;
use crate::{SteppedRun, StopHandle};

/// More turns of a server than a conversation of one message needs.
const TURNS_MAX: usize = 40;

/// A conversation of one message with a server that is frozen after `turns` turns: how long the run went on when all
/// was over, if the message had its response.
fn went_on_for(turns: usize) -> Option<Nanos> {
    let network = Network::new(1, Faults::none());
    let server_driver = network.add_host();
    let (server_host, at): (_, SocketAddr) = (server_driver.host(), "10.0.0.1:80".parse().expect("an address"));
    let mut server = SteppedServer::start(server_driver, at).expect("a free address");
    let text = |text: &str| Some(text.to_owned());
    let flags = Flags {
        url: Some(format!("ws://{at}/")),
        data: text("x"),
        connections: text("1"),
        requests: text("1"),
        timeout: text("1s"),
        connect_timeout: text("1s"),
        ..Flags::default()
    };
    let plan = flags.plan().expect("a good plan");
    let started = network.now();
    let mut run = SteppedRun::start(&plan, at, 1, &StopHandle::default(), || network.add_host());
    let (mut turns_left, mut is_on) = (turns, true);
    while is_on {
        let host = network.next().expect("something will happen");
        if host != server_host {
            is_on = run.step(0, |_| ControlFlow::Continue(())).expect("a driver that works");
        } else if turns_left > 0 {
            turns_left -= 1;
            server.step().expect("a driver that works");
        } else {
            network.park(host);
        }
    }
    let all = network.now() - started;
    let finished = run.finish(|_| ControlFlow::Continue(())).expect("a driver that works");
    (finished.total.counts.succeeded() == 1).then(|| all - finished.wall)
}

/// A peer that does not agree to a close is waited for, and then dropped; one that agrees is not.
#[test]
fn who_does_not_agree_is_left_in_time() {
    let spans: Vec<Nanos> = (0..TURNS_MAX).filter_map(went_on_for).collect();
    assert_eq!(spans.first(), Some(&GRACEFUL_CLOSE_WAIT), "it stands still when it has answered: {spans:?}");
    assert!(spans.last().is_some_and(|span| *span < GRACEFUL_CLOSE_WAIT), "it agrees: {spans:?}");
    assert!(spans.iter().all(|span| *span <= GRACEFUL_CLOSE_WAIT), "{spans:?}");
}
