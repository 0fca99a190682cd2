use crate::samples::{ODD_NAMES, totals};

use super::*;

#[test]
fn the_body_comes_back() {
    let totals = totals(&ODD_NAMES, 3, 1);
    let body = body(&[(1_000, &totals), (2_000, &totals)]);
    let plain = snap::raw::Decoder::new().decompress_vec(&body).expect("Snappy");
    let request = WriteRequest::decode(&*plain).expect("a message");
    for series in &request.timeseries {
        assert!(series.labels.windows(2).all(|pair| pair[0].name < pair[1].name), "{:?}", series.labels);
        assert!(series.labels.iter().all(|label| !label.value.is_empty()));
        assert!(series.samples.iter().all(|sample| sample.value.is_finite()));
    }
    let is_request = |series: &&TimeSeries| series.labels[0].value == "onrush_requests_total";
    let value = |name: &str, series: &TimeSeries| {
        series.labels.iter().find(|label| label.name == name).map(|label| label.value.clone()).unwrap_or_default()
    };
    let first: Vec<_> = request
        .timeseries
        .iter()
        .filter(is_request)
        .filter(|series| series.samples[0].timestamp == 1_000 && value("outcome", series) == "succeeded")
        .map(|series| (value("step", series), series.samples[0].value))
        .collect();
    assert_eq!(first, ODD_NAMES.map(|name| (name.to_owned(), 3.0)));
    assert!(request.metadata.iter().any(|one| one.family == "onrush_requests_total" && one.kind == 1));
}
