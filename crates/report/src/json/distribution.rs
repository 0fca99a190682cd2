//! Times in reports: the complete ones, and under a separate name those with the incomplete ones.

use figures::{PercentileValue, Quantile, Times};
use serde_json::{Map, Value};

/// The complete times; `with_incomplete` holds what the tables show, and is null where none is incomplete.
pub(crate) fn distribution(times: &Times) -> Value {
    let mut value = Map::new();
    value.insert("count".to_owned(), times.count.into());
    value.insert("min_ns".to_owned(), times.min_ns.into());
    value.insert("mean_ns".to_owned(), times.mean_ns.into());
    value.insert("stdev_ns".to_owned(), times.stdev_ns.into());
    percentiles(&mut value, times.named_known());
    value.insert("unreliable".to_owned(), names_of(times.named_known(), |at| at.is_unreliable));
    value.insert("with_incomplete".to_owned(), with_incomplete(times));
    Value::Object(value)
}

/// The same with the incomplete ones, each with the time that it had waited: lower bounds, where they are named in
/// `at_least`.
fn with_incomplete(times: &Times) -> Value {
    if times.incomplete == 0 {
        return Value::Null;
    }
    let mut value = Map::new();
    value.insert("count".to_owned(), (times.count + times.incomplete).into());
    value.insert("incomplete".to_owned(), times.incomplete.into());
    value.insert("min_lower_bound_ns".to_owned(), times.min_lower_bound_ns.into());
    value.insert("mean_lower_bound_ns".to_owned(), times.mean_lower_bound_ns.into());
    percentiles(&mut value, times.named());
    value.insert("at_least".to_owned(), names_of(times.named(), |at| at.at_least));
    value.insert("unreliable".to_owned(), names_of(times.named(), |at| at.is_unreliable));
    Value::Object(value)
}

fn percentiles(value: &mut Map<String, Value>, named: impl Iterator<Item = (Quantile, Option<PercentileValue>)>) {
    for (quantile, at) in named {
        value.insert(format!("{}_ns", key(quantile)), at.map(|at| at.ns).into());
    }
}

fn names_of(
    named: impl Iterator<Item = (Quantile, Option<PercentileValue>)>,
    is: impl Fn(PercentileValue) -> bool,
) -> Value {
    named.filter(|(_, at)| at.is_some_and(&is)).map(|(quantile, _)| Value::from(key(quantile))).collect()
}

/// Keys without a dot, which would be a path in tools that read reports.
fn key(quantile: Quantile) -> String {
    quantile.name().replace('.', "_")
}
