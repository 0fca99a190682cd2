//! Figures for other programs, while a load runs and at its end: `--export KIND=WHERE`.
//!
//! [`Export::parse`] reads the flag. [`Exports::begin`] opens files and addresses before the load,
//! [`Exports::interval`] takes each interval, [`Exports::finish`] delivers the rest and returns the result of each
//! export.
//!
//! Encoders are pure: totals and intervals in, bytes out. Everything that can wait is on its own thread, behind
//! queues of a bounded length ([`QUEUE_MAX`]): a slow or unreachable receiver loses intervals, which are counted, and
//! never delays the run. Sums are made before the queues, so delivered values are correct whatever was left out.
//!
//! - `totals`: the increments of intervals, summed by series; `histogram`: their times as fixed and as exponential
//!   buckets; `addresses`: the counts of each address; `families`: the names of all series elsewhere; `held`: both for
//!   held connections
//! - encoders: `prometheus`, `native`, `remote`, `otlp`, `influx`, `statsd`, `csv`, `junit`. The text for GitHub
//!   (`github`) is a view of `report`.
//! - `queue`: a sink on its own thread behind a bounded queue; `sinks` has one for each kind, `http` is their client,
//!   `scrape` the page that Prometheus reads, `exports` all of them
//! - An updated interval is part of the sums of the next one, or a further line; InfluxDB replaces the first one.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod addresses;
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
mod own_figures;
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
