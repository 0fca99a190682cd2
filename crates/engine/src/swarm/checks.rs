//! Invariants at the end of every run, whatever the network did.

use std::time::Duration;

use metrics::{Class, Counts, Measure};
use pacing::Nanos;
use pacing::change::LoadProfile;
use plan::{Arrivals, Load};

use super::history::{History, Row, TARGET};
use crate::scenario_runtime::{CLOSING_MAX, COALESCE_MAX};

/// The first check that does not hold, as a message.
pub(super) fn all(history: &History) -> Result<(), String> {
    for one in each_scenario(history) {
        let of =
            |found: String| if history.others.is_empty() { found } else { format!("scenario {}: {found}", one.number) };
        each_start_ends_once(one).map_err(of)?;
        histograms_are_counts(one).map_err(of)?;
        intervals_are_the_whole(one).map_err(of)?;
        intervals_account_for_all_that_was_due(one).map_err(of)?;
        counts_hold(one).map_err(of)?;
        messages_add_up(one).map_err(of)?;
        a_calm_world_is_kind(one).map_err(of)?;
    }
    scenarios_are_the_whole(history)?;
    bounds_hold(history)?;
    nothing_leaks(history)?;
    the_target_agrees(history)
}

fn each_scenario(history: &History) -> impl Iterator<Item = &History> {
    std::iter::once(history).chain(&history.others)
}

fn sum_of(history: &History, of: impl Fn(&History) -> u64) -> u64 {
    each_scenario(history).map(of).sum()
}

macro_rules! ensure {
    ($holds:expr, $($words:tt)*) => {
        if !$holds {
            return Err(format!($($words)*));
        }
    };
}

fn each_start_ends_once(history: &History) -> Result<(), String> {
    let counts = &history.total.counts;
    let (started, carried, failed) = (counts.started(), counts.carried(), counts.failed());
    ensure!(carried == 0 || history.has_warmup(), "{carried} were carried over, without a warm-up");
    ensure!(
        started + carried == counts.succeeded() + failed + counts.dropped() + counts.unfinished(),
        "started {started} + carried {carried} = succeeded {} + failed {failed} + dropped {} + unfinished {} does not hold",
        counts.succeeded(),
        counts.dropped(),
        counts.unfinished()
    );
    let planned = history.starts_planned();
    let steps = history.scenario().steps.len() as u64;
    // An iteration that began in the warm-up continues in the measured time.
    let over = if steps > 1 { history.warm_steps() } else { 0 };
    let is_as_planned = |planned: u64| (planned..=planned + over).contains(&started);
    ensure!(history.was_stopped || planned.is_none_or(is_as_planned), "started {started} of {planned:?}");
    ensure!(planned.is_none_or(|planned| started <= planned + over), "started {started} of {planned:?}");
    let is_open = matches!(history.load(), Load::Open { .. });
    if steps > 1 && history.is_in_turn() {
        let begun = counts.iterations() + counts.iterations_cut();
        let of_steps = started - counts.redirects();
        ensure!(
            counts.iterations() * steps <= of_steps + history.warm_steps()
                && of_steps <= begun * steps + history.warm_steps(),
            "{of_steps} steps of {} iterations and {} cut ones",
            counts.iterations(),
            counts.iterations_cut()
        );
        let is_by_count = history.duration().is_none() && !history.was_stopped;
        ensure!(
            !is_by_count || counts.iterations_cut() == 0,
            "a run that ends by count cut {}",
            counts.iterations_cut()
        );
    }
    ensure!(is_open || counts.dropped() == 0, "{} of a closed load were dropped", counts.dropped());
    // A start that was dropped from the queue, or that still waits there or for a connection, has had no attempt.
    // Neither has one that may go out once only, while its connection is checked.
    let waits_for_read =
        history.is_messaging() || history.scenario().steps.iter().any(|step| !step.request.is_idempotent());
    let may_wait = is_open || waits_for_read || history.scenario().shared_connections.is_some();
    let tried = started + carried + counts.reconnects();
    let never_tried = if may_wait { counts.dropped() + counts.unfinished() } else { 0 };
    ensure!(
        counts.attempts() <= tried && counts.attempts() + never_tried >= tried,
        "{} attempts for started {started}, carried {carried} and {} second tries",
        counts.attempts(),
        counts.reconnects()
    );
    Ok(())
}

