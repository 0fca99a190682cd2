//! Replay of a finished run: reported as the leader would have reported it, had it received all that its journals have.

use std::sync::Mutex;
use std::time::Duration;

use driver::Clock;
use engine::{BackendFault, Intent, RemoteBackend, RemoteRun, RunError};
use pacing::Nanos;

use super::account::Account;
use super::results::Introduction;
use crate::journal::Recovery;
use crate::protocol::RunIntent;

/// The most updates that are sent ahead of the reader.
const UNACKNOWLEDGED_MAX: usize = 256;
/// The collective name of members of which there is no record.
const NOBODY_KNOWS: &str = "?";
/// The interval at which the backlog of the reader is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Replays a recovered run.
#[derive(Debug)]
pub struct RunReporter {
    recovery: Mutex<Option<Recovery>>,
    /// How long ago the run started.
    ago: Nanos,
}

impl RunReporter {
    /// Of a run that started `ago`.
    pub fn new(recovery: Recovery, ago: Nanos) -> Self {
        Self { recovery: Mutex::new(Some(recovery)), ago }
    }
}

impl RemoteBackend for RunReporter {
    fn begin(&self, order: RemoteRun) -> Result<Nanos, RunError> {
        let recovery = self.recovery.lock().expect("no holder of the lock panics").take();
        let Some(recovery) = recovery else { return Err(BackendFault::Stopped.into()) };
        let started = started(order.clock, self.ago);
        std::thread::Builder::new().name("past".to_owned()).spawn(move || report(recovery, order))?;
        Ok(started)
    }

    fn received_within(&self) -> Nanos {
        Nanos::ZERO
    }
}

fn started(clock: Clock, ago: Nanos) -> Nanos {
    clock.now().since(ago)
}

fn report(recovery: Recovery, order: RemoteRun) {
    let Recovery { state, names, news, losses, .. } = recovery;
    let RemoteRun { plan, reporter, stop, .. } = order;
    for change in &state.changes {
        reporter.learn(change.clone());
    }
    let mut account = Account::new(plan, reporter);
    account.expect(&state);
    let who = |member: u16| {
        let (name, round_trip) = &names[usize::from(member)];
        let clock_error = round_trip.map(|trip| Nanos(trip.0 / 2).as_duration());
        let name = if name.is_empty() { NOBODY_KNOWS } else { name.as_str() };
        Introduction { name: name.to_owned(), clock_error }
    };
    for (_, member, one) in news {
        // The reader may be slower than the replay, and the backlog is in memory.
        while account.reporter.unacknowledged() > UNACKNOWLEDGED_MAX && account.reporter.wanted() == Intent::Run {
            std::thread::sleep(POLL_INTERVAL);
        }
        account.news(&state, member, Some(who(member)), one);
    }
    for (member, until) in losses {
        account.lost(&state, member, who(member).name, until);
    }
    let is_stopped = state.intent > RunIntent::Run;
    if is_stopped {
        stop.stop();
    }
    account.over(&state, is_stopped);
}
