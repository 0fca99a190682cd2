use crate::samples::{ODD_NAMES, totals};

use super::*;

fn read(mut bytes: &[u8]) -> Vec<MetricFamily> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        all.push(MetricFamily::decode_length_delimited(&mut bytes).expect("a message"));
    }
    all
}

/// The counts of native buckets, by their numbers.
fn counts(histogram: &Native) -> Vec<(i32, i64)> {
    let (mut out, mut number, mut count, mut deltas) = (Vec::new(), 0, 0, histogram.positive_delta.iter());
    for span in &histogram.positive_span {
        number += span.offset();
        for _ in 0..span.length() {
            count += deltas.next().expect("a delta for each bucket");
            out.push((number, count));
            number += 1;
        }
    }
    assert_eq!(deltas.next(), None);
    out
}

#[test]
fn families_come_back() {
    let totals = totals(&ODD_NAMES, 40, 2);
    let all = read(&page(&totals));
    let requests = all.iter().find(|family| family.name() == "onrush_requests_total").expect("a family");
    assert_eq!((requests.kind(), requests.metric.len()), (0, 2 * ODD_NAMES.len()));
    let values: Vec<f64> = requests.metric.iter().filter_map(|metric| metric.counter?.value).collect();
    assert_eq!(values, [40.0, 2.0].repeat(ODD_NAMES.len()));
    let times = all.iter().find(|family| family.name() == "onrush_response_time_seconds").expect("a family");
    let histogram = times.metric[0].histogram.as_ref().expect("a histogram");
    let scale = histogram.schema();
    assert_eq!((times.kind(), histogram.sample_count()), (4, 40));
    assert_eq!(histogram.bucket.last().map(|last| last.cumulative_count()), Some(40));
    let counts = counts(histogram);
    assert_eq!(counts.iter().map(|(_, count)| count).sum::<i64>(), 40);
    // Bucket `i` of Prometheus ends at base^i: the minimum is in the first, the maximum in the last.
    let base = 2f64.powf(2f64.powi(-scale));
    let (first, last) = (counts[0].0, counts[counts.len() - 1].0);
    assert!(base.powi(first - 1) < 0.001_001 && 0.000_999 <= base.powi(first), "{first}");
    assert!(base.powi(last - 1) < 0.040_04 && 0.039_96 <= base.powi(last), "{last}");
}

#[test]
fn an_empty_histogram_is_a_native_one() {
    let all = read(&page(&totals(&["one"], 0, 0)));
    let times = all.iter().find(|family| family.name() == "onrush_response_time_seconds").expect("a family");
    let histogram = times.metric[0].histogram.as_ref().expect("a histogram");
    assert_eq!((histogram.sample_count(), histogram.positive_span.len()), (0, 1));
}

#[test]
fn gaps_become_spans() {
    let exponential = Exponential { scale: 5, zeros: 0, buckets: vec![(-3, 2), (-2, 5), (4, 1)] };
    let (spans, deltas) = spans(&exponential);
    let spans: Vec<_> = spans.iter().map(|span| (span.offset(), span.length())).collect();
    assert_eq!((spans, deltas), (vec![(-2, 2), (5, 1)], vec![2, 3, -4]));
}
