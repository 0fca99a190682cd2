//! Strategies for snapshots of every kind.

use proptest::prelude::*;

use crate::outcome::custom_failures;
use crate::*;

/// An action of a shard on its snapshot.
#[derive(Clone, Debug)]
pub(super) enum Deed {
    Ends(SeriesId, Outcome, Vec<(usize, u64)>),
    Records(SeriesId, usize, u64),
    LeavesUnfinished(SeriesId, u64, Option<u64>),
    Fails(SeriesId, Failure),
    Times(usize, u64, u64),
    Counts(usize, u64),
    Responses(usize, usize, u16, u64),
    Words(String, u64),
    Covers(u64),
    Hears(u16, String),
    Blames(Failure, u8, u64),
    Keeps(Sample),
    KeepsMore(Row, u64, u64, Vec<u8>),
    KeepsSlow(RequestRecord),
    Reaches(u8, u64, u64),
}

impl Deed {
    pub(super) fn on(&self, seen: &mut Snapshot) {
        match self {
            Self::Ends(series, outcome, times) => {
                let timings = seen.outcome(*series, *outcome);
                times.iter().for_each(|(measure, time)| timings.record(Measure::ALL[*measure], *time));
            }
            Self::Records(series, class, time) => seen.record(*series, Class::ALL[*class], *time),
            Self::LeavesUnfinished(series, time, sent) => seen.leave_unfinished(*series, *time, *sent),
            Self::Fails(series, failure) => seen.fail(*series, *failure),
            Self::Times(number, time, count) => times_of(seen, *number).record_many(*time, *count),
            Self::Counts(counter, count) => match counter.checked_sub(Counter::ALL.len()) {
                None => seen.counts[Counter::ALL[*counter]] += count,
                Some(0) => seen.stalled_ns += count,
                Some(1) => seen.cpu_ns += count,
                Some(2) => seen.run_delay_ns += count,
                Some(3) => seen.gauges.users += count,
                Some(_) => seen.gauges.connections_open += count,
            },
            Self::Responses(status, grpc, close, count) => {
                seen.counts.statuses[*status] += count;
                seen.counts.grpc_statuses[*grpc] += count;
                *seen.counts.closes.entry(*close).or_default() += count;
            }
            Self::Words(word, count) => seen.counts.count_status_word(word, *count),
            Self::Covers(time) => seen.cover(*time),
            Self::Hears(number, text) => seen.learn_text(usize::from(*number), text),
            Self::Blames(failure, place, count) => {
                seen.failures_by_host.add(*failure, &format!("host{place}:80").into(), *count);
            }
            Self::Keeps(sample) => seen.keep_sample(sample.clone()),
            Self::KeepsMore(row, length, differ, head) => {
                seen.tool_details.keep_row(*row);
                seen.tool_details.first_length = *length;
                seen.tool_details.lengths_differ += differ;
                seen.tool_details.rows_left_out += differ;
                seen.tool_details.read_head(head);
            }
            Self::KeepsSlow(traced) => {
                seen.tool_details.slowest.keep(*traced, 3);
            }
            Self::Reaches(number, count, time) => {
                let ip = [[0; 8], [0xfd00, 0, 0, 0, 0, 0, 0, 1]][usize::from(number % 2)];
                let mut one = ByAddress::default();
                let mut slots = AddressSlots::default();
                let slot = slots.slot((ip, u16::from(*number)).into());
                let tally = one.at(slot, &slots);
                (tally.tried, tally.sent) = (1, *count);
                tally.response.record(*time);
                seen.by_address.merge(&one);
            }
        }
    }
}

fn any_failure() -> impl Strategy<Value = Failure> {
    // Also numbers without counters of their own.
    prop_oneof![
        prop::sample::select(custom_failures().to_vec()),
        (0..FAILURE_COUNT).prop_filter_map("a failure", Failure::from_index),
        any::<u8>().prop_map(Failure::StreamReset),
        any::<u8>().prop_map(Failure::GrpcStatus),
        any::<u8>().prop_map(Failure::CallHttp),
        any::<u16>().prop_map(Failure::Os),
        any::<u16>().prop_map(Failure::WebSocketClose),
    ]
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![Just(Outcome::Succeeded), any_failure().prop_map(Outcome::Failed)]
}

/// Times of every size.
fn any_time() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..10, (0u32..64, any::<u64>()).prop_map(|(bits, value)| value >> bits), Just(u64::MAX)]
}

/// Counts, also those that overflow the counters of pages, and exactly so.
fn any_count() -> impl Strategy<Value = u64> {
    prop_oneof![1u64..5, 60_000u64..70_000, Just(1 << 16), Just(3 << 16), 1u64..1 << 40]
}

fn any_series() -> impl Strategy<Value = SeriesId> {
    (0..SeriesId::COUNT).prop_filter_map("a series", SeriesId::from_index)
}

/// A series with times: all but checks.
fn any_timed_series() -> impl Strategy<Value = SeriesId> {
    any_series().prop_filter("it has times", |series| series.kind() != SeriesKind::Check)
}

