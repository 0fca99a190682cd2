//! StatsD: a listener that sums what comes.

use std::collections::BTreeMap;
use std::net::UdpSocket;

use super::{exported, run_scenario};
use crate::Served;

/// The sums of counters by name and tags, of all received datagrams. Those of a program that has ended are there: on
/// the loopback interface a packet is copied from one buffer to the other.
pub(super) fn sums(socket: &UdpSocket) -> BTreeMap<String, u64> {
    socket.set_nonblocking(true).expect("a socket");
    let (mut sums, mut buffer, mut longest) = (BTreeMap::new(), vec![0; 65_536], 0);
    while let Ok(length) = socket.recv(&mut buffer) {
        longest = longest.max(length);
        for line in std::str::from_utf8(&buffer[..length]).expect("UTF-8").lines() {
            let (name, rest) = line.split_once(':').expect("a name");
            let mut parts = rest.split('|');
            let (value, kind) = (parts.next().expect("a value"), parts.next().expect("a kind"));
            if kind == "c" {
                let key = format!("{name}{}", parts.next().unwrap_or_default());
                *sums.entry(key).or_insert(0) += value.parse::<u64>().expect("a count");
            }
        }
    }
    // The size that fits into one packet on any route.
    assert!(longest <= 1_232, "{longest}");
    sums
}

#[test]
fn counters_add_up() {
    for (kind, good, bad) in [
        ("statsd", "onrush.requests.买家.登录___a__b_c_d.succeeded", "onrush.requests.买家.broken.failed"),
        (
            "dogstatsd",
            "onrush.requests#scenario:买家,step:登录_ \"a\" b=c_d,outcome:succeeded",
            "onrush.requests#scenario:买家,step:broken,outcome:failed",
        ),
    ] {
        let served = Served::start();
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let to = format!("{kind}={}", socket.local_addr().expect("an address"));
        let report = run_scenario(&served, kind, &to);
        assert_eq!(exported(&report, kind)["left_out"], 0);
        let sums = sums(&socket);
        assert_eq!((sums.get(good), sums.get(bad)), (Some(&100), Some(&100)), "{sums:?}");
    }
}
