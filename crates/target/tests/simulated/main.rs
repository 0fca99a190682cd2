//! The target alone, and with the engine, in a simulated network. Its time is exact but for what simulated programs
//! compute, up to two microseconds for each event: so times are judged by arithmetic and a number of events.

#[macro_use]
extern crate claims;

mod delays;
mod ended;
mod expecting;
mod gates;
mod serving;
mod talks;
mod timeouts;
mod world;