fn histograms_are_counts(history: &History) -> Result<(), String> {
    let counts = &history.total.counts;
    let responses = |class| history.total.class(class).by_measure(Measure::Response).count();
    ensure!(responses(Class::Succeeded) == counts.succeeded(), "histogram and count of successes differ");
    let all: u64 = Class::ALL.into_iter().map(responses).sum();
    ensure!(all == counts.finished(), "histograms hold {all} times for {} outcomes", counts.finished());
    for class in Class::ALL {
        let timings = history.total.class(class);
        let [response, service, wait, lateness, first_byte] =
            Measure::ALL.map(|measure| timings.by_measure(measure).count());
        ensure!(
            response == lateness && service == wait,
            "{class:?}: the instants of an exchange are not of one exchange"
        );
        ensure!(service <= response && first_byte <= service, "{class:?}: more first bytes than requests");
        for measure in Measure::ALL {
            let of = timings.by_measure(measure);
            ensure!(of.quantile(0.99) <= of.max(), "{class:?} {measure:?}: p99 above the maximum");
        }
        if class == Class::Succeeded {
            ensure!(first_byte == response, "an answer without a first byte");
        }
        let sums =
            [Measure::Service, Measure::Wait, Measure::Lateness].map(|measure| timings.by_measure(measure).sum());
        if class == Class::Succeeded && counts.reconnects() == 0 {
            let whole = timings.by_measure(Measure::Response).sum();
            ensure!(
                sums.iter().sum::<u128>() == whole,
                "service, wait and lateness {sums:?} are not the response time {whole}"
            );
        }
    }
    ensure!(history.total.dropped_after.count() == counts.dropped(), "a dropped start has no time, or two");
    let unfinished = history.total.unfinished();
    ensure!(
        unfinished.by_measure(Measure::Response).count() == counts.unfinished(),
        "{} of {} that did not end have a time",
        unfinished.by_measure(Measure::Response).count(),
        counts.unfinished()
    );
    ensure!(unfinished.by_measure(Measure::Service).count() <= counts.unfinished(), "more were sent than did not end");
    ensure!(counts.cut() <= counts.unfinished(), "more were cut than did not end");
    ensure!(history.total.gauges.in_flight.response.count() == 0, "something is in flight after the end");
    let (connected, established) = (history.total.connect.count(), counts.connections_established());
    let tunnels = history.total.proxy_tunnel.count();
    let (has_tunnels, only_tunnels) = are_tunnels(history);
    ensure!(
        // A WebSocket connection is established when its handshake is over, and one through a proxy with its tunnel.
        connected == established || ((history.is_messaging() || has_tunnels) && connected > established),
        "a connect time is missing, or counted twice"
    );
    ensure!(tunnels <= connected && (has_tunnels || tunnels == 0), "{tunnels} tunnels of {connected} connections");
    ensure!(
        !only_tunnels || tunnels == established || (history.is_messaging() && tunnels > established),
        "{tunnels} tunnels, and {established} connections through them"
    );
    Ok(())
}

/// Whether some of its connections go through tunnels, and whether all of them do.
fn are_tunnels(history: &History) -> (bool, bool) {
    let targets = &history.scenario().targets;
    let is_tunnel = |target: &plan::Target| target.proxy_mode() == Some(plan::ProxyMode::Tunnel);
    (targets.iter().any(is_tunnel), targets.iter().all(is_tunnel))
}

fn intervals_are_the_whole(history: &History) -> Result<(), String> {
    let (sum, total) = (format!("{:?}", history.reported.sum), format!("{:?}", history.total.counts));
    ensure!(sum == total, "the intervals add up to\n{sum}\nand the whole is\n{total}");
    let interval = Nanos::from(history.setting.plan.interval);
    let (mut from, users) = (Nanos::ZERO, history.users_max());
    // Starts wait that request something only after a pause, if they reach it; for iterations of one exchange those
    // that do not are not counted.
    let is_known = history.is_in_turn() || history.code().counts_iterations;
    let counts = &history.total.counts;
    let begun = counts.all_started() + counts.iterations() + counts.iterations_cut() + counts.iterations_failed();
    for (index, row) in history.reported.rows.iter().enumerate() {
        ensure!(row.from == from && row.to > from, "interval {index} is not behind the one before it: {row:?}");
        ensure!(row.users <= users, "interval {index} has {} users of {users}", row.users);
        ensure!(!is_known || row.in_flight <= row.users.max(users) + begun, "interval {index}: {row:?}");
        let is_last = index + 1 == history.reported.rows.len();
        let span = row.to - row.from;
        ensure!(is_last || span >= interval, "interval {index} is short: {row:?}");
        ensure!(index == 0 || span.0 >= interval.0 / 10, "interval {index} is a sliver: {row:?}");
        from = row.to;
    }
    let rows = |of: fn(&Row) -> u64| history.reported.rows.iter().map(of).sum::<u64>();
    ensure!(
        rows(|row| row.started) == counts.started() && rows(|row| row.finished) == counts.finished(),
        "the rows as they were told last are not the whole"
    );
    Ok(())
}

