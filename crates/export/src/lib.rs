//! Exports of figures to other programs, while a load runs and at its end.
//!
//! [`Export::parse`] parses the argument. [`Exports::begin`] opens files and addresses before the load,
//! [`Exports::interval`] exports each interval, [`Exports::finish`] delivers what is left and returns the delivery
//! results.
//!
//! Encoders are pure: totals and intervals in, bytes out. All that can block is on threads of its own, behind queues of
//! a bounded length ([`QUEUE_MAX`]): a slow or lost backend costs intervals, which are counted, and never time of the
//! run. Sums are made before the queues, so what is delivered is right whatever was left out.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod bounds;
mod csv;
mod deadline;
mod error;
mod exports;
mod families;
mod family;
mod file;
mod held;
mod histogram;
mod http;
mod influx;
mod junit;
mod kind;
mod names;
mod native;
mod otlp;
mod otlp_messages;
mod parts;
mod prometheus;
mod queue;
mod remote;
#[cfg(test)]
mod samples;
mod scrape;
mod sinks;
mod statsd;
mod totals;

pub use bounds::{EXPORT_BYTES_MAX, EXPORTS_MAX, KINDS};
pub use error::{DeliveryFault, ExportError};
pub use exports::{Delivery, Environment, Exports};
pub use kind::Export;
pub use queue::{END_WAIT_MAX, QUEUE_MAX};
pub use scrape::SCRAPE_WAIT_MAX;
