//! `fuzzers::http2_server`, for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzers::http2_server(input));
