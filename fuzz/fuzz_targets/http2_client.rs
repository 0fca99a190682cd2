//! `fuzzers::http2_client`, for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzers::http2_client(input));
