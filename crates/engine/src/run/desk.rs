//! Collects the reports of the shards of a load: intervals, results, rendezvous.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use pacing::Nanos;
use pacing::change::Change;
use plan::Meeting;

use super::merge::{Finished, Merger, Ready};
use super::rows::KeptInterval;
use super::team::PartNews;
use super::{Interval, RunError};
use crate::afar::{Afar, Muster};
use crate::control::{Changes, StopHandle};
use crate::going::Desk;
use crate::meetings::{Attended, Hall};
use crate::shard::{Report, Seen};
use crate::times::Times;

/// Reports that follow each other within this time are of one moment.
const LATE_WAIT: Duration = Duration::from_millis(50);

/// What is to be told next.
pub(super) enum News {
    Interval(Ready),
    Changed(Change),
    /// Of a part of a load: what those have to hear who have the other parts.
    Part(PartNews),
}

/// Where the users of a run are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    /// All of them are here.
    Here,
    /// Here, and they are a part of those of a load.
    Part,
    /// Others have them.
    Afar,
}

/// Where the reports of the shards of a load come together.
pub(super) struct LoadDesk {
    pub(super) merger: Merger,
    hopeless: Vec<bool>,
    /// Shards whose users all wait for those of the others, since when.
    /// Scenario by scenario.
    gathered: Vec<Vec<Option<Nanos>>>,
    stop: StopHandle,
    failure: Option<RunError>,
    changes: Arc<Changes>,
    /// The last change that was told.
    revision: u32,
    /// All shards have gone without a word.
    is_lost: bool,
    /// Since when a row waits for a late shard.
    waiting_since: Option<Nanos>,
    place: Where,
    /// What those have to hear who have the other parts.
    told_up: VecDeque<PartNews>,
    /// Where users wait for each other that are elsewhere.
    pub(super) hall: Option<Hall>,
    /// So many parts there are elsewhere, or will be.
    expected: usize,
    /// Who carried it out, once all is over elsewhere.
    pub(super) muster: Option<Muster>,
}

impl LoadDesk {
    pub(super) fn new(
        times: Times,
        scenarios: Vec<Vec<usize>>,
        returns: Vec<Sender<Seen>>,
        stop: StopHandle,
        changes: Arc<Changes>,
        place: Where,
    ) -> Self {
        let shards = returns.len();
        let timelines = changes.timelines();
        let (hopeless, gathered) = (vec![false; shards], vec![vec![None; shards]; timelines.len()]);
        let merger = Merger::new(times, timelines, scenarios, returns, place == Where::Afar);
        Self {
            merger,
            hopeless,
            gathered,
            stop,
            failure: None,
            changes,
            revision: 0,
            is_lost: false,
            waiting_since: None,
            place,
            told_up: VecDeque::new(),
            hall: None,
            expected: 0,
            muster: None,
        }
    }

    /// An interval that is ready.
    pub(super) fn interval(&self, ready: &Ready) -> Interval<'_> {
        self.merger.told_as(ready)
    }

    /// When the users of all shards that still play the scenario wait for each other, they start together.
    fn start_round(&mut self, scenario: usize) {
        let gathered = &mut self.gathered[scenario];
        let Some(last) = gathered.iter().flatten().max().copied() else { return };
        let is_awaited =
            |(shard, since): (usize, &Option<Nanos>)| since.is_none() && self.merger.is_playing(shard, scenario);
        // Those who have not begun to tell are awaited too.
        if gathered.len() >= self.expected && !gathered.iter().enumerate().any(is_awaited) {
            gathered.fill(None);
            if self.place == Where::Part {
                return self.told_up.push_back(PartNews::Gathered(scenario, last));
            }
            self.changes.release(scenario, last + self.changes.round_lead());
            self.stop.wake_all();
        }
    }

    /// Whoever puts all parts together hears of users that wait for each other.
    fn tell_up(&mut self, attended: Attended) {
        let news = match (attended, self.told_up.back_mut()) {
            (Attended::Arrived { meeting, .. }, Some(PartNews::Arrived(last, count, _)))
                if *last == meeting as usize =>
            {
                *count += 1;
                return;
            }
            (Attended::Arrived { meeting, at }, _) => PartNews::Arrived(meeting as usize, 1, at),
            (Attended::Withdrawn { meeting, ticket }, _) => PartNews::Withdrawn(meeting as usize, ticket),
            (Attended::Stuck { heard }, _) => PartNews::Stuck(heard),
        };
        self.told_up.push_back(news);
    }

    /// Users that wait for each other are elsewhere.
    pub(super) fn with_meetings(mut self, meetings: &[Meeting]) -> Self {
        if !meetings.is_empty() {
            self.hall = Some(Hall::new(meetings, self.changes.heard_within()));
        }
        self
    }

    /// Of a run that is over nobody waits for its time: it is as late as the last that is told.
    fn is_past(&self) -> bool {
        self.changes.heard_within() == Nanos::ZERO
    }

    /// What is heard of users that wait for each other, who are elsewhere.
    fn hear_of_meetings(&mut self, part: usize, afar: &Afar) {
        let (is_past, clock) = (self.is_past(), self.changes.clock());
        let Some(hall) = &mut self.hall else { return };
        let now = clock.now();
        match afar {
            Afar::Joined => hall.join(),
            Afar::Expects(parts) => hall.expect(*parts, now),
            Afar::Arrived { meeting, count, at } => {
                hall.arrive(part, *meeting, *count, *at, if is_past { *at } else { now });
            }
            Afar::Withdrawn { meeting, ticket } => hall.withdraw(part, *meeting, *ticket),
            Afar::Stuck { heard } => hall.stuck(part, *heard, now),
            Afar::Ended(_) | Afar::Silent => hall.over(part, now),
            Afar::Seen { .. } | Afar::Over(_) => {}
        }
        self.changes.let_go(hall.take_released());
    }

    /// The time of a meeting may be over.
    fn look_at_meetings(&mut self) {
        let is_past = self.is_past();
        if let Some(hall) = self.hall.as_mut().filter(|_| !is_past) {
            hall.look(self.changes.clock().now());
            self.changes.let_go(hall.take_released());
        }
    }

    fn hear_from_afar(&mut self, part: usize, afar: Afar) {
        self.changes.heard_from_afar();
        self.hear_of_meetings(part, &afar);
        match afar {
            Afar::Expects(parts) => self.expected = parts,
            Afar::Arrived { .. } | Afar::Withdrawn { .. } | Afar::Stuck { .. } => {}
            Afar::Joined => {
                self.merger.join();
                self.hopeless.push(false);
                self.gathered.iter_mut().for_each(|gathered| gathered.push(None));
            }
            Afar::Seen { numbers, upto, seen } => self.merger.seen_afar(part, numbers, upto, seen),
            Afar::Ended(end) => self.merger.part_over(part, *end),
            Afar::Silent => self.merger.go_silent(part),
            Afar::Over(muster) => self.muster = Some(*muster),
        }
    }

    /// What all of it comes to, and how long it took.
    pub(super) fn finish(self) -> Result<Finished, RunError> {
        match self.failure {
            Some(error) => Err(error),
            None => Ok(self.merger.finish()),
        }
    }
}

