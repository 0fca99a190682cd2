//! The report of `onrush hold` compared with the records of the server.

use std::time::Duration;

use serde_json::Value;

use crate::cells::{EVERY, End, Load, STOP, TIMEOUT, USERS};
use crate::complaints::Complaints;
use crate::run::Ran;

/// Interval between two samples of a loop's lag: a loop that stops between them is late by up to so much more.
const SAMPLED_EVERY: Duration = Duration::from_millis(50);
/// The lag up to which a loop is in time.
const LAG: Duration = Duration::from_millis(1);
const PERCENTILES: [(&str, f64); 6] =
    [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999), ("max", 1.0)];

pub(crate) fn check(ran: &Ran, wrong: &mut Complaints) {
    counts(ran, wrong);
    end(ran, wrong);
    times(ran, wrong);
    intervals(ran, wrong);
}

fn counts(ran: &Ran, wrong: &mut Complaints) {
    let connection = |name: &str| ran.count(&format!("/connections/{name}"));
    let message = |name: &str| ran.count(&format!("/messages/{name}"));
    let [tried, established, failed, lost, closed, abandoned] =
        ["tried", "established", "failed", "lost", "closed", "abandoned"].map(connection);
    let [due, missed, unsent, sent, answered, unanswered, refused] =
        ["due", "missed", "unsent", "sent", "answered", "unanswered", "refused"].map(message);
    let (complete, written, good) = (ran.books.complete(), ran.books.written(), ran.books.good());
    let accepted = ran.books.links.len() as u64;
    let shaken = ran.books.links.iter().filter(|link| link.is_established).count() as u64;
    let there = if ran.cell.load == Load::HoldWebSocket { shaken } else { accepted };
    let ours = format!(
        "tried {tried}, established {established}, failed {failed}, lost {lost}, closed {closed}, \
         abandoned {abandoned}; due {due}, missed {missed}, unsent {unsent}, sent {sent}, answered {answered}, \
         unanswered {unanswered}, refused {refused}"
    );
    let theirs = format!("the server has {there} connections, {complete} messages, {written} answers, {good} good");
    let mut must = |holds: bool, what: &str| wrong.unless(holds, || format!("{what}: {ours}; {theirs}"));
    must(tried == USERS && tried == established + failed + abandoned, "the sum of the connections");
    must(due == unsent + sent, "due = unsent + sent");
    must(sent == answered + unanswered + refused, "sent = answered + unanswered + refused");
    must(answered <= written && answered <= complete && complete <= sent, "answered <= messages that came <= sent");
    let end = ran.cell.end;
    if end != End::TooManyFailures {
        must(established == USERS && there == USERS, "all were there");
        must(due > 0, "messages were due");
    }
    match end {
        End::Time | End::CtrlC | End::WholeStopped | End::ThreadStopped => {
            must(lost == 0 && closed == USERS, "none was lost");
            must([answered, written, complete] == [sent; 3], "nothing was cut, and the counts differ");
            // A loop that is late across the closing owes the last message of each connection, and those that fell due
            // in its lag.
            let lag = Duration::from_nanos(ran.count("/times/loop_lag/max_ns"));
            let late = lag + SAMPLED_EVERY;
            let owed = USERS * (1 + (late.as_nanos() / EVERY.as_nanos()) as u64);
            must(unsent <= owed, "messages were not sent, and no lag explains it");
        }
        End::FrozenReading | End::FrozenDeaf | End::CtrlCTwice => {
            must(complete == sent, "all that was sent had come");
            must(unanswered + written >= complete, "what it holds has no answer");
        }
        End::Drops => {
            must(complete == sent && answered == written, "what it did not drop was answered");
            must(lost == ran.books.taken_and_dropped(), "each drop loses a connection");
        }
        End::DiesWithReset | End::DiesWithFin | End::Refuses => must(lost == USERS, "all were lost"),
        End::TooManyFailures => must(failed == USERS && sent == 0, "all were refused"),
        End::Count | End::Abort => {}
    }
    // The number of due messages follows from the plan, whatever delayed us: each connection sends from when it is open
    // to the closing, which is the span of the plan plus the time of the opening.
    if matches!(end, End::Time | End::WholeStopped | End::ThreadStopped) {
        let rounds = |seconds: f64| seconds / EVERY.as_secs_f64();
        let [opened, closing] = ["/opened_after_s", "/closing_after_s"].map(|path| ran.number(path));
        let span = if end == End::Time { ran.cell.span().as_secs_f64() } else { closing - opened };
        let [least, most] = [span, closing].map(rounds);
        let each = (due + missed) as f64 / USERS as f64;
        must((least - 1.0..=most + 1.0).contains(&each), "each connection speaks once in its time");
    }
}

