//! `fuzzers::grpc_described`, for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzers::grpc_described(input));