impl Desk for LoadDesk {
    type Report = Report;
    type News = News;
    type Row = KeptInterval;

    fn keep(&self, news: &News) -> Option<KeptInterval> {
        match news {
            News::Interval(ready) => Some(self.merger.keep(ready)),
            _ => None,
        }
    }

    fn is_waiting(&self) -> bool {
        let is_on = if self.place == Where::Afar { self.muster.is_none() } else { self.merger.running() > 0 };
        self.failure.is_none() && !self.is_lost && is_on
    }

    fn take(&mut self, report: Report) {
        match report {
            Report::Interval { shard, upto, at, seen } => self.merger.interval(shard, upto, at, seen),
            Report::Over { shard, at, ends, seen } => self.merger.over(shard, at, &ends, &seen),
            Report::Hopeless { shard, is_hopeless } => {
                self.hopeless[shard] = is_hopeless;
                let are_all = self.hopeless.iter().all(|&is| is);
                if self.place == Where::Part {
                    self.told_up.push_back(PartNews::Hopeless(are_all));
                } else if are_all {
                    self.stop.abort();
                }
            }
            Report::Broken(error) => {
                self.failure = Some(error);
                return self.stop.abort();
            }
            Report::Left { shard, scenario } => {
                self.merger.leave(shard, scenario);
                let is_left = (0..self.hopeless.len()).all(|shard| !self.merger.is_playing(shard, scenario));
                if self.place == Where::Part && is_left {
                    self.told_up.push_back(PartNews::Left(scenario));
                }
            }
            Report::Afar { part, afar } => self.hear_from_afar(part, afar),
            Report::Attended(attended) => self.tell_up(attended),
            Report::Gathered { shard, scenario, at } => self.gathered[scenario][shard] = Some(at),
            Report::Ready { .. } => {}
        }
        (0..self.gathered.len()).for_each(|scenario| self.start_round(scenario));
    }

    fn next(&mut self) -> Option<News> {
        if let Some(change) = self.changes.after(self.revision) {
            self.revision = change.revision;
            self.merger.change(self.changes.timelines());
            return Some(News::Changed(change));
        }
        if let Some(news) = self.told_up.pop_front() {
            return Some(News::Part(news));
        }
        let is_on = self.is_waiting();
        let ready = if is_on { self.merger.next_interval() } else { self.merger.last_interval() };
        ready.map(News::Interval)
    }

    /// A row that misses a late shard waits a moment more: after a stall of all, each tells by itself. And meetings have their time.
    fn patience(&mut self) -> Option<Duration> {
        let now = self.changes.clock().now();
        let due = self.hall.as_ref().filter(|_| !self.is_past()).map_or(Nanos::NEVER, Hall::due);
        let left = (due < Nanos::NEVER).then(|| due.since(now).as_duration());
        if !self.merger.awaits_late() {
            self.waiting_since = None;
            return left;
        }
        let since = *self.waiting_since.get_or_insert(now);
        let late = LATE_WAIT.saturating_sub(now.since(since).as_duration());
        Some(left.map_or(late, |left| left.min(late)))
    }

    fn waited_in_vain(&mut self) {
        self.look_at_meetings();
        let now = self.changes.clock().now();
        if self.waiting_since.is_some_and(|since| now.since(since).as_duration() >= LATE_WAIT) {
            self.merger.gives_up_waiting();
        }
    }

    fn lose_all(&mut self) {
        self.is_lost = true;
    }
}
