//! The seed of a run on a bus: a standby draws what that run draws, so that both have the same plan.

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use engine::BackendFault;
use plan::EncodedPlan;

use crate::bus::{Bus, BusCommand, BusEvent, STATE};
use crate::encoding::unpack_plan;
use crate::protocol::{Phase, State};

/// The interval at which the state of the bus is read until there is a run.
const READS_EVERY: Duration = Duration::from_millis(500);

/// Waits for a run on a bus, whose events come in `events`, and returns its seed: `None` if it has none.
///
/// # Errors
/// There is no run on it for as long as `patience`.
pub fn seed_of_run(
    bus: &mut dyn Bus,
    events: &Receiver<BusEvent>,
    patience: Duration,
) -> Result<Option<u64>, BackendFault> {
    let begun = Instant::now();
    for token in 0.. {
        bus.ask(BusCommand::Get { token, key: STATE.to_owned() });
        if let Some(plan) = plan_within(READS_EVERY, bus, events) {
            return Ok(if let EncodedPlan::Load(plan) = plan { plan.seed } else { None });
        }
        if begun.elapsed() >= patience {
            break;
        }
    }
    Err(BackendFault::NoRun { waited_s: patience.as_secs() })
}

/// The plan of the run that the bus tells of within some time.
fn plan_within(span: Duration, bus: &mut dyn Bus, events: &Receiver<BusEvent>) -> Option<EncodedPlan> {
    let (begun, mut name) = (Instant::now(), String::new());
    loop {
        match events.recv_timeout(span.saturating_sub(begun.elapsed())).ok()? {
            BusEvent::Got { key, value: Some((_, value)), token } if key == STATE => {
                let state = State::read(&value)?;
                if matches!(state.phase, Phase::Preparing | Phase::Running) {
                    name.clone_from(&state.plan);
                    bus.ask(BusCommand::Fetch { token, name: state.plan });
                }
            }
            BusEvent::Fetched { object: Some(bytes), .. } => return unpack_plan(&name, &bytes).ok(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::mpsc::{Sender, channel};

    use engine::DataSources;
    use plan::{Flags, Plan};

    use super::*;
    use crate::bus::Bytes;
    use crate::encoding::{name_of, pack};
    use crate::protocol::written;

    /// A bus that has one state for each read, and one object.
    struct Scripted {
        states: VecDeque<Option<Bytes>>,
        object: Option<Bytes>,
        inbox: Sender<BusEvent>,
    }

    impl Bus for Scripted {
        fn ask(&mut self, verb: BusCommand) {
            let event = match verb {
                BusCommand::Get { token, key } => {
                    let value = self.states.pop_front().flatten().map(|state| (1, state));
                    BusEvent::Got { token, key, value }
                }
                BusCommand::Fetch { token, .. } => BusEvent::Fetched { token, object: self.object.clone() },
                verb => panic!("{verb:?}"),
            };
            self.inbox.send(event).expect("it is read");
        }
    }

    fn packet(seed: Option<u64>) -> Bytes {
        let plan = Flags { url: Some("http://127.0.0.1:1/".to_owned()), ..Flags::default() }.plan().expect("valid");
        let plan = Plan { seed, ..plan };
        pack(&EncodedPlan::Load(plan.into()), &DataSources::default(), 0, &[]).expect("encodable")
    }

    fn state(phase: Phase, object: &Bytes) -> Option<Bytes> {
        Some(written(&State { phase, plan: name_of(object), ..State::nothing() }))
    }

    fn seed_of(
        patience: Duration,
        states: Vec<Option<Bytes>>,
        object: Option<Bytes>,
    ) -> Result<Option<u64>, BackendFault> {
        let (inbox, events) = channel();
        seed_of_run(&mut Scripted { states: states.into(), object, inbox }, &events, patience)
    }

    #[test]
    fn a_standby_waits_for_a_run_and_takes_its_seed() {
        for seed in [None, Some(7)] {
            let object = packet(seed);
            let states = vec![None, state(Phase::Done, &object), state(Phase::Running, &object)];
            let found = seed_of(Duration::from_secs(3_600), states, Some(object));
            assert_eq!(found.expect("there is a run"), seed);
        }
    }

    #[test]
    fn without_a_run_or_its_plan_patience_ends() {
        let object = packet(Some(7));
        let running = state(Phase::Running, &object);
        for (states, object) in [(vec![], None), (vec![running.clone()], None), (vec![running], Some(packet(Some(8))))]
        {
            assert!(matches!(seed_of(Duration::ZERO, states, object), Err(BackendFault::NoRun { waited_s: 0 })));
        }
    }
}
