use std::net::SocketAddr;

use figures::Interval;
use metrics::{AddressSlots, Snapshot};

use super::*;
use crate::samples::{interval, plan, snapshot};
use crate::totals::Totals;

fn at(number: u16) -> SocketAddr {
    ([10, 0, (number >> 8) as u8, number as u8], 80).into()
}

/// A snapshot with this many addresses, each with a failure, and as many requests as its number.
fn seen(count: u16) -> Snapshot {
    let (mut seen, mut slots) = (snapshot(1, 10, 2), AddressSlots::default());
    for number in 1..=count {
        let slot = slots.slot(at(number));
        let tally = seen.by_address.at(slot, &slots);
        tally.established += 1;
        tally.sent += u64::from(number);
        tally.answered += u64::from(number);
        tally.failed += 1;
        tally.response.record_many(1_000_000, number.into());
    }
    seen
}

fn reported(count: u16) -> (Interval, Totals) {
    let interval = interval(&plan(&["one"]), 1, &seen(count), false);
    let mut totals = Totals::default();
    totals.add(&interval);
    (interval, totals)
}

#[test]
fn each_format_has_the_counts_of_each_address() {
    let (interval, totals) = reported(2);
    let text = crate::prometheus::text(&totals, crate::prometheus::Style::Plain);
    for line in [
        "onrush_address_connections_total{address=\"10.0.0.1:80\"} 1\n",
        "onrush_address_requests_total{address=\"10.0.0.2:80\"} 2\n",
        "onrush_address_responses_total{address=\"10.0.0.2:80\"} 2\n",
        "onrush_address_failures_total{address=\"10.0.0.1:80\"} 1\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let text = crate::influx::totals(&totals, 7);
    let line = "onrush_addresses,address=10.0.0.2:80 \
                total_connections=1i,total_requests=2i,total_responses=2i,total_failures=1i 7\n";
    assert!(text.contains(line), "{text}");
    for (has_tags, line) in
        [(true, "onrush.address_requests:2|c|#address:10.0.0.2:80"), (false, "onrush.address_requests.10_0_0_2_80:2|c")]
    {
        let datagrams = crate::statsd::Sent::default().datagrams(&totals, None, has_tags);
        assert!(datagrams.iter().any(|datagram| datagram.text.lines().any(|known| known == line)), "{datagrams:?}");
    }
    let lines = crate::csv::lines(&interval, &Totals::default(), &totals);
    let rows: Vec<Vec<&str>> = lines.lines().map(|line| line.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{lines}");
    let own: Vec<_> = rows.iter().filter(|row| row[4] == "address").map(|row| [row[6], row[7], row[8]]).collect();
    assert_eq!(own, [["10.0.0.1:80", "0", "1"], ["10.0.0.2:80", "1", "1"]]);
}

/// A line of CSV has what is new.
#[test]
fn lines_have_increments_by_address() {
    let (interval, before) = reported(2);
    let lines = crate::csv::lines(&interval, &before, &before);
    assert!(lines.contains(",address,,10.0.0.2:80,0,0,"), "{lines}");
}

#[test]
fn one_address_has_no_series() {
    let (interval, totals) = reported(0);
    let texts = [
        crate::prometheus::text(&totals, crate::prometheus::Style::Plain),
        crate::influx::totals(&totals, 7),
        crate::csv::lines(&interval, &Totals::default(), &totals),
    ];
    texts.iter().for_each(|text| assert!(!text.contains("_address") && !text.contains(",address"), "{text}"));
}

/// However many addresses there are, the number of series is limited, and nothing is left out.
#[test]
fn many_addresses_have_one_series() {
    let (_, mut totals) = reported(200);
    let sums = |totals: &Totals| -> u64 { totals.addresses.iter().map(|one| one.sent).sum() };
    assert_eq!((totals.addresses.len(), sums(&totals)), (ADDRESSES_MAX + 1, 20_100));
    assert_eq!(totals.addresses[ADDRESSES_MAX].address, OTHERS);
    // A counter does not fall.
    totals.add(&interval(&plan(&["one"]), 2, &seen(3), false));
    assert_eq!((totals.addresses.len(), sums(&totals)), (ADDRESSES_MAX + 1, 20_100));
}
