//! The counts of the report compared with those of the server, the end of the run, and its verdict.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cells::{End, Load, STEPS, USERS};
use crate::complaints::Complaints;
use crate::run::Ran;

/// The report has instants as fractions of seconds.
const ROUNDED: Duration = Duration::from_micros(1);
/// The lateness of a thread that still counts as in time: of a loop at its clock, and of starts when they are taken up.
const LAG_NS: u64 = 1_000_000;
const LATENESS_NS: u64 = 9_000_000;
/// Starts that wait for longer than this show that the target did not keep up.
const WAIT_NS: u64 = 10_000_000;

const SUMMED: [&str; 5] = ["started", "succeeded", "failed", "dropped", "unfinished"];

pub(crate) fn counts(ran: &Ran, wrong: &mut Complaints) {
    let [started, succeeded, failed, dropped, unfinished] = SUMMED.map(|name| ran.requests(name));
    let [attempts, sent, responses, reconnects] =
        ["attempts", "sent", "responses", "reconnects"].map(|name| ran.requests(name));
    let (complete, written, good) = (ran.books.complete(), ran.books.written(), ran.books.good());
    let ours = format!(
        "started {started}, succeeded {succeeded}, failed {failed}, dropped {dropped}, unfinished {unfinished}, \
         attempts {attempts}, sent {sent}, answers {responses}, reconnects {reconnects}"
    );
    let theirs = format!("the server has {complete} complete requests, wrote {written} answers, {good} of them good");
    let mut must = |holds: bool, what: &str| wrong.unless(holds, || format!("{what}: {ours}; {theirs}"));
    must(started > 0, "nothing was started");
    must(started == succeeded + failed + dropped + unfinished, "the sum is not what was started");
    must(responses <= complete && complete <= sent, "answers <= complete requests <= sent");
    must(responses <= written, "more answers than were written");
    must(succeeded <= good, "more successes than good answers");
    must(sent <= attempts, "more sent than tried");
    let (end, load) = (ran.cell.end, ran.cell.load);
    // All requests on the streams of a connection are lost with it; they may be sent again where the server permits it.
    let is_shared = load == Load::Streams;
    // Streams bring requests whether or not others have a response.
    must(is_shared || succeeded >= ran.books.good_and_read(), "a good answer that was read is a success");
    if end.cuts_nothing() {
        must(failed + dropped + unfinished == 0, "every request was answered");
        must([responses, complete, written, good, succeeded] == [sent; 5], "nothing was cut, and the counts differ");
    }
    if end == End::Count && !load.has_steps() {
        must(started == ran.cell.count(), "the count of the plan");
    }
    if load.plans_each_start() && end == End::Time {
        let planned = load.intended_in(ran.cell.span()) as u64;
        must(started == planned, "the starts are the integral of the rate");
    }
    if load.plans_each_start() && end.is_by_signal() {
        // The first start comes at once. A thread that learned of the end before the others has started fewer.
        let most = load.intended_in(Duration::from_secs_f64(ran.number("/planned_s"))) as u64 + 1;
        must(started <= most, "no more starts than the integral of the rate");
    }
    match end {
        End::Abort => {
            must([responses, complete, written] == [sent; 3] && succeeded == good, "all were answered");
            must(failed == written - good, "failures are the wrong answers");
        }
        End::CtrlCTwice => {
            must(complete == sent, "all that was sent had come");
            must(failed + dropped == 0, "what was in flight is unfinished");
            must(unfinished > 0, "something was in flight");
        }
        End::FrozenReading | End::FrozenDeaf => {
            must(complete == sent && reconnects == 0, "all that was sent had come, once");
            // A request with a response before the freeze succeeded, timed out before that, or was incomplete at the
            // end.
            must(good <= succeeded + failed + unfinished, "a good answer is missing");
            must(failed == ran.failed_by("timeout") + ran.failed_by("connect-timeout"), "the others timed out");
            must(complete <= written + failed + unfinished, "what it holds timed out or is unfinished");
        }
        End::Drops if !is_shared => {
            let begun = ran.requests("begun_before");
            must(
                complete == sent && reconnects == begun,
                "a request that the server took is sent again as one that it may have begun",
            );
            must(succeeded == good, "what it did not drop succeeded");
            let dropped = ran.books.taken_and_dropped();
            must(failed + unfinished + reconnects == dropped, "what it dropped failed, or was sent again");
        }
        End::TooManyFailures => {
            must(sent + responses + succeeded == 0, "nobody was there");
            must(failed == ran.failed_by("connect-refused"), "all were refused");
        }
        _ => {}
    }
    fields(ran, wrong);
}

