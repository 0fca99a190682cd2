use super::*;

fn name(text: &str) -> GateName {
    GateName::parse(text).expect("a name")
}

fn wait(gates: &Gates, text: &str) -> GateWaiter {
    match gates.enter(name(text)) {
        GateEntry::Waits(waiting) => waiting,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn names_are_plain_and_bounded() {
    let longest = "a".repeat(GATE_NAME_BYTES_MAX);
    for good in ["a", "7", "first-wave_2.b", &longest] {
        assert!(GateName::parse(good).is_some(), "{good}");
    }
    for bad in ["", "a/b", "a b", "\u{e9}", "\0", "a%20b", &format!("{longest}a")] {
        assert_eq!(GateName::parse(bad), None, "{bad}");
    }
    assert_ne!(name("a"), name("aa"));
}

#[test]
fn who_waits_is_counted_until_the_gate_opens_or_the_request_is_gone() {
    let gates = Gates::default();
    assert_eq!(gates.waiting(name("a")), 0);
    let (first, second, other) = (wait(&gates, "a"), wait(&gates, "a"), wait(&gates, "b"));
    assert_eq!((gates.waiting(name("a")), gates.waiting(name("b"))), (2, 1));
    drop(first);
    assert_eq!(gates.waiting(name("a")), 1);
    assert_eq!((second.is_over(), gates.openings()), (false, 0));
    assert_eq!((gates.open(name("a")), gates.openings()), (Some(1), 1));
    assert!(second.is_over() && !other.is_over());
    assert_eq!((gates.waiting(name("a")), gates.waiting(name("b"))), (0, 1));
    // It stays open.
    assert!(matches!(gates.enter(name("a")), GateEntry::IsOpen));
    assert_eq!(gates.open(name("a")), Some(0));
    // A gate that no request has entered can be opened in advance.
    assert_eq!(gates.open(name("c")), Some(0));
    assert!(matches!(gates.enter(name("c")), GateEntry::IsOpen));
}

#[test]
fn gates_are_bounded_and_those_that_nobody_needs_give_way() {
    let gates = Gates::default();
    let mut waiting: Vec<GateWaiter> = (0..GATES_MAX).map(|number| wait(&gates, &number.to_string())).collect();
    assert!(matches!(gates.enter(name("more")), GateEntry::NoRoom));
    assert_eq!(gates.open(name("more")), None);
    // Known gates still work.
    assert_eq!(gates.open(name("0")), Some(1));
    waiting.push(wait(&gates, "1"));
    assert_eq!(gates.waiting(name("1")), 2);
    // All requests leave one gate; an open one stays though no request waits there.
    waiting.swap_remove(5);
    waiting.swap_remove(0);
    let more = wait(&gates, "more");
    assert!(matches!(gates.enter(name("another")), GateEntry::NoRoom));
    assert!(matches!(gates.enter(name("0")), GateEntry::IsOpen));
    drop(more);
    assert_eq!(gates.open(name("instead")), Some(0));
}
