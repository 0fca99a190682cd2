use std::sync::mpsc::{Receiver, Sender, channel};

use crate::samples::{interval, plan, snapshot};

use super::*;

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
    queue.end(&last(), Instant::now() + wait);
    queue.finish(&|| false)
}

#[test]
fn everything_arrives_where_somebody_takes_it() {
    let (queue, _heard, answer) = given();
    drop(answer);
    (1..=5).for_each(|number| queue.push(&told(number, number == 3)));
    assert_eq!(end(queue, Duration::from_secs(5)), Tally { delivered: 4, left_out: 0, fault: None });
}

#[test]
fn a_far_end_that_hangs_costs_what_finds_no_room() {
    let (queue, heard, _answer) = given();
    queue.push(&told(1, false));
    heard.recv().expect("it is sent");
    let began = Instant::now();
    (2..=100).for_each(|number| queue.push(&told(number, false)));
    assert!(began.elapsed() < Duration::from_secs(1), "nobody waits");
    let tally = end(queue, Duration::from_millis(100));
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
    let tally = end(queue, Duration::from_secs(5));
    assert_eq!((tally.delivered, tally.left_out, tally.fault), (1, 1, Some(Fault::Status(400, String::new()))));
}

#[test]
fn what_failed_for_a_time_arrives_later() {
    let (queue, heard, answer) = given();
    queue.push(&told(1, false));
    heard.recv().expect("it is sent");
    // The far end asks for a minute; the end of the run is sooner, and there is one more try.
    answer.send(Err(Trouble::Later(Fault::TimedOut, Some(Duration::from_secs(60))))).expect("an answer");
    drop(answer);
    queue.push(&told(2, false));
    assert_eq!(end(queue, Duration::from_secs(5)), Tally { delivered: 2, left_out: 0, fault: None });
}

#[test]
fn nobody_waits_longer_than_people_do() {
    let (queue, heard, _answer) = given();
    queue.push(&told(1, false));
    heard.recv().expect("it is sent");
    let began = Instant::now();
    queue.end(&last(), began + Duration::from_secs(60));
    assert_eq!(queue.finish(&|| true).left_out, 1);
    assert!(began.elapsed() < Duration::from_secs(20));
}
