//! The gauges of a load, a row for each: charts, pages and exports loop over them.

use metrics::Metric;

use crate::Interval;

/// A value at the end of an interval.
#[derive(Clone, Copy, Debug)]
pub struct Gauge {
    /// Its name in charts, live values and exports.
    pub name: &'static str,
    /// Its place among the gauges of exports: columns of CSV keep theirs.
    pub column: usize,
    /// What exports say of it.
    pub metric: Metric,
    /// Its value.
    pub of: fn(&Interval) -> u64,
}

/// Makes the table of gauges from its rows: name, place in exports, value, and the texts of exports.
macro_rules! gauges {
    ($($name:ident = $column:literal, $of:expr, $help:literal, $help_zh:literal;)+) => {
        /// All gauges, in the order of charts.
        pub const GAUGES: &[Gauge] = &[$(Gauge {
            name: stringify!($name),
            column: $column,
            metric: Metric {
                name: concat!("onrush_", stringify!($name)),
                unit: "",
                help: $help,
                help_zh: $help_zh,
            },
            of: $of,
        },)+];
    };
}

gauges! {
    users = 0, |interval| interval.seen.users, "Virtual users that are at work.", "正在运行的虚拟用户数";
    in_flight = 2, |interval| interval.in_flight,
        "Requests that were started and have not ended.", "已发起、尚未结束的请求数";
    connections = 1, |interval| interval.seen.connections_open,
        "Open connections that have carried an answer.", "收到过响应、仍打开的连接数";
}
