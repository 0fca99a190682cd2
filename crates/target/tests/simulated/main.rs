//! The target alone, and with the engine, in a simulated network. Its time is exact except for the CPU time of
//! simulated programs, up to two microseconds for each event: so times are checked against computed ones plus a number
//! of events.

#[macro_use]
extern crate claims;

mod custom;
mod delays;
mod ended;
mod expecting;
mod flows;
mod gates;
#[path = "../lines/mod.rs"]
mod lines;
mod messaging;
mod serving;
mod timeouts;
mod world;
