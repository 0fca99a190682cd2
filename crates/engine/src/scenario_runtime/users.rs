//! The users of a scenario: who starts when, what each does next, and the state that is its own.

pub(super) mod barriers;
pub(super) mod budget;
pub(super) mod closed;
pub(super) mod first_round;
pub(super) mod freed;
pub(super) mod load_changes;
pub(super) mod open;
pub(super) mod open_users;
pub(super) mod programs;
pub(super) mod teardown;
pub(super) mod user_lifecycle;
pub(super) mod variables;
pub(super) mod warm_up_and_end;
