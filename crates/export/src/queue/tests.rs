use std::cell::Cell;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::samples::{interval, plan, snapshot};

use super::*;

/// More than any test waits for: what ends before it does not wait for it.
const HOUR: Duration = Duration::from_secs(3_600);

/// A far end whose answers a test gives; it tells how much it was sent.
struct Given {
    sent: Sender<usize>,
    answers: Receiver<Result<(), Trouble>>,
}

impl Sink for Given {
    fn send(&mut self, batch: &[Arc<Told>], _wait: Duration) -> Result<(), Trouble> {
        self.sent.send(batch.len()).expect("the test hears");
        self.answers.recv().unwrap_or(Ok(()))
    }
}

fn told(number: u64, is_again: bool) -> Arc<Told> {
    let interval = interval(&plan(&["one"]), number, &snapshot(1, 1, 0), is_again);
    Arc::new(Told {
        interval: Some(Arc::new(interval)),
        held: None,
        totals: Totals::default(),
        at_unix: Duration::from_secs(number),
    })
}

fn last() -> Arc<Told> {
    Arc::new(Told { interval: None, held: None, totals: Totals::default(), at_unix: Duration::ZERO })
}

fn given() -> (Queue, Receiver<usize>, Sender<Result<(), Trouble>>) {
    let ((sent, heard), (answer, answers)) = (channel(), channel());
    (Queue::start("test", Given { sent, answers }).expect("a thread"), heard, answer)
}

fn end(queue: Queue, wait: Duration) -> Tally {
    queue.end(&last(), Deadline::after(wait));
    queue.finish(&|| false)
}

#[test]
fn everything_arrives_where_somebody_takes_it() {
    let (queue, _heard, answer) = given();
    drop(answer);
    (1..=5).for_each(|number| queue.push(&told(number, number == 3)));
    assert_eq!(end(queue, HOUR), Tally { delivered: 4, left_out: 0, fault: None });
}

#[test]
fn a_far_end_that_hangs_costs_what_finds_no_room() {
    let (queue, heard, _answer) = given();
    queue.push(&told(1, false));
    heard.recv().expect("it is sent");
    // The far end gives no answer before all are pushed: that they are is the proof that nobody waits for it.
    (2..=100).for_each(|number| queue.push(&told(number, false)));
    let tally = end(queue, Duration::from_millis(1));
    assert_eq!((tally.delivered, tally.left_out), (0, 100));
    assert_eq!(tally.fault, Some(Fault::TimedOut));
}

#[test]
fn what_is_refused_is_not_sent_again() {
    let (queue, heard, answer) = given();
    queue.push(&told(1, false));
    heard.recv().expect("it is sent");
    answer.send(Err(Trouble::Never(Fault::Status(400, String::new())))).expect("an answer");
    drop(answer);
    queue.push(&told(2, false));
    let tally = end(queue, HOUR);
    assert_eq!((tally.delivered, tally.left_out, tally.fault), (1, 1, Some(Fault::Status(400, String::new()))));
}

#[test]
fn what_failed_for_a_time_arrives_later() {
    let (queue, heard, answer) = given();
    queue.push(&told(1, false));
    heard.recv().expect("it is sent");
    // The far end asks for a minute; the end of the run is sooner, and there is one more try.
    answer.send(Err(Trouble::Later(Fault::TimedOut, Some(ASKED_PAUSE_MAX)))).expect("an answer");
    drop(answer);
    queue.push(&told(2, false));
    assert_eq!(end(queue, HOUR), Tally { delivered: 2, left_out: 0, fault: None });
}

#[test]
fn the_end_cuts_a_pause() {
    let shared = Shared::default();
    // Nothing ends this one but its time.
    rest(&shared, shared.lock(), Duration::from_millis(1), false);
    shared.lock().end_by = Some(Deadline::after(HOUR));
    rest(&shared, shared.lock(), HOUR, false);
    // The end was known already when the try failed.
    rest(&shared, shared.lock(), Duration::from_millis(1), true);
    shared.lock().is_done = true;
    rest(&shared, shared.lock(), HOUR, true);
}

#[test]
fn nobody_waits_longer_than_people_do() {
    let (queue, heard, _answer) = given();
    queue.push(&told(1, false));
    heard.recv().expect("it is sent");
    queue.end(&last(), Deadline::after(HOUR));
    let looks = Cell::new(0);
    let has_enough = || looks.replace(looks.get() + 1) == 2;
    assert_eq!(queue.finish(&has_enough).left_out, 1);
    assert_eq!(looks.get(), 3, "it was asked until it had enough");
}
