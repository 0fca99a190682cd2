//! A receiver of OTLP, which decodes messages with types that others generated from the published ones.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, Metric, number_data_point};
use prost::Message;

use super::{ODD_STEP, exported, run_scenario};
use crate::Served;

/// One request: its head and its body. `None` when the peer is gone.
pub(super) fn read_request(stream: &mut BufReader<TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let lower = head.to_ascii_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some((head, body))
}

/// A server with this response to each request; received requests come out of the channel.
pub(super) fn receiver(response: &'static str) -> (u16, Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (send, received) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let send = send.clone();
            std::thread::spawn(move || {
                let mut stream = BufReader::new(stream);
                while let Some(request) = read_request(&mut stream) {
                    // The test may be over.
                    let _ = send.send(request);
                    if stream.get_mut().write_all(response.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (port, received)
}

fn label(attributes: &[KeyValue], name: &str) -> String {
    let found = attributes.iter().find(|one| one.key == name).and_then(|one| one.value.clone()?.value);
    match found {
        Some(any_value::Value::StringValue(text)) => text,
        other => panic!("{name}: {other:?}"),
    }
}

fn metric<'a>(all: &'a [Metric], name: &str) -> &'a Data {
    let found = all.iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("no {name}: {all:?}"));
    found.data.as_ref().expect("data")
}

#[test]
fn a_receiver_reads_our_counts() {
    let served = Served::start();
    let (port, received) = receiver("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    let report = run_scenario(&served, "otlp", &format!("otlp=http://me:hunter2@127.0.0.1:{port}"));
    assert_eq!(exported(&report, "otlp")["left_out"], 0);
    let requests: Vec<(String, Vec<u8>)> = received.try_iter().collect();
    let (mut points, mut wrong) = (Vec::new(), Vec::new());
    // Their number is a matter of time; each is checked.
    for (head, body) in &requests {
        let is_right = head.starts_with("POST /v1/metrics HTTP/1.1\r\n")
            && head.to_ascii_lowercase().contains("content-type: application/x-protobuf\r\n")
            // `me:hunter2`
            && head.contains("Basic bWU6aHVudGVyMg==");
        wrong.extend((!is_right).then(|| head.clone()));
        points.extend(ExportMetricsServiceRequest::decode(&**body).expect("a message").resource_metrics);
    }
    let mut last_at = 0;
    for point in &points {
        let service = label(&point.resource.as_ref().expect("a resource").attributes, "service.name");
        let Data::Sum(sum) = metric(&point.scope_metrics[0].metrics, "onrush.requests") else { panic!("a sum") };
        let is_sum = sum.is_monotonic && sum.aggregation_temporality() == AggregationTemporality::Cumulative;
        let first = &sum.data_points[0];
        let is_later = first.time_unix_nano > last_at && first.start_time_unix_nano <= first.time_unix_nano;
        wrong.extend((service != "onrush" || !is_sum || !is_later).then(|| format!("{point:?}")));
        last_at = first.time_unix_nano;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let last = &points.last().expect("points").scope_metrics[0].metrics;
    let Data::Sum(sum) = metric(last, "onrush.requests") else { panic!("a sum") };
    let count = |step: &str, outcome: &str| {
        let is_own =
            |attributes: &[KeyValue]| label(attributes, "step") == step && label(attributes, "outcome") == outcome;
        sum.data_points.iter().find(|point| is_own(&point.attributes)).and_then(|point| point.value)
    };
    let int = |count| Some(number_data_point::Value::AsInt(count));
    assert_eq!([count(ODD_STEP, "succeeded"), count("broken", "failed")], [int(100), int(100)]);
    let Data::ExponentialHistogram(times) = metric(last, "onrush.response_time") else { panic!("times") };
    let own = times.data_points.iter().find(|point| label(&point.attributes, "step") == ODD_STEP).expect("a step");
    let buckets = own.positive.as_ref().expect("buckets");
    assert_eq!((own.count, buckets.bucket_counts.iter().sum::<u64>()), (100, 100));
    let base = 2f64.powf(2f64.powi(-own.scale));
    let (low, high) = (base.powi(buckets.offset), base.powi(buckets.offset + buckets.bucket_counts.len() as i32));
    let (min, max) = (own.min.expect("a minimum"), own.max.expect("a maximum"));
    assert!(low * 0.999 <= min && max <= high * 1.001, "{low} {min} {max} {high}");
}
