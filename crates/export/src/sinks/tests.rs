use crate::samples::{interval, plan, snapshot};

use super::*;

/// The last interval takes what ended just behind it, and so ends later than it was first said: still one point.
#[test]
fn an_update_replaces_its_point_also_when_the_interval_has_grown() {
    let (plan, seen) = (plan(&["one"]), snapshot(1, 3, 0));
    let mut sink = Influx::new(&Url::parse("http://h/write?db=x").expect("a URL"), None);
    let mut stamps = |numbers: &[(u64, bool, u64)]| {
        let written = numbers.iter().map(|&(number, is_update, grown_ms)| {
            let mut interval = interval(&plan, number, &seen, is_update);
            interval.to += pacing::Nanos::from_millis(grown_ms);
            let batch = Batch {
                at_unix: Duration::from_secs(100 + number),
                totals: Totals::default(),
                held: None,
                interval: Some(Arc::new(interval)),
            };
            let text = sink.text(&batch);
            let first = text.lines().next().expect("a line").to_owned();
            first.rsplit_once(' ').expect("a stamp").1.parse::<u64>().expect("nanoseconds") / 1_000_000
        });
        written.collect::<Vec<u64>>()
    };
    // Interval 1, then 2, then what came late for 1, then the last, which has grown by 7 ms.
    let stamped = stamps(&[(1, false, 0), (2, false, 0), (1, true, 0), (2, true, 7)]);
    assert_eq!(stamped, [101_000, 102_000, 101_000, 102_000]);
}