fn end(ran: &Ran, wrong: &mut Complaints) {
    let end = ran.cell.end;
    let (is_kept, said) = (&ran.report["verdict"]["is_kept"], &ran.report["verdict"]["text"]);
    let code = match end {
        _ if end.is_by_signal() => 130,
        End::TooManyFailures => 3,
        // A hold that is unreliable may be called kept or not.
        _ => i32::from(*is_kept == false),
    };
    wrong.unless(ran.code == Some(code), || format!("exit code {:?}, not {code}: {}", ran.code, ran.errors.trim()));
    let stopped = &ran.report["stopped"];
    wrong.unless(*stopped == end.is_by_signal(), || format!("stopped is {stopped}"));
    wrong.unless(!end.is_targets() || *is_kept == false, || format!("is_kept after {end:?}: {said}"));
    let lines = || said.as_str().unwrap_or_default().lines();
    // A stopped hold has no such verdict yet.
    let was_well = lines().any(|line| line.contains("none was lost"));
    wrong.unless(!end.is_targets() || !was_well, || format!("all was well after {end:?}: {said}"));
    let is_accused = lines().any(|line| line.contains("generator"));
    wrong.unless(end != End::Time || *is_kept == true || is_accused, || {
        format!("not is_kept, nothing was done, and nobody is accused: {said}")
    });
    wrong.unless(!end.is_ours() || is_accused, || format!("the generator is not accused after {end:?}: {said}"));
    // If the generator is named as the bottleneck, a loop or a message was late.
    let (lag, late) = (Duration::from_nanos(ran.count("/times/loop_lag/max_ns")), ran.count("/messages/late"));
    wrong.unless(!is_accused || lag > LAG || late > 0, || {
        format!("the generator is accused, and its lag was {lag:?}: {said}")
    });
}

