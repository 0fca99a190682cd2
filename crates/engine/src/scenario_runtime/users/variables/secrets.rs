//! Secrets of users: they are removed from exchanges that are shown.

use metrics::Sample;
use plan::{SecretValues, Value};

use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::users::variables::States;

impl States {
    /// The current secrets of a user, as they appear in a text.
    #[cold]
    fn secrets_of(&mut self, user: u32) -> Vec<String> {
        let memory = self.memory.clone();
        if !memory.has_secrets() {
            return Vec::new();
        }
        let places: Vec<(u16, u32)> = memory
            .secret_columns
            .iter()
            .filter_map(|number| self.rows.columns().get(*number as usize).copied())
            .collect();
        let state = self.state(user);
        let variables = memory.secret_variables.iter().filter_map(|number| state.variables.get(*number as usize));
        let cells = places.iter().filter_map(|(feed, column)| {
            state.rows.get(usize::from(*feed))?.as_ref()?.row.values().get(*column as usize)
        });
        variables.chain(cells).map(Value::to_string).collect()
    }
}

impl ScenarioRuntime {
    /// The secrets of a user, unless they are to be shown.
    #[cold]
    pub(in crate::scenario_runtime) fn secrets_of(&mut self, user: u32) -> Vec<String> {
        if self.work.capture_options.secrets {
            return Vec::new();
        }
        let mut secrets = self.users.states.secrets_of(user);
        if let Some(fork) = self.users.programs.fork(user) {
            let is_secret = |variable: &u32| self.users.states.memory.secret_variables.contains(variable);
            let taken = fork.taken.iter().filter(|(_, variable, _)| is_secret(variable));
            secrets.extend(taken.map(|(_, _, value)| value.to_string()));
        }
        secrets
    }
}

/// Removes secrets from a sample of an exchange.
pub(in crate::scenario_runtime) fn hide(secrets: &[String], sample: &mut Sample) {
    if secrets.is_empty() {
        return;
    }
    let known = SecretValues::from_values(secrets.iter().map(String::as_str));
    for part in &mut sample.parts {
        if let Some(hidden) = known.hide_in(&part.bytes) {
            part.bytes = hidden;
        }
    }
    sample.reason = known.hide(&sample.reason);
    sample.way.iter_mut().for_each(|line| *line = known.hide(line));
}