/// At the end of each interval, the starts that are counted and those that are behind are all that were due.
fn intervals_account_for_all_that_was_due(history: &History) -> Result<(), String> {
    let (counts, rows) = (&history.total.counts, &history.reported.rows);
    let LoadProfile::Rate(schedule) = history.timeline.course() else { return Ok(()) };
    let is_even = matches!(history.load(), Load::Open { arrivals: Arrivals::Even, .. });
    let is_plain = history.is_in_turn() && history.scenario().steps.len() == 1 && counts.redirects() == 0;
    let has_all = history.spent.is_none() && history.used_up.is_empty();
    if !(is_even && is_plain && has_all) || rows.iter().any(|row| row.is_corrected || row.late_shards > 0) {
        return Ok(());
    }
    // A shard that stood still over several intervals reports all of them with what is behind at the end of the last.
    if history.setting.freezes.iter().any(|(host, ..)| *host != TARGET) {
        return Ok(());
    }
    let mut started = 0;
    // What is left of the last row was counted at the end.
    for row in rows.iter().take(rows.len().saturating_sub(1)).take_while(|row| row.to <= history.started_for) {
        started += row.started;
        let due = schedule.count_until(Nanos(row.to.0 - 1));
        ensure!(started + row.behind == due, "{started} started, {} behind, {due} due by {:?}", row.behind, row.to);
    }
    Ok(())
}

/// The counts of all scenarios add up to the total.
fn scenarios_are_the_whole(history: &History) -> Result<(), String> {
    let mut sum = Counts::default();
    each_scenario(history).for_each(|one| sum.merge(&one.total.counts));
    let (sum, whole) = (format!("{sum:?}"), format!("{:?}", history.whole));
    ensure!(sum == whole, "the scenarios add up to\n{sum}\nand the whole is\n{whole}");
    Ok(())
}

fn bounds_hold(history: &History) -> Result<(), String> {
    let users = sum_of(history, |history| history.users_max() * history.exchanges_of_user());
    let duration = each_scenario(history)
        .map(History::duration)
        .reduce(|most, one| most.zip(one).map(|(most, one)| most.max(one)));
    ensure!(history.most_in_flight as u64 <= users, "{} in flight with {users} users", history.most_in_flight);
    let most_sockets = users as usize + history.shards * CLOSING_MAX;
    ensure!(
        history.most_sockets <= most_sockets,
        "{} sockets at one time, {most_sockets} allowed",
        history.most_sockets
    );
    let gathered = history.most_coalesced;
    ensure!(gathered <= COALESCE_MAX, "what came lay unseen for {gathered:?}, {COALESCE_MAX:?} allowed");
    let is_shared = |one: &History| one.scenario().target().protocol == plan::Protocol::Http2;
    let may_gather = each_scenario(history).all(is_shared);
    ensure!(gathered == Nanos::ZERO || may_gather, "what came lay unseen where no streams were: {gathered:?}");
    if let Some(duration) = duration.flatten() {
        // The loop may be frozen when its end comes.
        let frozen: u64 = history.setting.freezes.iter().map(|(_, from, to)| to.since(*from).0).sum();
        let is_stopping = |one: &History| !one.scenario().program.stop.is_empty();
        let plan = &history.setting.plan;
        let stop_within = if each_scenario(history).any(is_stopping) { plan.stop_within } else { Duration::ZERO };
        let most = (duration + plan.grace + stop_within).as_nanos() as u64 + frozen + 50_000_000;
        ensure!(history.wall.0 <= most, "the run took {:?}", history.wall.as_duration());
    }
    Ok(())
}

fn counts_hold(history: &History) -> Result<(), String> {
    let counts = &history.total.counts;
    ensure!(counts.sent() <= counts.attempts(), "more requests than attempts");
    ensure!(counts.responses() <= counts.sent(), "more answers than requests");
    let statuses = counts.statuses.iter().sum::<u64>();
    // Messages have no status.
    let is_as_responses = statuses == if history.is_messaging() { 0 } else { counts.responses() };
    ensure!(is_as_responses || history.is_mixed() && statuses <= counts.responses(), "statuses are not answers");
    ensure!(counts.connections_established() <= counts.connections_tried(), "more connections than tries");
    Ok(())
}

fn nothing_leaks(history: &History) -> Result<(), String> {
    ensure!(history.sockets_left == 0, "the engine left {} sockets open", history.sockets_left);
    if history.is_over_datagrams() {
        // A server of datagrams does not know when its peers are gone.
        return Ok(());
    }
    ensure!(
        history.server_open == history.server_sockets as u64,
        "the target counts {} connections and has {}",
        history.server_open,
        history.server_sockets
    );
    // Only a connection that was dropped in between, unnoticed by the target, may stay.
    ensure!(
        history.server_sockets <= history.connections_lost,
        "the target kept {} connections, {} were lost on the way",
        history.server_sockets,
        history.connections_lost
    );
    Ok(())
}