fn times(ran: &Ran, wrong: &mut Complaints) {
    let ended = ran.ended_after();
    let mut held: Vec<Duration> = Vec::new();
    let mut incomplete: Vec<Duration> = Vec::new();
    for exchange in &ran.books.exchanges {
        match exchange.response_begun.filter(|_| exchange.answered.is_some()) {
            Some(begun) => held.push(begun.duration_since(exchange.first_byte)),
            None => incomplete.push(ended.saturating_duration_since(exchange.head).min(TIMEOUT)),
        }
    }
    let answered = ran.count("/messages/answered") as usize;
    let unanswered = ran.count("/messages/unanswered") as usize;
    let unsent = ran.count("/messages/unsent") as usize;
    if answered == 0 {
        return;
    }
    held.sort_unstable();
    held.truncate(answered);
    // Messages that a frozen server never read, or that were lost with their connection, count as a wait of zero.
    incomplete.truncate(if matches!(ran.cell.end, End::FrozenReading | End::CtrlCTwice) { unanswered } else { 0 });
    incomplete.resize(unanswered, Duration::ZERO);
    // A message that was due and never sent waited too, but had no service; each way to count it is valid.
    let never_left = vec![Duration::ZERO; unsent];
    let ways = [vec![], incomplete.clone(), [incomplete.as_slice(), &never_left].concat()];
    let first_way = usize::from(matches!(ran.cell.end, End::FrozenReading | End::FrozenDeaf));
    let ways: Vec<Vec<Duration>> = ways[first_way..]
        .iter()
        .map(|censored| {
            let mut all = [held.as_slice(), censored].concat();
            all.sort_unstable();
            all
        })
        .collect();
    for measure in ["response_time", "service_time"] {
        let known = &ran.report["times"][measure];
        // Incomplete exchanges are counted separately.
        let seen = if known["with_incomplete"].is_null() { known } else { &known["with_incomplete"] };
        let bounds: Vec<&str> =
            seen["at_least"].as_array().into_iter().flatten().filter_map(|one| one.as_str()).collect();
        for (name, quantile) in PERCENTILES {
            let Some(value) = seen[format!("{name}_ns")].as_u64().map(Duration::from_nanos) else { continue };
            let rank = |all: &Vec<Duration>| ((quantile * all.len() as f64).ceil() as usize).clamp(1, all.len());
            let least = ways.iter().map(|all| all[rank(all) - 1]).min().unwrap_or_default();
            wrong.unless(value.mul_f64(1.001) >= least, || {
                format!("{measure} {name} is {value:?}, and by the server's clock at least {least:?}")
            });
            let is_bound = bounds.contains(&name);
            let is_hidden: Vec<bool> = ways.iter().map(|all| rank(all) > answered).collect();
            let expected = is_hidden.contains(&true);
            // One that waited less than this percentile moves its rank by one, and that makes a bound, too.
            let is_moved = is_bound && unanswered + unsent > 0;
            wrong.unless(is_moved || is_hidden.contains(&is_bound), || {
                format!(
                    "{measure}: {name} in at_least should be {expected}: \
                     {answered} answered, {unanswered} not, {unsent} unsent"
                )
            });
        }
    }
    ours(ran, wrong);
}

/// A generator stall is in the lag of the loops, and messages that were due in it waited.
fn ours(ran: &Ran, wrong: &mut Complaints) {
    if !ran.cell.end.is_ours() {
        return;
    }
    let figure = |path: &str| Duration::from_nanos(ran.count(path));
    let least = STOP - EVERY;
    for path in ["/times/loop_lag/max_ns", "/times/response_time/max_ns"] {
        let value = figure(path);
        wrong.unless(value >= least, || format!("{path} is {value:?}; we were stopped for {STOP:?}"));
    }
    if ran.cell.end == End::WholeStopped {
        // In each `EVERY` of the stall each connection had a message due: by their number, the tenth that waited
        // longest fell due in the first of these.
        let rounds = (0.1 * ran.count("/messages/due") as f64 / USERS as f64).ceil() as u32;
        let (p90, least) = (figure("/times/response_time/p90_ns"), STOP.saturating_sub(EVERY * (rounds + 1)));
        wrong.unless(p90.mul_f64(1.001) >= least, || {
            format!("p90 of the response time is {p90:?}; by arithmetic at least {least:?}")
        });
    }
}

fn intervals(ran: &Ran, wrong: &mut Complaints) {
    let intervals = ran.report["intervals"].as_array().cloned().unwrap_or_default();
    for (place, names) in [
        ("/connections", &["established", "failed", "lost"][..]),
        ("/messages", &["due", "missed", "unsent", "sent", "answered", "unanswered", "refused"]),
    ] {
        for name in names {
            let of = |interval: &Value| match place {
                "/messages" => interval["messages"][name].as_u64(),
                _ => interval[name].as_u64(),
            };
            let sum: u64 = intervals.iter().filter_map(of).sum();
            let total = ran.count(&format!("{place}/{name}"));
            wrong.unless(sum == total, || format!("{name} of the intervals add up to {sum}, not {total}"));
        }
    }
    for interval in &intervals {
        let (to_s, open) = (interval["to_s"].as_f64().unwrap_or(0.0), interval["open"].as_u64().unwrap_or(0));
        wrong.unless(open <= USERS, || format!("{open} connections of {USERS} are open at {to_s:.3} s"));
    }
}
