//! Variables that are drawn once for each user, before it does anything.

use pacing::{Nanos, Random};
use plan::{Memory, Value};

use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::users::variables::{State, States};

/// The random stream of these draws, apart from those of steps.
const STREAM: u64 = 0x6f77_6e5f_7661_7273;

/// Between these draws of who had a place first, and of those who came after it.
const LIVES: u64 = 0x6c69_7665_735f_6f66;

/// What a user has drawn for itself.
#[derive(Debug, Default)]
pub(super) struct OwnDraws {
    values: Box<[Value]>,
    /// Why one of them could not be drawn.
    why: Option<String>,
}

impl State {
    /// Resets variables to those of a user that begins.
    pub(super) fn reset(&mut self, memory: &Memory) {
        self.variables.clone_from_slice(&memory.variables);
        let own = self.own.iter().flat_map(|own| &own.values);
        for ((number, _), value) in memory.of_user.iter().zip(own) {
            self.variables[*number as usize].clone_from(value);
        }
    }
}

impl States {
    /// Why a user lacks some of its own variables.
    pub(super) fn lacks_own(&mut self, user: u32) -> Option<String> {
        if self.memory.of_user.is_empty() {
            return None;
        }
        self.state(user).own.as_ref()?.why.clone()
    }
}

impl ScenarioRuntime {
    /// Draws the own variables of a user, once.
    #[inline]
    pub(in crate::scenario_runtime) fn draw_own(&mut self, user: u32, now: Nanos) {
        if !self.users.states.memory.of_user.is_empty() {
            self.draw_all_own(user, now);
        }
    }

    #[cold]
    fn draw_all_own(&mut self, user: u32, now: Nanos) {
        if self.users.states.state(user).own.is_some() {
            return;
        }
        let number = self.user_number(user);
        let of_scenario = Random::for_stream(self.work.program.seed ^ STREAM, self.work.scenario as u64).next_u64();
        let of_first = Random::for_stream(of_scenario, number).next_u64();
        let known = self.known(user);
        let states = &mut self.users.states;
        // Who comes back under a rate is another user, and has draws of its own.
        let of_user = match states.state(user).lives {
            0 => of_first,
            lives => Random::for_stream(of_first ^ LIVES, lives.into()).next_u64(),
        };
        let (memory, mut own) = (states.memory.clone(), OwnDraws::default());
        let mut values = Vec::with_capacity(memory.of_user.len());
        for (place, (variable, pattern)) in memory.of_user.iter().enumerate() {
            let random = Random::for_stream(of_user, place as u64);
            let value = pattern.value(&mut states.values(user, random, now, known)).unwrap_or_else(|error| {
                own.why.get_or_insert_with(|| format!("per_user: {error}"));
                Value::Null
            });
            // Later ones may be made from it.
            states.state(user).variables[*variable as usize].clone_from(&value);
            values.push(value);
        }
        own.values = values.into();
        states.state(user).own = Some(Box::new(own));
    }
}
