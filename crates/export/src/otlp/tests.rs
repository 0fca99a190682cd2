use crate::samples::{ODD_NAMES, totals};

use super::*;

fn metric<'a>(request: &'a ExportRequest, name: &str) -> &'a Metric {
    let metrics = &request.resource_metrics[0].scope_metrics[0].metrics;
    metrics.iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn the_body_comes_back() {
    let totals = totals(&ODD_NAMES, 40, 2);
    let request = ExportRequest::decode(&*body(1_000, &[(2_000, &totals)])).expect("a message");
    let resource = request.resource_metrics[0].resource.as_ref().expect("a resource");
    assert_eq!(resource.attributes[0], attribute("service.name", "onrush"));
    let Some(Data::Sum(sum)) = &metric(&request, "onrush.requests").data else { panic!("a sum") };
    assert!(sum.is_monotonic && sum.temporality == CUMULATIVE);
    let counts: Vec<_> = sum.points.iter().map(|point| (point.start, point.at, point.value)).collect();
    let count = |count| (1_000, 2_000, Some(PointValue::Int(count)));
    assert_eq!(counts, [count(40), count(2)].repeat(ODD_NAMES.len()));
    let Some(Data::Exponential(times)) = &metric(&request, "onrush.response_time").data else { panic!("times") };
    for (point, name) in times.points.iter().zip(ODD_NAMES) {
        assert_eq!(point.attributes[1], attribute("step", name));
        let buckets = point.positive.as_ref().expect("buckets");
        assert_eq!((point.count, buckets.counts.iter().sum::<u64>()), (40, 40));
        assert_eq!((point.min, point.max), (Some(0.001), Some(0.04)));
        // Bucket `i` of OpenTelemetry begins above base^i.
        let base = 2f64.powf(2f64.powi(-point.scale));
        assert!(base.powi(buckets.offset) < 0.001_001 && 0.000_999 <= base.powi(buckets.offset + 1));
    }
    assert_eq!(metric(&request, "onrush.bytes_sent").unit, "By");
    assert_eq!(metric(&request, "onrush.cpu").unit, "s");
}

#[test]
fn refused_points_are_received() {
    use crate::otlp_messages::PartialSuccess;
    let response = |rejected| {
        let partial = PartialSuccess { rejected_data_points: rejected, error_message: "too old".to_owned() };
        ExportResponse { partial_success: Some(partial) }.encode_to_vec()
    };
    assert_eq!(rejected(&response(3)), Some((3, "too old".to_owned())));
    assert_eq!(rejected(&response(0)), None);
    assert_eq!(rejected(b""), None);
    assert_eq!(rejected(b"{}"), None);
}
