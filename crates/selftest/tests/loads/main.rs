//! Whole loads in a simulated network, and all that is said of them: who was the limit, and what a freeze does to the figures. Time is
//! virtual there, so each figure follows from the plan.

#[macro_use]
extern crate claims;

mod course;
mod ends;
mod limits;
mod shown;
mod stalls;
mod users;
