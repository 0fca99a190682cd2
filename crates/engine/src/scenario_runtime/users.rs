//! The users of a scenario: who starts when, what each does next, and the state that is its own.

pub(super) mod barriers;
pub(super) mod budget;
pub(super) mod closed;
pub(super) mod ends;
pub(super) mod first;
pub(super) mod open;
pub(super) mod open_users;
pub(super) mod pause;
pub(super) mod programs;
pub(super) mod teardown;
pub(super) mod user_setup;
pub(super) mod variables;