fn any_sample() -> impl Strategy<Value = Sample> {
    let times = prop::collection::vec(prop::option::of(any_time()), 3);
    let kinds = prop::sample::select(vec![
        PartKind::Head,
        PartKind::Body,
        PartKind::Trailers,
        PartKind::Message,
        PartKind::Control,
        PartKind::Raw,
        PartKind::Taken,
    ]);
    let part = (any::<bool>(), kinds, prop::collection::vec(any::<u8>(), 0..20));
    let part = part.prop_map(|(is_ours, kind, bytes)| Part { is_ours, kind, bytes });
    let texts = (".{0,9}", ".{0,9}", prop::collection::vec(".{0,5}", 0..3));
    let numbers = (0u64..50, any::<u32>(), any::<u16>(), any_time(), any::<bool>());
    (numbers, any_outcome(), texts, prop::collection::vec(part, 0..3), times).prop_map(
        |((at_ns, step, status, left_out, is_shown), outcome, (reason, place, way), parts, times)| Sample {
            at_ns,
            step,
            outcome,
            status,
            reason,
            place,
            way,
            parts,
            left_out,
            wait_ns: times[0],
            first_byte_ns: times[1],
            service_ns: times[2],
            is_shown,
        },
    )
}

fn any_row() -> impl Strategy<Value = Row> {
    (prop::collection::vec(any_time(), 6), any::<u16>(), any::<bool>()).prop_map(|(times, status, is_answered)| Row {
        start_ns: times[0],
        wait_ns: times[1],
        first_byte_ns: times[2],
        service_ns: times[3],
        response_ns: times[4],
        bytes: times[5],
        status,
        is_answered,
    })
}

/// Traces, often none, and often the same.
fn any_trace() -> impl Strategy<Value = u128> {
    prop_oneof![Just(0), 1u128..3, any::<u128>()]
}

fn any_traced() -> impl Strategy<Value = RequestRecord> {
    let ends = prop_oneof![
        any_outcome().prop_map(|outcome| match outcome {
            Outcome::Succeeded => RequestRecordEnd::Succeeded,
            Outcome::Failed(failure) => RequestRecordEnd::Failed(failure),
        }),
        Just(RequestRecordEnd::Unfinished),
        Just(RequestRecordEnd::Dropped),
    ];
    // Equal times occur, so that their tie-break occurs too.
    let times = (0u64..3, prop_oneof![0u64..3, any_time()], any_time());
    let options = prop::collection::vec(prop::option::of(any_time()), 3);
    (times, options, prop::collection::vec(any::<u32>(), 3), any::<u16>(), ends, any::<bool>(), any_trace()).prop_map(
        |(times, options, numbers, status, end, is_connection_new, trace)| RequestRecord {
            intended_ns: times.0,
            response_ns: times.1,
            lateness_ns: times.2,
            wait_ns: options[0],
            service_ns: options[1],
            first_byte_ns: options[2],
            body_bytes: numbers[0],
            step: numbers[1],
            shard: numbers[2],
            status,
            end,
            is_connection_new,
            trace,
        },
    )
}

/// The distributions of a snapshot that belong to no series.
pub(super) fn times_of(seen: &mut Snapshot, number: usize) -> &mut Distribution {
    match number {
        0 => &mut seen.connect,
        1 => &mut seen.tls,
        2 => &mut seen.message,
        3 => &mut seen.message_incomplete,
        4 => &mut seen.message_gap,
        5 => &mut seen.dropped_after,
        6 => &mut seen.lag,
        7 => &mut seen.chains,
        8 => &mut seen.gauges.in_flight.response,
        9 => &mut seen.gauges.in_flight.service,
        10 => &mut seen.tool_details.reading,
        11 => &mut seen.lost_after.response,
        12 => &mut seen.lost_after.service,
        _ => &mut seen.tool_details.before,
    }
}

fn any_deed() -> impl Strategy<Value = Deed> {
    let any_times = prop::collection::vec((0usize..5, any_time()), 1..6);
    let any_head = prop::collection::vec(any::<u8>(), 0..9);
    prop_oneof![
        (any_timed_series(), any_outcome(), any_times)
            .prop_map(|(series, outcome, times)| Deed::Ends(series, outcome, times)),
        (any_series(), 0usize..4, any_time()).prop_map(|(series, class, time)| Deed::Records(series, class, time)),
        (any_timed_series(), any_time(), prop::option::of(any_time()))
            .prop_map(|(series, time, sent)| Deed::LeavesUnfinished(series, time, sent)),
        (any_series(), any_failure()).prop_map(|(series, failure)| Deed::Fails(series, failure)),
        (0usize..14, any_time(), any_count()).prop_map(|(number, time, count)| Deed::Times(number, time, count)),
        (0..Counter::ALL.len() + 5, 1u64..1 << 40).prop_map(|(counter, count)| Deed::Counts(counter, count)),
        (0usize..STATUS_COUNT, 0usize..GRPC_STATUSES.len(), any::<u16>(), 1u64..1_000)
            .prop_map(|(status, grpc, close, count)| Deed::Responses(status, grpc, close, count)),
        ("[A-Z]{0,3}", 0u64..1_000).prop_map(|(word, count)| Deed::Words(word, count)),
        any_time().prop_map(Deed::Covers),
        (any::<u16>(), ".{0,20}").prop_map(|(number, text)| Deed::Hears(number, text)),
        (any_failure(), 0u8..5, 1u64..9).prop_map(|(failure, place, count)| Deed::Blames(failure, place, count)),
        any_sample().prop_map(Deed::Keeps),
        (any_row(), any_time(), 0u64..3, any_head)
            .prop_map(|(row, length, differ, head)| Deed::KeepsMore(row, length, differ, head)),
        any_traced().prop_map(Deed::KeepsSlow),
        (0u8..60, any_count(), any_time()).prop_map(|(number, count, time)| Deed::Reaches(number, count, time)),
    ]
}

pub(super) fn any_deeds() -> impl Strategy<Value = Vec<Deed>> {
    prop::collection::vec(any_deed(), 0..25)
}

pub(super) fn done(deeds: &[Deed]) -> Snapshot {
    let mut seen = Snapshot::default();
    deeds.iter().for_each(|deed| deed.on(&mut seen));
    seen
}
