use cluster::broker::Broker;
use cluster::bus::{BusCommand, BusEvent, LEADER, STATE};
use cluster::encoding::{end_of_bytes, snapshots_of_bytes};
use cluster::protocol::{Batch, Hello, State, read, written};
use cluster::{Leader, LeaderSettings, OnLoss, Worker};
use pacing::Nanos;

/// Any bytes as messages between leader, workers and a bus: the state machines accept any input, and go on.
pub fn words(input: &[u8]) {
    let _ = (read::<Batch>(input), end_of_bytes(input), snapshots_of_bytes(&[input.to_vec()], 1));
    if let Some(state) = State::read(input) {
        let owners = state.owners(state.slot_grants.len());
        assert_eq!(owners.len(), 4_096);
        // The state as a member receives it is valid too.
        for number in [None, Some(0), Some(1)] {
            let seen = written(&state.seen_by(number));
            assert!(State::read(&seen).is_some());
        }
    }
    if let Some(verb) = read::<BusCommand>(input) {
        let mut broker = Broker::default();
        broker.join(1, []);
        broker.ask(1, verb);
        while broker.next_received().is_some() {}
    }
    cluster::journal::read_any(input);
    let (mut leader, mut worker) = (leader(), worker());
    for (number, key) in [LEADER, STATE].into_iter().enumerate() {
        let received = || BusEvent::Changed { key: key.to_owned(), revision: 1, value: input.into() };
        let now = Nanos::from_millis(1_000 * (number as u64 + 1));
        leader.handle(received(), now);
        worker.handle(received(), now);
    }
    let ask = BusEvent::Message { subject: String::new(), payload: input.into(), response_to: Some("1/1".to_owned()) };
    leader.handle(ask, Nanos::from_millis(3_000));
    worker.handle(BusEvent::Answered { token: 1, response: Ok(input.into()) }, Nanos::from_millis(3_000));
    leader.handle(BusEvent::Entry { place: 1, payload: input.into() }, Nanos::from_millis(3_000));
    if let Some(received) = read::<BusEvent>(input) {
        leader.handle(received.clone(), Nanos::from_millis(4_000));
        worker.handle(received, Nanos::from_millis(4_000));
    }
    leader.tick(Nanos::from_millis(9_000));
    worker.tick(Nanos::from_millis(9_000));
    while worker.next_act().is_some() {}
}

fn leader() -> Leader {
    let setting = LeaderSettings {
        who: 1,
        version: "1".to_owned(),
        workers: 1,
        patience: Nanos::from_millis(1_000),
        min_workers: 1,
        on_loss: OnLoss::Rebalance,
        ttl: Nanos::from_millis(3_000),
        lease: Nanos::from_millis(5_000),
        late_news: Nanos::from_millis(60_000),
        closed_is_gone: false,
        start_lead: Nanos::ZERO,
        is_alone: false,
        is_standby: false,
    };
    Leader::new(setting, Nanos::ZERO)
}

fn worker() -> Worker {
    let hello = Hello::new(1, String::new(), "1".to_owned(), 1);
    Worker::new(hello, false, Nanos::ZERO)
}
