//! `fuzzers::grpc_json`, for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzers::grpc_json(input));
