//! Consistency checks of a shard. For tests, between two turns.

use std::collections::HashSet;

use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::connections::phase::Phase;

impl ScenarioRuntime {
    /// Number of connections that the shard knows.
    pub(crate) fn known_connections(&self) -> usize {
        self.pool.connections.iter().count()
    }

    /// The first contradiction between the slabs.
    pub(crate) fn audit(&mut self) -> Result<(), String> {
        let exchanges = self.in_flight.exchanges.len();
        if exchanges as u64 > self.users_at_work() * self.users.programs.most() {
            return Err(format!("{exchanges} exchanges of {} users", self.users_at_work()));
        }
        if !self.users.freed.is_empty() {
            return Err(format!("{} users are free and have not advanced", self.users.freed.len()));
        }
        let attempts: Vec<_> = self.in_flight.attempts.keys().collect();
        if let Some(count) = self.too_many_shared() {
            return Err(format!("{count} connections are more than may be shared"));
        }
        if attempts.len() + self.awaiting_connections() + self.read_waiters() != exchanges {
            return Err(format!("{} attempts for {exchanges} exchanges", attempts.len()));
        }
        let mut tried = HashSet::new();
        for key in attempts {
            let Some(attempt) = self.in_flight.attempts.find(key) else { continue };
            let (exchange, socket) = (attempt.exchange, attempt.socket);
            if self.in_flight.exchanges.find(exchange).is_none() {
                return Err(format!("attempt {key:?} belongs to no exchange"));
            }
            if !tried.insert(exchange) {
                return Err(format!("two attempts for {exchange:?}"));
            }
            match self.pool.connections.find(socket).map(|connection| connection.phase) {
                Some(Phase::Response { attempt } | Phase::Connect { attempt, .. }) if attempt == key => {}
                // It has a stream, or waits for one.
                Some(Phase::Shared) => {}
                Some(Phase::Connect { .. } | Phase::Prepare { .. }) if self.shares_connections() => {}
                phase => return Err(format!("attempt {key:?} runs on a connection that is {phase:?}")),
            }
        }
        let connections: Vec<_> = self.pool.connections.iter().collect();
        for (socket, phase, origin) in connections {
            let is_right = match phase {
                Phase::Response { attempt } | Phase::Connect { attempt, .. } => {
                    self.in_flight.attempts.find(attempt).is_some_and(|attempt| attempt.socket == socket)
                }
                Phase::Idle { user } => self.owns(user, origin, socket),
                Phase::Prepare { user, .. } => !self.owns(user, origin, socket),
                Phase::Shared | Phase::Close => true,
            };
            if !is_right {
                return Err(format!("{socket:?} is {phase:?}, and the other side does not know"));
            }
        }
        let hops = self.in_flight.steps.hops();
        if hops > exchanges + self.pool.lookups.len() {
            return Err(format!("{hops} steps that were made for {exchanges} exchanges"));
        }
        let proven = self.pool.connections.proven_now();
        if proven != self.connections_open() {
            return Err(format!(
                "{proven} connections have carried an answer, {} are counted",
                self.connections_open()
            ));
        }
        let in_seen = &self.unreported.counts;
        let of_users = self.users.ended + (exchanges as u64).div_ceil(self.users.programs.most());
        if of_users > self.users.started {
            return Err(format!(
                "{of_users} users end or work, of {}; started {}",
                self.users.started,
                in_seen.started()
            ));
        }
        Ok(())
    }
}
