use std::cell::Cell;

use super::*;

fn requested(values: &[(&str, &str)]) -> Requested {
    Requested::read(|name| values.iter().find(|(one, _)| *one == name).map(|(_, value)| (*value).to_owned()))
}

fn mutator() -> Mutator {
    Mutator::new(vec![b"a=1".to_vec(), b"b=2".to_vec()])
}

#[test]
fn what_nobody_says_has_a_value() {
    let requested = requested(&[]);
    assert_eq!((requested.sequence, requested.numbers()), (1, 0..5_000));
}

#[test]
fn variables_say_which_inputs() {
    let more = requested(&[("ONRUSH_FUZZ_SEED", "18446744073709551615"), ("ONRUSH_FUZZ_INPUTS", "70")]);
    assert_eq!((more.sequence, more.numbers()), (u64::MAX, 0..70));
    let only = requested(&[("ONRUSH_FUZZ_INPUTS", "70"), ("ONRUSH_FUZZ_INPUT", "4711")]);
    assert_eq!((only.sequence, only.numbers()), (1, 4_711..4_712));
}

#[test]
#[should_panic(expected = "ONRUSH_FUZZ_SEED is a number, not \"today\"")]
fn what_is_no_number_is_refused() {
    requested(&[("ONRUSH_FUZZ_SEED", "today")]);
}

thread_local! {
    static SEEN: Cell<usize> = const { Cell::new(0) };
}

#[test]
fn a_fuzzer_sees_as_many_inputs_as_requested() {
    let fuzzer = |_: &[u8]| SEEN.set(SEEN.get() + 1);
    for inputs in ["0", "1", "300"] {
        SEEN.set(0);
        requested(&[("ONRUSH_FUZZ_INPUTS", inputs)]).run("planted", fuzzer, &mutator());
        assert_eq!(SEEN.get().to_string(), inputs);
    }
}

/// A parser with an injected fault: it panics on a second `=`.
fn planted(input: &[u8]) {
    let signs = input.iter().filter(|byte| **byte == b'=').count();
    assert!(signs < 2, "planted");
}

#[test]
fn what_fails_is_reported_and_fails_again_alone() {
    let (requested, mutator) = (requested(&[("ONRUSH_FUZZ_SEED", "7")]), mutator());
    let found = requested.first_panic(planted, &mutator).expect("a fault");
    assert!(found.number >= 2, "the seeds are right");
    let number = found.number.to_string();
    assert_eq!(
        requested.reported("planted", &found),
        format!(
            "input {number} of sequence 7 fails planted: b\"{}\"\n\
             again: ONRUSH_FUZZ_SEED=7 ONRUSH_FUZZ_INPUT={number} cargo test -p fuzzers --test fuzzers planted -- --exact",
            found.input.escape_ascii()
        )
    );
    let only = self::requested(&[("ONRUSH_FUZZ_SEED", "7"), ("ONRUSH_FUZZ_INPUT", &number)]);
    let again = only.first_panic(planted, &mutator).expect("the same fault");
    assert_eq!((again.number, again.input), (found.number, found.input));
}

#[test]
#[should_panic(expected = "planted")]
fn the_panic_of_a_fuzzer_fails_the_test() {
    requested(&[]).run("planted", planted, &mutator());
}