fn messages_add_up(history: &History) -> Result<(), String> {
    let counts = &history.total.counts;
    if history.is_mixed() {
        ensure!(counts.messages_untaken() <= counts.messages_sent(), "more messages left than were sent");
        return Ok(());
    }
    let ended: u64 = counts.grpc_statuses.iter().sum();
    let Some(call) = history.call() else {
        let messages = counts.messages_sent() + counts.messages_received();
        ensure!(ended == 0 && (messages == 0 || history.is_messaging()), "messages without calls");
        ensure!(counts.messages_left() <= counts.sent(), "more messages left than were sent");
        let answered = counts.responses() <= counts.messages_received() || history.has_warmup();
        ensure!(!history.is_messaging() || answered, "more answers than messages that came");
        return Ok(());
    };
    let finished = counts.finished();
    ensure!(ended == finished, "{ended} statuses of {finished} calls that ended: each has one");
    let timed = history.total.message.count() + history.total.message_gap.count();
    let is_stream = call.sends_stream || call.responses_stream;
    let to_time = if is_stream { counts.messages_received() } else { 0 };
    ensure!(timed == to_time, "{timed} of {} messages have a time", counts.messages_received());
    let most = counts.sent() * call.messages.len() as u64;
    ensure!(counts.messages_sent() <= most, "{} messages of {most} were sent", counts.messages_sent());
    if history.setting.is_calm() && counts.unfinished() == 0 && !history.has_warmup() {
        ensure!(counts.messages_sent() == most, "{} messages of {most} were sent", counts.messages_sent());
        ensure!(ended == counts.responses(), "{ended} statuses of {} answers", counts.responses());
    }
    Ok(())
}

fn the_target_agrees(history: &History) -> Result<(), String> {
    let counts = &history.whole;
    if history.is_over_datagrams() {
        return datagrams_add_up(history);
    }
    let warm = counts.carried() + counts.warmed_up();
    ensure!(
        counts.responses() <= history.requests_served
            && (history.has_warmup() || history.requests_served <= counts.sent()),
        "{} answers to {} requests of which the target read {}",
        counts.responses(),
        counts.sent(),
        history.requests_served
    );
    // A request that goes out again was not read, or is counted as begun before. In a warm-up nothing is counted.
    let begun = counts.begun_before() + if history.has_warmup() { warm } else { 0 };
    ensure!(
        history.requests_served <= counts.started() + warm + begun,
        "the target read {} requests of {} that were started, {warm} before, and {begun} perhaps twice",
        history.requests_served,
        counts.started()
    );
    ensure!(counts.begun_before() <= counts.reconnects(), "more were begun before than went out again");
    Ok(())
}

/// Each datagram that was sent or received is in one count.
fn datagrams_add_up(history: &History) -> Result<(), String> {
    let counts = &history.whole;
    let (sent, received) = history.datagrams;
    ensure!(
        counts.responses() <= history.requests_served,
        "{} answers to {} requests that the target read",
        counts.responses(),
        history.requests_served
    );
    if history.has_warmup() {
        return Ok(());
    }
    // What was handed over last may not have left when its socket was closed.
    let handed = counts.sent() + counts.resent();
    let may_be_late = history.setting.faults.late_verb > 0;
    ensure!(
        sent == handed || may_be_late && sent < handed,
        "{sent} datagrams left, {} requests and {} again",
        counts.sent(),
        counts.resent()
    );
    let strays = counts.late_responses() + counts.duplicate_responses() + counts.unmatched_datagrams();
    let at_most = counts.responses() + counts.over_stream() + strays;
    let over_streams = counts.over_stream();
    ensure!(
        (at_most - over_streams..=at_most).contains(&received),
        "{received} datagrams came, {} are responses, {over_streams} go on over a stream, and {strays} are neither",
        counts.responses()
    );
    Ok(())
}

fn a_calm_world_is_kind(history: &History) -> Result<(), String> {
    let counts = &history.total.counts;
    if history.setting.is_calm() {
        let reasons: Vec<_> = counts.failures().collect();
        ensure!(counts.failed() == 0, "in a calm world {} failed: {reasons:?}", counts.failed());
        ensure!(
            counts.reconnects() == 0 || history.is_sent_away(),
            "in a calm world {} connections were stale",
            counts.reconnects()
        );
        ensure!(
            counts.responses() + counts.unfinished() + counts.reconnects() >= counts.sent()
                && counts.responses() == counts.succeeded(),
            "in a calm world {} were sent and {} answered",
            counts.sent(),
            counts.responses()
        );
    }
    Ok(())
}