/// Figures that follow from others.
fn fields(ran: &Ran, wrong: &mut Complaints) {
    let [started, succeeded, _, _, unfinished] = SUMMED.map(|name| ran.requests(name));
    let is_cut = ran.cell.end == End::CtrlCTwice;
    if wrong.field(ran, "/requests/aborted").is_some() {
        let (cut, expected) = (ran.requests("aborted"), if is_cut { unfinished } else { 0 });
        wrong.unless(cut == expected, || format!("{cut} were cut, not {expected}, of {unfinished} unfinished"));
    }
    let cut = if is_cut { unfinished } else { 0 };
    let ratio = ran.report.pointer("/requests/success_ratio").and_then(Value::as_f64);
    let of = started - cut;
    let expected = (of > 0).then(|| succeeded as f64 / of as f64);
    let is_near = |one: f64, other: f64| (one - other).abs() <= 1e-6 + 1e-3 * other.abs();
    let agrees = ratio.zip(expected).map_or(ratio == expected, |(ratio, expected)| is_near(ratio, expected));
    wrong.unless(agrees, || format!("success_ratio {ratio:?} is not {succeeded} / {of} = {expected:?}"));
    if let Some(answered) = wrong.field(ran, "/requests/success_ratio_of_completed").and_then(Value::as_f64) {
        wrong.unless(answered <= 1.0 && answered + 1e-6 >= ratio.unwrap_or(0.0), || {
            format!("success_ratio_of_completed {answered} beside success_ratio {ratio:?}")
        });
    }
    if ran.cell.load.has_steps() && wrong.field(ran, "/requests/iterations").is_some() {
        let [completed, cut] = ["completed", "aborted"].map(|name| ran.count(&format!("/requests/iterations/{name}")));
        let [least, most] = [completed * STEPS, completed * STEPS + cut * (STEPS - 1)];
        wrong.unless(!ran.cell.end.cuts_nothing() || (least..=most).contains(&started), || {
            format!("{completed} iterations completed and {cut} cut do not make {started} requests")
        });
        wrong.unless(ran.cell.end != End::Count || cut == 0, || format!("{cut} iterations were cut by the count"));
    }
    if ran.cell.end.is_ours() && wrong.field(ran, "/requests/stall_affected").is_some() {
        let stall_affected = ran.requests("stall_affected");
        wrong.unless((1..=succeeded).contains(&stall_affected), || {
            format!("{stall_affected} of {succeeded} overlapped our stall of a second")
        });
    }
    if ran.cell.load.plans_each_start() && wrong.field(ran, "/achieved_per_s").is_some() {
        let (planned_s, achieved) = (ran.number("/planned_s"), ran.number("/achieved_per_s"));
        let dropped = ran.requests("dropped");
        let (own, requested) = ((started - dropped) as f64 / planned_s, ran.number("/requested_per_s"));
        // The start at the instant 0 is one more than the rate makes in a time that was cut off.
        let expected = if ran.report["stopped"] == true { own.min(requested) } else { own };
        wrong.unless(planned_s > 0.0 && is_near(achieved, expected), || {
            format!("achieved {achieved}/s is not ({started} - {dropped}) / {planned_s} s = {own}/s, of {requested}/s")
        });
    }
}

/// No start is due after the process has exited. That a run of an hour has ended proves that it was stopped or aborted.
pub(crate) fn end(ran: &Ran, wrong: &mut Complaints) {
    if ran.cell.load.plans_each_start() {
        let most = ran.cell.load.intended_in(ran.exited.duration_since(ran.spawned)) as u64 + 1;
        let started = ran.requests("started");
        wrong.unless(started <= most, || format!("{started} were started, at most {most} were due by the exit"));
    }
}

