//! Instruction counts of exchanges over other protocols, as `http1` counts those of HTTP/1. They have a program and a
//! driver of their own, since a compiler omits code that a single driver never uses.

#![expect(missing_docs, reason = "the macros make public items")]

mod canned;
mod grpc;
mod peer;
mod streams;
mod websocket;

use canned::CannedRun;
use gungraun::{library_benchmark, library_benchmark_group, main};

/// Repetitions of each benchmark: the overhead around them is small then.
const TIMES: u64 = 1_000;

#[library_benchmark]
#[bench::http2(peer::http2())]
#[bench::grpc(peer::grpc())]
fn stream(mut run: CannedRun) -> CannedRun {
    run.exchange(TIMES);
    run
}

#[library_benchmark]
#[bench::websocket(peer::websocket())]
fn message(mut run: CannedRun) -> CannedRun {
    run.exchange(TIMES);
    run
}

library_benchmark_group!(name = protocols, benchmarks = [stream, message]);
main!(library_benchmark_groups = protocols);
