//! Thresholds by address.

use super::*;
use crate::AddressSlots;

/// Addresses, each with its response time, its requests and its failures.
fn nodes(all: &[(u64, u64, u64)]) -> Snapshot {
    let (mut seen, mut slots) = (Snapshot::default(), AddressSlots::default());
    for (number, &(ms, count, failed)) in (1..).zip(all) {
        seen.counts[Counter::Started] += count;
        let slot = slots.slot(at(number));
        let tally = seen.by_address.at(slot, &slots);
        (tally.tried, tally.sent, tally.answered, tally.failed) = (1, count, count, failed);
        tally.response.record_many(ms * MILLI, count);
    }
    seen
}

fn at(number: u8) -> SocketAddr {
    ([10, 0, 0, number], 80).into()
}

fn judged(text: &str, seen: &Snapshot) -> Judgement {
    let threshold = Threshold::parse_of_part(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(threshold, Threshold::parse_of_part(&threshold.text).expect("its own text"), "{text}");
    assert_eq!((threshold.of.as_deref(), NamedPart::parse(text)), (None, Ok(None)), "{text}");
    threshold.judge(seen, Duration::from_secs(10))
}

#[test]
fn one_address_has_figures_of_its_own() {
    let seen = nodes(&[(1, 1_000, 0), (300, 500, 5)]);
    for (text, holds) in [
        ("p99(response_time, address=10.0.0.1:80) < 2ms", true),
        ("p99(response_time,address = 10.0.0.2:80 ) < 200ms", false),
        ("max(response_time, address=10.0.0.2:80) <= 301ms", true),
        ("mean(response_time, address=10.0.0.2:80) >= 300ms", true),
        ("failed(address=10.0.0.2:80) / done(address=10.0.0.2:80) < 2%", true),
        ("failed(address=10.0.0.2:80) / done(address=10.0.0.2:80) < 0.9%", false),
        ("error_rate(address=10.0.0.1:80) < 0.1%", true),
        ("done(address=10.0.0.1:80) >= 1000", true),
        ("succeeded(address=10.0.0.2:80) > 494", true),
        ("responses(address=10.0.0.2:80) > 500", false),
    ] {
        let seen = judged(text, &seen);
        assert_eq!((seen.holds, seen.fails, seen.address, seen.lack), (holds, !holds, None, None), "{text}: {seen:?}");
    }
}

#[test]
fn the_worst_address_decides() {
    let seen = nodes(&[(1, 1_000, 0), (300, 500, 5), (20, 100, 0)]);
    for (text, holds, worst) in [
        ("worst_address(p99(response_time)) < 200ms", false, 2),
        (" worst_address ( p99 ) < 400ms", true, 2),
        ("worst_address(failed / done) < 0.9%", false, 2),
        ("worst_address(error_rate) < 2%", true, 2),
        ("worst_address(succeeded / done) > 98%", true, 2),
        ("worst_address(done) >= 100", true, 3),
        ("worst_address(min(response_time)) > 2ms", false, 1),
    ] {
        let seen = judged(text, &seen);
        assert_eq!((seen.holds, seen.fails), (holds, !holds), "{text}: {seen:?}");
        assert_eq!((seen.address, seen.lack), (Some(at(worst)), None), "{text}: {seen:?}");
    }
    assert_eq!(judged("worst_address(failed / done) < 2%", &seen).value, Some(0.01));
}

/// With too few responses of one address, or too many addresses, the worst one is unknown.
#[test]
fn what_cannot_be_compared_is_undecided() {
    let few = AddressLack::FewResponses { address: at(2), answered: 99 };
    let worst = "worst_address(p99) < 1s";
    for (text, seen, lack) in [
        (worst, nodes(&[]), AddressLack::OneAddress),
        (worst, nodes(&[(1, 100, 0), (1, 99, 0)]), few),
        (worst, nodes(&[(1, 100, 0); 65]), AddressLack::TooMany),
        ("done(address=10.0.0.1:80) > 1", nodes(&[]), AddressLack::OneAddress),
        ("failed(address=10.0.0.3:80) < 1", nodes(&[(1, 100, 0), (1, 100, 0)]), AddressLack::Unused),
        ("failed(address=10.0.0.2:80) < 1", nodes(&[(1, 100, 0), (1, 0, 0)]), AddressLack::Unused),
        ("failed(address=10.0.0.1:8080) < 1", nodes(&[(1, 100, 0); 2]), AddressLack::Unused),
        ("failed(address=10.0.0.65:80) < 1", nodes(&[(1, 100, 0); 65]), AddressLack::TooMany),
    ] {
        let seen = judged(text, &seen);
        assert_eq!((seen.holds, seen.fails, seen.value, seen.lack), (false, false, None, Some(lack)), "{text}");
    }
    assert!(judged(worst, &nodes(&[(1, 100, 0); 64])).holds);
}

/// An incomplete exchange may have failed wherever one was sent.
#[test]
fn incomplete_exchanges_are_where_they_were_sent() {
    let mut seen = nodes(&[(1, 1_000, 0), (300, 500, 5)]);
    seen.leave_unfinished(SeriesId::step(0), MILLI, Some(MILLI));
    for (text, holds, fails) in [
        ("failed(address=10.0.0.1:80) < 1", true, false),
        ("failed(address=10.0.0.2:80) < 6", false, false),
        ("failed(address=10.0.0.2:80) < 7", true, false),
        ("failed(address=10.0.0.2:80) < 5", false, true),
        ("max(response_time, address=10.0.0.1:80) < 2ms", true, false),
        ("max(response_time, address=10.0.0.2:80) < 1s", false, false),
        ("worst_address(failed) < 6", false, false),
        ("worst_address(failed) < 7", true, false),
    ] {
        let seen = judged(text, &seen);
        assert_eq!((seen.holds, seen.fails), (holds, fails), "{text}: {seen:?}");
    }
}

#[test]
fn mistakes_by_address_have_their_place() {
    use ThresholdFault as Fault;
    for (text, column, fault) in [
        ("failed(address=10.0.0.4) < 1", 15, Fault::Address),
        ("p99(response_time, address=x) < 1s", 27, Fault::Address),
        ("p99(connect, address=10.0.0.4:80) < 1s", 0, Fault::NotOfAddress),
        ("stdev(response_time, address=10.0.0.4:80) < 1s", 0, Fault::NotOfAddress),
        ("status(503, address=10.0.0.4:80) < 1", 10, Fault::NotOfAddress),
        ("rate(done, address=10.0.0.4:80) > 1/s", 9, Fault::NotOfAddress),
        ("rate(done(address=10.0.0.4:80)) > 1/s", 0, Fault::NotOfAddress),
        ("dropped(address=10.0.0.4:80) < 1", 0, Fault::NotOfAddress),
        ("failed(address=10.0.0.4:80) / started(address=10.0.0.4:80) < 1%", 0, Fault::NotOfAddress),
        ("failed(address=10.0.0.4:80) / done < 1%", 30, Fault::TwoParts),
        ("failed(address=10.0.0.4:80) / done(buy) < 1%", 35, Fault::TwoParts),
        ("worst_address(rate) > 1/s", 0, Fault::NotOfAddress),
        ("worst_address(failed(buy)) < 1", 0, Fault::NotOfAddress),
        ("worst_address(failed(address=10.0.0.4:80)) < 1", 0, Fault::NotOfAddress),
        ("worst_address(worst_address(failed)) < 1", 14, Fault::Figure),
        ("worst_address p99 < 1s", 14, Fault::Parenthesis),
        ("worst_address(p99 < 1s", 18, Fault::Parenthesis),
        ("worst_address(p99) < 1", 22, Fault::TimeUnit),
        ("worst_address(p99) < 1s, abort", 23, Fault::AbortByAddress),
    ] {
        let error = Threshold::parse_of_part(text).expect_err(text);
        assert_eq!((error.column, error.fault), (column, fault), "{text}");
    }
}

/// A search judges all exchanges of a trial, so those of one address are no goal, and no line of a chart.
#[test]
fn an_address_is_no_goal() {
    for text in ["worst_address(p99) < 1s", "worst_address(failed / done) < 1%", "error_rate(address=[::1]:80) < 1%"] {
        let threshold = Threshold::parse_of_part(text).expect(text);
        assert_eq!((threshold.lost_share_max(), threshold.limit_of_time(Measure::Response)), (None, None), "{text}");
        assert!(!threshold.is_of_failures(), "{text}");
    }
}
