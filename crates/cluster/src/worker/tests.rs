use super::*;
use crate::protocol::{Member, Phase, SlotGrant, written};

const ID: u64 = 7;

/// A worker that gets ready for a run, or has a part of it, and receives nothing after its first second.
fn alone(phase: Phase, goes_with_leader: bool) -> Worker {
    let hello = Hello::new(ID, "one".to_owned(), "1".to_owned(), 1);
    let mut worker = Worker::new(hello, goes_with_leader, Nanos::ZERO);
    let lease = Lease { epoch: 1, who: 9, beat: 1, written: 0 };
    worker.handle(BusEvent::Changed { key: LEADER.to_owned(), revision: 1, value: written(&lease) }, Nanos(1));
    let state = State {
        epoch: 1,
        revision: 1,
        run: 1,
        phase,
        lease: Nanos::from_millis(5_000),
        members: vec![Member { id: ID, incarnation: 0 }],
        slot_grants: vec![SlotGrant { from: None, moves: vec![(0, 0)], is_granted: true }],
        ..State::nothing()
    };
    worker.handle(BusEvent::Changed { key: STATE.to_owned(), revision: 2, value: written(&state) }, Nanos(2));
    worker
}

/// Whether it ends, and has nothing more to report, within this time.
fn goes_within(worker: &mut Worker, seconds: u64) -> bool {
    for tenth in 1..=seconds * 10 {
        worker.tick(Nanos::from_millis(tenth * 100));
        while worker.next_verb().is_some() {}
    }
    let mut acts = std::iter::from_fn(|| worker.next_act());
    acts.any(|act| act == Act::Close) && worker.has_reported_all()
}

#[test]
fn a_worker_of_a_leader_that_is_gone_for_good_goes() {
    for phase in [Phase::Preparing, Phase::Running] {
        assert!(!goes_within(&mut alone(phase, true), 59), "{phase:?}: it may still come");
        assert!(goes_within(&mut alone(phase, true), 61), "{phase:?}");
        assert!(!goes_within(&mut alone(phase, false), 600), "{phase:?}: it waits for the next");
    }
}

#[test]
fn a_leader_of_another_version_is_named_once() {
    let mut worker = alone(Phase::Preparing, false);
    let response = crate::protocol::Reply {
        epoch: 1,
        now: Nanos::ZERO,
        revision: 1,
        goes_on: Some(true),
        workers: 1,
        state: None,
    };
    for token in 1..9 {
        let response = Ok(response.written(9, "2"));
        worker.handle(BusEvent::Answered { token, response }, Nanos::from_millis(10));
    }
    let acts: Vec<Act> = std::iter::from_fn(|| worker.next_act()).collect();
    let refusal = Refusal::Version { worker: "1".to_owned(), leader: "2".to_owned() };
    assert_eq!(acts, [Act::Refuse(refusal)]);
}
