//! Awaited messages.

use metrics::{Class, Failure, Measure, SeriesId};
use plan::{Flags, Node, OnFailure, Program};

use crate::world::{World, flags, is_by_arithmetic};

/// The target echoes a message that is not the awaited one: it is counted, and the timeout of the exchange ends the
/// waiting.
#[test]
fn what_never_comes_is_a_timeout() {
    const TIMEOUT: u64 = 200_000_000;
    let load = Flags {
        data: Some("ask".to_owned()),
        expect_body: vec!["answer".to_owned()],
        timeout: Some("200ms".to_owned()),
        connections: Some("2".to_owned()),
        requests: Some("6".to_owned()),
        ..flags("/")
    };
    let url = load.url.as_ref().map(|url| url.replace("http:", "ws:"));
    let mut plan = Flags { url, ..load }.plan().expect("a good plan");
    let nodes = vec![Node::Ask { step: 0, on_failure: OnFailure::GoOn }];
    plan.scenarios[0].program = Program { seed: 3, nodes, ..Program::default() };
    plan.scenarios[0].steps[0].messaging.as_mut().expect("messaging").awaits = true;
    let finished = World::default().play(Vec::new(), Some((&plan, 2))).finished.expect("a load");
    let failures: Vec<_> = finished.total.failures_of(SeriesId::step(0)).collect();
    assert_eq!(failures, [(Failure::Timeout, 6)]);
    assert_eq!(finished.total.counts.messages_received(), 6);
    let class = finished.total.class(Class::TimedOut);
    let times = class.by_measure(Measure::Service);
    assert_eq!(times.count(), 6);
    for time in [times.min(), times.max()] {
        is_by_arithmetic(time.expect("some"), TIMEOUT, 20);
    }
}
