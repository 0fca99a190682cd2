//! The first exchange of each user, apart from later ones: where all users begin at once, these show whether a queue
//! filled up.

use metrics::Distribution;
use pacing::Nanos;

use crate::scenario_runtime::ScenarioRuntime;

/// The users that have had their first exchange, until all have.
pub(in crate::scenario_runtime) struct FirstRound {
    /// One bit for each user.
    had: Vec<u64>,
    left: u64,
}

impl FirstRound {
    /// A first round for this number of users.
    pub(in crate::scenario_runtime) fn new(users: u64) -> Self {
        Self { had: vec![0; users.div_ceil(64) as usize], left: users }
    }

    /// Whether it is the first exchange of a user.
    fn is_first(&mut self, user: u32) -> bool {
        let (word, bit) = (user as usize / 64, 1 << (user % 64));
        let Some(had) = self.had.get_mut(word).filter(|had| **had & bit == 0) else { return false };
        *had |= bit;
        self.left = self.left.saturating_sub(1);
        true
    }
}

impl ScenarioRuntime {
    /// An exchange of a user has ended; `service`: its service time, when it succeeded.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn note_first(&mut self, user: u32, service: Option<Nanos>) {
        let Some(round) = &mut self.in_flight.first_round else { return };
        if round.is_first(user)
            && let Some(service) = service
        {
            self.in_flight.first_times.record(service.0);
        }
        if round.left == 0 {
            self.in_flight.first_round = None;
        }
    }

    /// Service times of the first exchange of each user; empty where they did not begin together.
    pub(crate) fn take_first_times(&mut self) -> Distribution {
        std::mem::take(&mut self.in_flight.first_times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_user_has_one_first_exchange() {
        let mut round = FirstRound::new(130);
        let first: Vec<u32> = (0..130).chain(0..130).filter(|user| round.is_first(*user)).collect();
        assert_eq!((first, round.left), ((0..130).collect(), 0));
        assert!(!round.is_first(5_000), "one that is not among them has none");
    }
}