/// The exit code, whether it was stopped, and the named bottleneck.
pub(crate) fn verdict(ran: &Ran, wrong: &mut Complaints) {
    let (end, load) = (ran.cell.end, ran.cell.load);
    let failed = ran.requests("failed") + ran.requests("dropped");
    // Messages are checked with `--expect-body`.
    let is_checked = matches!(load, Load::WebSocket | Load::Tcp);
    let code = match end {
        _ if end.is_by_signal() => 130,
        End::Abort => 1,
        End::TooManyFailures => 3,
        _ if is_checked && failed > 0 => 1,
        _ => 0,
    };
    wrong.unless(ran.code == Some(code), || format!("exit code {:?}, not {code}: {}", ran.code, ran.errors.trim()));
    let stopped = end.is_by_signal() || matches!(end, End::Abort | End::TooManyFailures);
    let said = &ran.report["stopped"];
    // A hopeless load at a rate may still go on to the end of its plan.
    let is_either = end == End::TooManyFailures && load.is_open();
    wrong.unless(*said == stopped || is_either, || format!("stopped is {said}, not {stopped}"));
    let (limit, is_unreliable) =
        (ran.report["verdict"]["kind"].as_str().unwrap_or("missing"), &ran.report["verdict"]["is_unreliable"]);
    let text = ran.report["verdict"]["text"].as_str().unwrap_or("").to_owned();
    let fits = if end.is_ours() {
        limit == "generator" && *is_unreliable == true
    } else if limit == "generator" {
        *is_unreliable == true && shows_to_be_late(ran)
    } else if matches!(end, End::Abort | End::CtrlCTwice | End::Drops) {
        // Ended early, and the target answers most of the requests.
        true
    } else if end.is_targets() {
        limit == "target"
    } else if load.is_open() {
        // All requests have a response: then the target must have kept starts waiting.
        let has_waited = ran.count("/verdict/wait_p99_ns") > WAIT_NS || !ran.report["verdict"]["backlog"].is_null();
        limit != "target" || has_waited
    } else {
        limit != "target"
    };
    wrong.unless(fits, || format!("the verdict is {limit}, is_unreliable {is_unreliable}: {text}"));
}

/// Whether the generator, when named as the bottleneck, has figures that show its lateness.
fn shows_to_be_late(ran: &Ran) -> bool {
    let is_late = |shard: &Value| {
        let has_share = |name: &str| shard[name].as_f64() > Some(0.01);
        ["saturated_share", "run_delay_share", "stalled_s"].into_iter().any(has_share)
            || shard["loop_lag_p99_ns"].as_u64() > Some(LAG_NS)
    };
    ran.report["generator"]["shards"].as_array().into_iter().flatten().any(is_late)
        || ran.count("/verdict/lateness_p99_ns") > LATENESS_NS
}

/// The lines of the table compared with the sums, and with what must be in them by the server's clock.
pub(crate) fn intervals(ran: &Ran, wrong: &mut Complaints) {
    let intervals = ran.report["intervals"].as_array().cloned().unwrap_or_default();
    for name in SUMMED {
        let sum: u64 = intervals.iter().filter_map(|interval| interval[name].as_u64()).sum();
        let total = ran.requests(name);
        wrong.unless(sum == total, || format!("{name} of the intervals add up to {sum}, not {total}"));
    }
    let mut succeeded = 0;
    for (index, interval) in intervals.iter().enumerate() {
        let [from_s, to_s] = ["from_s", "to_s"].map(|name| interval[name].as_f64().unwrap_or(0.0));
        let users = interval["users"].as_u64().unwrap_or(0);
        let finished: u64 = ["succeeded", "failed"].iter().filter_map(|name| interval[name].as_u64()).sum();
        let (said, own) = (interval["requests_per_s"].as_f64().unwrap_or(0.0), finished as f64 / (to_s - from_s));
        wrong.unless((said - own).abs() <= 0.01 * own, || {
            format!("{said:.1}/s from {from_s:.3} s to {to_s:.3} s, where {finished} finished: {own:.1}/s")
        });
        let place = format!("the interval from {from_s:.3} s to {to_s:.3} s");
        if !ran.cell.load.is_open() {
            wrong.unless(users <= USERS, || format!("{place} has {users} users of {USERS}"));
        }
        succeeded += interval["succeeded"].as_u64().unwrap_or(0);
        // A stalled thread gives its share later, at the latest in the last interval.
        let lacks_some = interval["late_shards"].as_u64().unwrap_or(0) > 0 && index + 1 < intervals.len();
        // Streams share a connection, and wrong responses are no successes.
        if ran.cell.load == Load::Streams || ran.cell.end.is_ours() || ran.cell.end == End::Abort || lacks_some {
            continue;
        }
        // The run began after the process: a response read by then is in this interval or one before it.
        let to = ran.spawned + Duration::from_secs_f64(to_s);
        let least = to.checked_sub(ROUNDED).map_or(0, |instant: Instant| ran.books.read_by(instant));
        wrong.unless(succeeded >= least, || {
            format!("{succeeded} had succeeded by the end of {place}, and {least} of their connections had gone on")
        });
    }
}
