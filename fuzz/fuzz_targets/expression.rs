//! `fuzzers::expression`, for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzers::expression(input));
