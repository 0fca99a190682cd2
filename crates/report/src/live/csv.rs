//! Tables of a run as CSV, while it goes on and after its end.

use serde_json::Value;

/// Columns of times, by their keys.
const TIMES: [&str; 7] = ["min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "max_ns"];

/// Steps, transactions and checks, which have counts alone. `scenarios`: as in a report. Times are in nanoseconds, of
/// successes.
pub fn steps_csv(scenarios: &Value) -> String {
    let mut text = row(["scenario", "kind", "name", "finished", "failed", "unfinished"].into_iter().chain(TIMES));
    for scenario in list(scenarios) {
        for (kind, key) in [("step", "steps"), ("transaction", "transactions")] {
            for part in list(&scenario[key]) {
                let counts = ["finished", "failed", "unfinished"].map(|key| cell(&part[key]));
                let times = TIMES.map(|key| cell(&part["response_time"][key]));
                let names = [cell(&scenario["name"]), kind.to_owned(), cell(&part["name"])];
                text += &row(names.iter().chain(&counts).chain(&times).map(String::as_str));
            }
        }
        for check in list(&scenario["checks"]) {
            let done = check["passed"].as_u64().unwrap_or(0) + check["failed"].as_u64().unwrap_or(0);
            let names = [cell(&scenario["name"]), "check".to_owned(), cell(&check["name"])];
            let counts = [done.to_string(), cell(&check["failed"]), String::new()];
            let times = TIMES.map(|_| String::new());
            text += &row(names.iter().chain(&counts).chain(&times).map(String::as_str));
        }
    }
    text
}

/// Failures by reason.
pub fn failures_csv(failures: &Value) -> String {
    let mut text = row(["reason", "count", "first_s", "last_s"].into_iter());
    for each in list(failures) {
        let detail = each["detail"].as_str().map_or(String::new(), |detail| format!(" ({detail})"));
        let cells = [
            format!("{}{detail}", cell(&each["reason"])),
            cell(&each["count"]),
            cell(&each["first_s"]),
            cell(&each["last_s"]),
        ];
        text += &row(cells.iter().map(String::as_str));
    }
    text
}

/// The series of charts, a line for each point. `charts`: from [`crate::live_charts`] or [`crate::charts_value`].
pub fn intervals_csv(charts: &Value) -> String {
    let none = serde_json::Map::new();
    let series = charts["series"].as_object().unwrap_or(&none);
    let mut text = row(["from_s", "to_s"].into_iter().chain(series.keys().map(String::as_str)));
    for place in 0..list(&charts["from_s"]).len() {
        let cells = [&charts["from_s"], &charts["to_s"]].into_iter().chain(series.values());
        let cells: Vec<String> = cells.map(|values| cell(&values[place])).collect();
        text += &row(cells.iter().map(String::as_str));
    }
    text
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A CSV line; cells that a spreadsheet would take for a formula are made text.
fn row<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let quoted = |cell: &str| {
        let is_formula = cell.starts_with(['=', '@', '+', '-', '\t']) && cell.parse::<f64>().is_err();
        let cell = if is_formula { format!("'{cell}") } else { cell.to_owned() };
        let is_plain = !cell.contains([',', '"', '\n', '\r']);
        if is_plain { cell } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
    };
    let cells: Vec<String> = cells.map(quoted).collect();
    cells.join(",") + "\r\n"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_that_mean_something_to_a_table_stay_names() {
        let scenarios = json!([{"name": "buy, now", "steps": [{"name": "=1+1", "finished": 3, "failed": 1,
            "unfinished": 0, "response_time": {"p50_ns": 5}}], "transactions": [{"name": "a \"b\"", "finished": 2}]}]);
        let text = steps_csv(&scenarios);
        let lines: Vec<&str> = text.split("\r\n").collect();
        assert_eq!(lines[1], "\"buy, now\",step,'=1+1,3,1,0,,,5,,,,");
        assert_eq!(lines[2], "\"buy, now\",transaction,\"a \"\"b\"\"\",2,,,,,,,,,");
    }

    #[test]
    fn series_are_columns() {
        let charts = json!({"from_s": [0, 1], "to_s": [1, 2], "series": {"done_per_s": [5.5, null], "users": [1, 2]}});
        assert_eq!(intervals_csv(&charts), "from_s,to_s,done_per_s,users\r\n0,1,5.5,1\r\n1,2,,2\r\n");
        let failures = json!([{"reason": "status", "detail": "x", "count": 2, "first_s": 1.5}]);
        assert_eq!(failures_csv(&failures), "reason,count,first_s,last_s\r\nstatus (x),2,1.5,\r\n");
    }
}
