//! The names of figures that every run has.

use super::by_address::WORST;
use super::parse::counter_of;
use crate::Measure;

/// Whether thresholds take this name for a figure that every run has.
pub fn is_known_figure(name: &str) -> bool {
    const OTHERS: [&str; 12] = [
        "connect",
        "tls_handshake",
        "message",
        "message_gap",
        "status",
        "grpc_status",
        "error_rate",
        "rate",
        "count",
        "address",
        "abort",
        WORST,
    ];
    let is_measure = || Measure::ALL.iter().any(|measure| measure.name() == name);
    is_measure() || counter_of(name).is_some() || OTHERS.contains(&name)
}
