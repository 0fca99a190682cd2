//! `fuzzers::words`, for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzers::words(input));
