//! Actions of peers on held connections, on a network without faults: what they push, and what happens when many are
//! lost at once.

use std::time::Duration;

use driver::{Driver, Event, ListenOptions, Socket, SocketKind, Sockets};
use metrics::Failure;

use super::*;

/// A lost connection is tried again after half of the first pause at least.
const BACK_AFTER_MIN: Nanos = Nanos::from_millis(250);
/// Bytes take 20 to 60 us each way, and ten thousand losses are reported one after the other.
const ON_THE_WAY_MAX: Nanos = Nanos::from_millis(20);

fn flags_of_tcp(count: u64) -> HoldFlags {
    let common =
        Flags { url: Some("tcp://10.0.0.1:80".to_owned()), connections: Some(count.to_string()), ..Flags::default() };
    HoldFlags { common, receive_only: true, reconnect: true, ..HoldFlags::default() }
}

#[test]
fn pushes_are_counted_and_their_gaps_are_those_of_the_server() {
    for seed in 0..5 {
        let (url, connections) = (Some("ws://10.0.0.1/".to_owned()), Some("100".to_owned()));
        let common = Flags { url, connections, ..Flags::default() };
        let story = carry_out(&Scene {
            seed,
            faults: Faults::none(),
            flags: HoldFlags { common, receive_only: true, ..HoldFlags::default() },
            count: 100,
            end_after: Nanos::from_millis(2_000),
            push: Some(Duration::from_millis(300)),
            server_freeze: None,
            own_freeze: None,
        });
        let counts = &story.seen.counts;
        // Six times 300 ms are within the two seconds. The first one of a connection has nothing before it.
        assert_eq!((counts.pushed(), story.seen.gap.count()), (600, 500), "{counts:?}");
        let (least, most) = (story.seen.gap.min().expect("gaps"), story.seen.gap.max().expect("gaps"));
        assert!((299_000_000..301_000_000).contains(&least) && most < 302_000_000, "{least} to {most} ns");
    }
}

/// For connections lost in one instant: when each of them was back, counted from there.
fn back_after(seed: u64, count: u64) -> Vec<Nanos> {
    let network = Network::new(seed, Faults::none());
    let (mut server, mut driver) = (network.add_host(), network.add_host());
    let (server_host, host) = (server.host(), driver.host());
    let address: SocketAddr = "10.0.0.1:80".parse().expect("an address");
    server
        .sockets()
        .listen(&ListenOptions { kind: SocketKind::Stream, on: address, share_port: false })
        .expect("it listens");
    let plan = flags_of_tcp(count).plan().expect("a good plan");
    let job = Arc::new(HoldConfig::new(&plan, EndpointRotation::new(Places::these(&[address]), None), None));
    let mut world = HoldRuntime::new(job, Segment::share(0, 1), driver.sockets());
    world.start_at(driver.now());
    let (mut theirs, mut back): (Vec<Socket>, Vec<Nanos>) = (Vec::new(), Vec::new());
    let mut lost_at = None;
    while (back.len() as u64) < count {
        let next = network.next().expect("something happens");
        if next == server_host {
            if theirs.len() as u64 == count && lost_at.is_none() {
                lost_at = Some(server.now());
                theirs.drain(..).for_each(|socket| server.sockets().close(socket));
            }
            let accepted = |_: &mut dyn Sockets, event: Event<'_>| {
                if let Event::Accepted { socket, .. } = event {
                    theirs.push(socket);
                }
            };
            server.wait(Nanos::NEVER, accepted).expect("the driver works");
            continue;
        }
        assert_eq!(next, host);
        let now = driver.now();
        turn(&mut driver, &mut world, now).expect("the driver works");
        let until = world.next_turn(now);
        world.sleep_until(until);
        driver.wait(until, |sockets, event| world.handle(sockets, event)).expect("the driver works");
        audit(&world);
        let known = count + back.len() as u64;
        for _ in known..world.unreported.counts.established() {
            back.push(network.now().since(lost_at.expect("they were lost before")));
        }
    }
    let counts = &world.unreported.counts;
    assert_eq!((counts.lost_in_all(), counts.retries(), counts.failed_in_all()), (count, count, 0), "{counts:?}");
    assert!(
        metrics::HeldCounts::reasons(&counts.lost)
            .iter()
            .all(|(failure, _)| [Failure::Reset, Failure::ClosedEarly].contains(failure)),
        "{counts:?}"
    );
    world.end(driver.sockets());
    back
}

/// They come back one after the other, not all in one instant: ten thousand a second at the most.
#[test]
fn what_was_lost_at_once_comes_back_one_after_the_other() {
    for (count, spread) in [(100, Nanos::from_millis(500)), (10_000, Nanos::from_millis(1_000))] {
        let back = back_after(count, count);
        assert!(back.is_sorted());
        let (first, last) = (back[0], back[back.len() - 1]);
        assert!(first >= BACK_AFTER_MIN && last <= BACK_AFTER_MIN + spread + ON_THE_WAY_MAX, "{first:?} {last:?}");
        // Each of twenty equal parts of the time has a twentieth of them, give or take chance.
        let part = spread.0 / 20;
        let most = (0..20)
            .map(|place| BACK_AFTER_MIN.0 + place * part)
            .map(|from| back.iter().filter(|at| (from..from + part).contains(&at.0)).count())
            .max();
        assert!(most < Some((count / 20 + 5 * (count / 20).isqrt()) as usize), "{most:?} of {count}");
    }
}
