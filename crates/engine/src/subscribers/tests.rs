use std::thread;

use super::*;

const HOUR: Duration = Duration::from_secs(3_600);

/// The numbers of intervals.
impl Join for Vec<u32> {
    fn join(&mut self, later: &Self) {
        self.extend(later);
    }
}

fn subscribers(hold_up_max: Duration) -> Subscribers<Vec<u32>> {
    Subscribers { all: Vec::new(), hold_up_max }
}

fn notify(subscribers: &mut Subscribers<Vec<u32>>, numbers: std::ops::RangeInclusive<u32>) {
    numbers.for_each(|number| subscribers.notify(vec![number]));
}

/// The numbers, with the counts of skipped and of merged intervals.
fn taken(subscription: &Subscription<Vec<u32>>) -> Vec<(Vec<u32>, u64, u64)> {
    let next = || subscription.try_next().map(|one| (one.row.to_vec(), one.skipped, one.joined));
    std::iter::from_fn(next).collect()
}

#[test]
fn the_latest_have_the_newest_and_know_how_many_were_skipped() {
    let mut all = subscribers(HOUR);
    let (screen, three) = (all.add(Delivery::Latest, 1), all.add(Delivery::Latest, 3));
    assert_eq!(taken(&screen), []);
    notify(&mut all, 1..=5);
    assert_eq!(taken(&screen), [(vec![5], 4, 0)]);
    assert_eq!(taken(&screen), []);
    notify(&mut all, 6..=6);
    assert_eq!(taken(&screen), [(vec![6], 0, 0)]);
    assert_eq!(taken(&three), [(vec![4], 3, 0), (vec![5], 0, 0), (vec![6], 0, 0)]);
}

#[test]
fn a_mailbox_takes_one_at_least() {
    let mut all = subscribers(HOUR);
    let screen = all.add(Delivery::Latest, 0);
    notify(&mut all, 1..=2);
    assert_eq!(taken(&screen), [(vec![2], 1, 0)]);
}

#[test]
fn who_comes_late_hears_what_is_reported_from_then_on() {
    let mut all = subscribers(HOUR);
    notify(&mut all, 1..=3);
    let file = all.add(Delivery::Lossless, 9);
    notify(&mut all, 4..=5);
    assert_eq!(taken(&file), [(vec![4], 0, 0), (vec![5], 0, 0)]);
}

/// It takes nothing: the aggregator is blocked once, and what is emitted then comes as one.
#[test]
fn a_lossless_one_that_is_slow_has_all_of_it_as_one() {
    let mut all = subscribers(HOUR);
    let file = all.add(Delivery::Lossless, 2);
    // The queue has room for these.
    notify(&mut all, 1..=2);
    // It blocks for this long and not for the hour. That the aggregator waits for a subscriber that takes is checked
    // below.
    all.hold_up_max = Duration::from_millis(1);
    notify(&mut all, 3..=3);
    // It would take all day if it blocked the aggregator again.
    all.hold_up_max = HOUR;
    notify(&mut all, 4..=10);
    assert_eq!(taken(&file), [(vec![1], 0, 0), ((2..=10).collect(), 0, 8)]);
    notify(&mut all, 11..=12);
    assert_eq!(taken(&file), [(vec![11], 0, 0), (vec![12], 0, 0)], "it keeps up again");
}

/// A row that two subscribers share is not merged for both.
#[test]
fn what_is_joined_for_one_is_whole_for_others() {
    let mut all = subscribers(Duration::ZERO);
    let (slow, quick) = (all.add(Delivery::Lossless, 1), all.add(Delivery::Lossless, 9));
    notify(&mut all, 1..=3);
    assert_eq!(taken(&slow), [(vec![1, 2, 3], 0, 2)]);
    assert_eq!(taken(&quick), [(vec![1], 0, 0), (vec![2], 0, 0), (vec![3], 0, 0)]);
}

#[test]
fn a_lossless_one_that_takes_misses_nothing() {
    let mut all = subscribers(HOUR);
    let file = all.add(Delivery::Lossless, 1);
    let reader = thread::spawn(move || {
        let mut reported = Vec::new();
        while let Some(one) = file.wait() {
            assert_eq!((one.skipped, one.joined), (0, 0));
            reported.extend(one.row.iter().copied());
        }
        reported
    });
    notify(&mut all, 1..=500);
    drop(all);
    assert_eq!(reader.join().expect("it reads"), (1..=500).collect::<Vec<_>>());
}

/// The aggregator waits for a file, and the screen has the row already. Had it not waited, the file would have both as
/// one.
#[test]
fn one_that_is_held_up_for_holds_up_no_screen() {
    let mut all = subscribers(HOUR);
    let (file, screen) = (all.add(Delivery::Lossless, 1), all.add(Delivery::Latest, 1));
    notify(&mut all, 1..=1);
    assert_eq!(taken(&screen), [(vec![1], 0, 0)]);
    let aggregator = thread::spawn(move || notify(&mut all, 2..=2));
    assert_eq!(screen.wait().map(|one| one.row.to_vec()), Some(vec![2]));
    let next = || file.wait().map(|one| (one.row.to_vec(), one.joined));
    assert_eq!(next(), Some((vec![1], 0)));
    assert_eq!(next(), Some((vec![2], 0)));
    aggregator.join().expect("nobody holds it up");
}

#[test]
fn one_that_is_dropped_holds_up_nobody() {
    for is_dropped_first in [true, false] {
        let mut all = subscribers(HOUR);
        let file = all.add(Delivery::Lossless, 1);
        notify(&mut all, 1..=1);
        let waits = if is_dropped_first {
            drop(file);
            None
        } else {
            Some(thread::spawn(move || drop(file)))
        };
        notify(&mut all, 2..=3);
        if let Some(waits) = waits {
            waits.join().expect("it goes");
        }
        notify(&mut all, 4..=4);
        assert!(all.is_empty());
    }
}

#[test]
fn at_the_end_what_was_reported_can_still_be_taken() {
    for delivery in [Delivery::Lossless, Delivery::Latest] {
        let mut all = subscribers(HOUR);
        let (file, none) = (all.add(delivery, 3), all.add(delivery, 3));
        notify(&mut all, 1..=2);
        let waits = thread::spawn(move || std::iter::from_fn(|| none.wait()).count());
        drop(all);
        assert_eq!(waits.join().expect("it waits"), 2);
        assert_eq!(taken(&file), [(vec![1], 0, 0), (vec![2], 0, 0)]);
        assert!(file.wait().is_none());
    }
}
