//! `fuzzers::http1_client`, for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzers::http1_client(input));
