//! `fuzzers::plan_text`, for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzers::plan_text(input));
