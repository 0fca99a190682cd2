//! Instruction counts of the hot path, measured by valgrind: repeatable on a noisy machine. `cargo xtask bench`
//! compares them with `bench/instructions.json`.

#![expect(missing_docs, reason = "the macros make public items")]

mod canned;

use std::hint::black_box;

use canned::CannedRun;
use engine::timers::Timers;
use gungraun::{library_benchmark, library_benchmark_group, main};
use metrics::{Measure, Outcome, SeriesId, Snapshot};
use pacing::Nanos;
use wire::http1::{Client, HeadMemory, RequestKind, Response};

/// Repetitions of each benchmark: the overhead around them is small then.
const TIMES: u64 = 1_000;

/// Parses responses whose head differs from the one before.
fn parse_heads(heads: &[Vec<u8>]) -> u64 {
    let mut memory = HeadMemory::default();
    let mut responses = 0;
    for number in 0..TIMES {
        let mut rest = heads[number as usize % heads.len()].as_slice();
        let mut machine = Client::default();
        machine.start(RequestKind::Other);
        loop {
            let (taken, response) = machine.handle(black_box(rest), &mut memory).expect("a good answer");
            rest = &rest[taken..];
            if matches!(response, Response::End) {
                break;
            }
        }
        responses += 1;
    }
    responses
}

#[library_benchmark]
#[bench::same(vec![canned::HEAD.to_vec()])]
#[bench::other_each_time(canned::other_heads())]
fn head(heads: Vec<Vec<u8>>) -> u64 {
    parse_heads(&heads)
}

#[library_benchmark]
#[bench::keep_alive(CannedRun::warm(false))]
#[bench::new_connection_each(CannedRun::warm(true))]
#[bench::at_a_rate(CannedRun::warm_at_a_rate())]
#[bench::rendered(CannedRun::warm_and_rendered())]
fn exchange(mut run: CannedRun) -> CannedRun {
    run.exchange(TIMES);
    run
}

fn warm_snapshot() -> Snapshot {
    let mut snapshot = Snapshot::default();
    let timings = snapshot.outcome(SeriesId::step(0), Outcome::Succeeded);
    Measure::ALL.into_iter().for_each(|measure| timings.record(measure, 1 << 40));
    snapshot
}

#[library_benchmark]
#[bench::five_times_each(warm_snapshot())]
fn record(mut snapshot: Snapshot) -> Snapshot {
    for number in 0..TIMES {
        let timings = snapshot.outcome(SeriesId::step(0), Outcome::Succeeded);
        for (index, measure) in Measure::ALL.into_iter().enumerate() {
            timings.record(measure, black_box(50_000 + number * 977 * (index as u64 + 1)));
        }
    }
    snapshot
}

#[library_benchmark]
#[bench::insert_and_poll(Timers::default())]
fn timers(mut timers: Timers<u32>) -> u64 {
    let mut due = 0;
    for number in 0..TIMES {
        let now = Nanos(number * 40_000);
        timers.insert(now + Nanos::from_millis(1 + number % 50), number as u32);
        black_box(timers.next());
        while timers.poll(now).is_some() {
            due += 1;
        }
    }
    due
}

library_benchmark_group!(name = hot_path, benchmarks = [head, exchange, record, timers]);
main!(library_benchmark_groups = hot_path);
