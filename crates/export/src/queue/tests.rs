use std::cell::Cell;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::samples::{interval, plan, snapshot};

use super::*;

/// More than any test waits for: what ends before it does not wait for it.
const HOUR: Duration = Duration::from_secs(3_600);

/// A backend whose responses a test gives; it reports the number of batches that it was sent.
struct Given {
    sent: Sender<usize>,
    responses: Receiver<Result<(), DeliveryError>>,
}

impl Sink for Given {
    fn send(&mut self, batch: &[Arc<Batch>], _wait: Duration) -> Result<(), DeliveryError> {
        self.sent.send(batch.len()).expect("the test hears");
        self.responses.recv().unwrap_or(Ok(()))
    }
}

fn reported(number: u64, is_update: bool) -> Arc<Batch> {
    let interval = interval(&plan(&["one"]), number, &snapshot(1, 1, 0), is_update);
    Arc::new(Batch {
        interval: Some(Arc::new(interval)),
        held: None,
        totals: Totals::default(),
        at_unix: Duration::from_secs(number),
    })
}

fn last() -> Arc<Batch> {
    Arc::new(Batch { interval: None, held: None, totals: Totals::default(), at_unix: Duration::ZERO })
}

fn given() -> (Queue, Receiver<usize>, Sender<Result<(), DeliveryError>>) {
    let ((sent, received), (response, responses)) = (channel(), channel());
    (Queue::start("test", Given { sent, responses }).expect("a thread"), received, response)
}

fn end(queue: Queue, wait: Duration) -> IntervalTally {
    queue.end(&last(), Deadline::after(wait));
    queue.finish(&|| false)
}

#[test]
fn everything_arrives_where_somebody_takes_it() {
    let (queue, _received, response) = given();
    drop(response);
    (1..=5).for_each(|number| queue.push(&reported(number, number == 3)));
    assert_eq!(end(queue, HOUR), IntervalTally { delivered: 4, left_out: 0, fault: None });
}

#[test]
fn a_far_end_that_hangs_costs_what_finds_no_room() {
    let (queue, received, _response) = given();
    queue.push(&reported(1, false));
    received.recv().expect("it is sent");
    // The backend does not respond before all are pushed: that they are pushed proves that the producer never waits for
    // it.
    (2..=100).for_each(|number| queue.push(&reported(number, false)));
    let tally = end(queue, Duration::from_millis(1));
    assert_eq!((tally.delivered, tally.left_out), (0, 100));
    assert_eq!(tally.fault, Some(DeliveryFault::TimedOut));
}

#[test]
fn what_is_refused_is_not_sent_again() {
    let (queue, received, response) = given();
    queue.push(&reported(1, false));
    received.recv().expect("it is sent");
    response.send(Err(DeliveryError::Never(DeliveryFault::Status(400, String::new())))).expect("an answer");
    drop(response);
    queue.push(&reported(2, false));
    let tally = end(queue, HOUR);
    assert_eq!((tally.delivered, tally.left_out, tally.fault), (1, 1, Some(DeliveryFault::Status(400, String::new()))));
}

#[test]
fn what_failed_for_a_time_arrives_later() {
    let (queue, received, response) = given();
    queue.push(&reported(1, false));
    received.recv().expect("it is sent");
    // The backend requests a minute; the end of the run is sooner, and there is one more attempt.
    response.send(Err(DeliveryError::Later(DeliveryFault::TimedOut, Some(REQUESTED_PAUSE_MAX)))).expect("an answer");
    drop(response);
    queue.push(&reported(2, false));
    assert_eq!(end(queue, HOUR), IntervalTally { delivered: 2, left_out: 0, fault: None });
}

#[test]
fn the_end_cuts_a_pause() {
    let shared = Shared::default();
    // Only its time ends this pause.
    rest(&shared, shared.lock(), Duration::from_millis(1), false);
    shared.lock().end_by = Some(Deadline::after(HOUR));
    rest(&shared, shared.lock(), HOUR, false);
    // The end was known already when the attempt failed.
    rest(&shared, shared.lock(), Duration::from_millis(1), true);
    shared.lock().is_done = true;
    rest(&shared, shared.lock(), HOUR, true);
}

#[test]
fn nobody_waits_longer_than_people_do() {
    let (queue, received, _response) = given();
    queue.push(&reported(1, false));
    received.recv().expect("it is sent");
    queue.end(&last(), Deadline::after(HOUR));
    let looks = Cell::new(0);
    let has_enough = || looks.replace(looks.get() + 1) == 2;
    assert_eq!(queue.finish(&has_enough).left_out, 1);
    assert_eq!(looks.get(), 3, "it was asked until it had enough");
}
