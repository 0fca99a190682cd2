//! Whole loads in a simulated network, and everything that is reported of them: the bottleneck, and the effect of a
//! freeze on the figures. Time is virtual there, so each figure follows from the plan.

#[macro_use]
extern crate claims;

mod course;
mod ends;
mod frozen;
mod limits;
mod shown;
mod stalls;
mod users;
