//! The end of a world, and its checks.

use pacing::open::Starts;
use pacing::{Nanos, Segment};

use super::due::ScheduleDue;
use super::model::schedule_of;
use super::world::{Node, Who, World};
use crate::protocol::Phase;

/// The statistics of a world, or of several.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) planned: u64,
    pub(super) started: u64,
    pub(super) undelivered: u64,
    pub(super) unaccounted: u64,
    pub(super) late_change_delta: i64,
    pub(super) lost: u64,
    pub(super) joined: u64,
    pub(super) moved: u64,
    pub(super) takeovers: u64,
    pub(super) without_leader: Nanos,
    pub(super) unled: u64,
    pub(super) never_began: u64,
    /// Runs that were taken over with a checkpoint.
    pub(super) recalled: u64,
}

impl Seen {
    pub(super) fn add(&mut self, other: &Self) {
        self.planned += other.planned;
        self.started += other.started;
        self.undelivered += other.undelivered;
        self.unaccounted += other.unaccounted;
        self.late_change_delta += other.late_change_delta;
        self.lost += other.lost;
        self.joined += other.joined;
        self.moved += other.moved;
        self.takeovers += other.takeovers;
        self.without_leader = self.without_leader.max(other.without_leader);
        self.unled += other.unled;
        self.never_began += other.never_began;
        self.recalled += other.recalled;
    }

    /// Notes that a new leader is active; the former one was until then.
    pub(super) fn leads_again(&mut self, led_until: Option<Nanos>, now: Nanos) {
        if let Some(until) = led_until {
            self.takeovers += 1;
            self.without_leader = self.without_leader.max(now.since(until));
        }
    }
}

impl World {
    pub(super) fn judge(mut self) -> Result<Seen, String> {
        self.judge_lateness()?;
        let has_given_up = |node: &Node| matches!(&node.who, Who::Leader(_, tally, _) if tally.never_began);
        if self.nodes.iter().any(has_given_up) {
            let is_calm = self.setting.happens.is_empty() && self.setting.fault.drop == 0.0;
            if is_calm || !self.made.is_empty() {
                return Err(format!("it did not begin, and {} were made", self.made.len()));
            }
            self.seen.never_began += 1;
            return Ok(self.seen);
        }
        if self.is_unled() {
            self.judge_journals(None)?;
            self.seen.unled += 1;
            return Ok(self.seen);
        }
        let found = self.nodes.iter().find_map(|node| match &node.who {
            Who::Leader(leader, tally, _) if tally.is_over && !node.is_dead => Some((leader, tally)),
            _ => None,
        });
        let Some((leader, tally)) = found else {
            return Err("it has no end".to_owned());
        };
        if tally.fails {
            return Err("it did not begin, or failed".to_owned());
        }
        if tally.has_gap {
            return Err("what somebody told is gone".to_owned());
        }
        let due = self.due(&leader.state().changes);
        let end = due.timeline().end().unwrap_or(Nanos::NEVER);
        let balance = tally.ledger.balance(leader.state(), (end, Nanos::NEVER), &due);
        let started: u64 = tally.counts.values().sum();
        let whole = self.starts(&due);
        let (planned, really) = (whole.len() as u64, self.made.len() as u64);
        // A worker that a change reached late makes the starts of the ledger, not the planned ones.
        if balance.changed_late == Nanos::ZERO {
            self.judge_starts(&whole)?;
        }
        if started + balance.undelivered + balance.unaccounted != planned.wrapping_add_signed(balance.late_change_delta)
        {
            return Err(format!("{planned} planned, and {started} started, {balance:?}"));
        }
        if !(started..=started + balance.unaccounted).contains(&really) {
            return Err(format!("{really} were made; told are {started}, {balance:?}"));
        }
        if !self.was_killed && balance.unaccounted > 0 {
            return Err(format!("nobody was killed, and {} are unknown", balance.unaccounted));
        }
        self.judge_journals(Some((started, balance)))?;
        let seen = &mut self.seen;
        (seen.planned, seen.started) = (planned, started);
        (seen.undelivered, seen.unaccounted) = (balance.undelivered, balance.unaccounted);
        seen.late_change_delta = balance.late_change_delta;
        (seen.lost, seen.recalled) = (tally.lost, tally.recalled);
        seen.joined = (leader.state().members.len() - self.setting.workers) as u64;
        seen.moved = leader.state().slot_grants.len() as u64 - 1;
        Ok(self.seen)
    }

    /// All starts of the load.
    pub(super) fn starts(&self, due: &ScheduleDue<'_>) -> Vec<Nanos> {
        let schedule = schedule_of(&due.timeline());
        let mut whole: Vec<Nanos> = Starts::new(schedule, self.spacing, Segment::WHOLE).collect();
        whole.sort_unstable();
        whole
    }

    /// Checks that every start made is one of them, and made once.
    fn judge_starts(&self, whole: &[Nanos]) -> Result<(), String> {
        let mut made: Vec<Nanos> = self.made.iter().map(|made| made.intended).collect();
        made.sort_unstable();
        let mut rest = whole.iter();
        for at in &made {
            if !rest.by_ref().any(|planned| planned == at) {
                return Err(format!("the start at {} ms was made twice", at.0 / 1_000_000));
            }
        }
        Ok(())
    }

    /// Checks that no start is made late, unless its worker was stalled.
    fn judge_lateness(&self) -> Result<(), String> {
        for made in &self.made {
            let stalls = &self.nodes[made.worker].stalls;
            let stalled: u64 = stalls.iter().map(|(from, to)| to.since(*from).0).sum();
            if made.late.0 > stalled + 300_000_000 {
                return Err(format!(
                    "the start at {} ms was made {} ms late",
                    made.intended.0 / 1_000_000,
                    made.late.0 / 1_000_000
                ));
            }
        }
        Ok(())
    }

    /// Whether the leader has received everything, or no node is left that could.
    pub(super) fn is_over(&self) -> bool {
        let mut leaders = self.nodes.iter().filter_map(|node| match &node.who {
            Who::Leader(leader, tally, _) if !node.is_dead => Some((leader, tally)),
            _ => None,
        });
        let is_done = leaders.any(|(leader, tally)| tally.is_over && leader.state().phase == Phase::Done);
        let has_given_up = |node: &Node| matches!(&node.who, Who::Leader(_, tally, _) if tally.never_began);
        if self.nodes.iter().any(has_given_up) {
            return self.now > Nanos::from_millis(150_000);
        }
        is_done || (self.is_unled() && self.now > self.setting.span + Nanos::from_millis(60_000))
    }

    fn is_unled(&self) -> bool {
        self.nodes.iter().all(|node| node.is_dead || !matches!(node.who, Who::Leader(..)))
    }
}
