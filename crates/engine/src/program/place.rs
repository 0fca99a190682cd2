//! Where a user is in its program, beyond the counter.

use std::sync::Arc;

use metrics::{Class, Failure, Outcome};
use pacing::Nanos;
use plan::Value;

/// Where a user is, beyond the counter.
#[derive(Debug, Default)]
pub(crate) struct Position {
    pub(super) frames: Vec<Frame>,
    /// Targets with which it has a conversation that is not over, the innermost last.
    pub(crate) talks: Vec<OpenTalk>,
    /// What is timed as one and not over, the innermost last.
    pub(crate) open: Vec<OpenTransaction>,
    /// Of this user; or of all, where users only carry what comes at a rate.
    pub(crate) iteration: u64,
    /// What was drawn in this iteration.
    pub(super) draws: u32,
    /// How often the last exchange was tried again.
    pub(crate) tries: u16,
    pub(crate) fork: Option<Fork>,
    /// Why the last exchange failed; the worst of several at a time.
    pub(crate) failed: Option<Failure>,
    /// Until when its last pause goes.
    pub(crate) rests_until: Nanos,
    /// When it comes back from what it waits for; never when it waits for nothing.
    pub(crate) wakes_at: Option<Nanos>,
    /// No iteration begins before.
    pub(crate) paced_until: Nanos,
    /// How often what comes before its first iteration failed since it last went well.
    pub(crate) starts_failed: u32,
    /// The last rounds of meetings that it took part in.
    met: Vec<(u32, u64)>,
}

/// A conversation that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenTalk {
    pub(crate) target: u16,
    /// Its connection was there: when that is lost, no later message makes another one.
    pub(crate) was_there: bool,
}

/// Which exchange of a [`Fork`] it is, counted from 1; 0 is one that is under way alone.
pub(crate) type ForkPart = u32;

/// Exchanges of one user that are under way at a time.
#[derive(Debug)]
pub(crate) struct Fork {
    pub(crate) steps: Arc<[u32]>,
    /// The next that begins.
    pub(crate) next: usize,
    /// The one that began last.
    pub(crate) began: ForkPart,
    /// The draw of the program that the draws of all of them come from.
    pub(crate) draw: u32,
    /// What their answers have given so far: of which of them, the variable, and its value.
    pub(crate) taken: Vec<(ForkPart, u32, Value)>,
    pub(crate) under_way: u16,
    /// The worst that was seen of them.
    pub(crate) has_failed: bool,
}

/// A transaction that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenTransaction {
    pub(crate) number: u16,
    pub(crate) began: Nanos,
    /// Pauses in it.
    pub(crate) thought: Nanos,
}

#[derive(Debug)]
pub(super) enum Frame {
    /// Rounds that are left.
    Rounds(u32),
    /// Parts that are left, the next one last.
    Parts(Vec<u32>, u32),
}

impl Position {
    /// An iteration begins.
    pub(crate) fn begin(&mut self, iteration: u64) {
        self.frames.clear();
        self.open.clear();
        self.talks.clear();
        (self.iteration, self.draws, self.tries, self.fork, self.failed) = (iteration, 0, 0, None, None);
    }

    /// Something is drawn: the number of the draw in this iteration.
    pub(crate) fn draw(&mut self) -> u32 {
        self.draws += 1;
        self.draws
    }

    /// A pause begins. What of it is left when the user does not go on was no pause.
    pub(crate) fn rest(&mut self, from: Nanos, span: Nanos, has_pauses: &[bool]) {
        self.rests_until = from + span;
        let apart = |open: &&mut OpenTransaction| !has_pauses[usize::from(open.number)];
        self.open.iter_mut().filter(apart).for_each(|open| open.thought += span);
    }

    /// The last pause was over at this instant already.
    pub(crate) fn end_rest(&mut self, at: Nanos, has_pauses: &[bool]) {
        let left = self.rests_until.since(at);
        self.rests_until = self.rests_until.min(at);
        let apart = |open: &&mut OpenTransaction| !has_pauses[usize::from(open.number)];
        self.open.iter_mut().filter(apart).for_each(|open| open.thought = open.thought.since(left));
    }

    /// The last round of a meeting that it took part in; 0 for none.
    pub(crate) fn last_met(&self, barrier: u32) -> u64 {
        self.met.iter().find(|(number, _)| *number == barrier).map_or(0, |(_, round)| *round)
    }

    /// It takes part in a round of a meeting.
    pub(crate) fn meet(&mut self, barrier: u32, round: u64) {
        match self.met.iter_mut().find(|(number, _)| *number == barrier) {
            Some((_, last)) => *last = round,
            None => self.met.push((barrier, round)),
        }
    }

    /// An exchange failed. Of several at a time, one whose time is only known to be at least so long is the worst.
    pub(crate) fn fail(&mut self, failure: Failure) {
        let weight = |failure| Class::of(Outcome::Failed(failure)) as usize;
        if self.fork.is_none() || self.failed.is_none_or(|known| weight(known) < weight(failure)) {
            self.failed = Some(failure);
        }
    }
}

impl Fork {
    /// What was taken, in the order of the steps, whichever ended first.
    pub(crate) fn taken_in_order(mut self) -> Vec<(ForkPart, u32, Value)> {
        self.taken.sort_by_key(|(part, ..)| *part);
        self.taken
    }
}

impl OpenTransaction {
    /// Its time up to an instant. `rests_until`: the end of the last pause, which may not be over.
    pub(crate) fn span(&self, at: Nanos, rests_until: Nanos, has_pauses: bool) -> Nanos {
        let left = if has_pauses { Nanos::ZERO } else { rests_until.since(at) };
        at.since(self.began).since(self.thought.since(left))
    }
}

impl Position {
    /// Where the next part of a shuffle begins, or what follows it.
    pub(super) fn following(&mut self) -> u32 {
        let Some(Frame::Parts(parts, end)) = self.frames.last_mut() else { unreachable!("parts lie in a shuffle") };
        let (next, end) = (parts.pop(), *end);
        next.unwrap_or_else(|| {
            self.frames.pop();
            end
        })
    }
}
