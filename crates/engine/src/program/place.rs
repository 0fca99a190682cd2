//! Position of a user in its program, beyond the counter.

use std::sync::Arc;

use metrics::{Class, Failure, Outcome};
use pacing::Nanos;
use plan::Value;

use super::LoopLimits;
use super::open_failures::OpenFailures;

/// The position of a user, beyond the counter.
#[derive(Debug, Default)]
pub(crate) struct Position {
    pub(super) frames: Vec<Frame>,
    /// Open conversations, the innermost last.
    pub(crate) conversations: Vec<OpenConversation>,
    /// Open transactions, the innermost last.
    pub(crate) open: Vec<OpenTransaction>,
    /// The iteration of this user; or of all users, where they only carry scheduled starts.
    pub(crate) iteration: u64,
    /// Draws made in this iteration.
    pub(super) draws: u32,
    /// Retries of the last exchange.
    pub(crate) tries: u16,
    /// The wait before the next of them.
    pub(crate) retry_wait_ms: u32,
    pub(crate) fork: Option<Box<Fork>>,
    /// Why the last exchange failed; the worst failure of several at a time.
    pub(crate) failed: Option<Failure>,
    /// Measured steps that failed, and may be tried again.
    pub(crate) failures: OpenFailures,
    /// End of its last pause.
    pub(crate) rests_until: Nanos,
    /// When its wait ends; never when it waits for nothing.
    pub(crate) wakes_at: Option<Nanos>,
    /// No iteration begins before this instant (pacing).
    pub(crate) paced_until: Nanos,
    /// Consecutive failures of `on_start`.
    pub(crate) starts_failed: u32,
    /// `on_start` has failed, and the pause before the next try has not begun.
    pub(crate) waits_to_start: bool,
    /// The last rounds of barriers that it took part in.
    met: Vec<(u32, u64)>,
}

/// An open conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenConversation {
    pub(crate) target: u16,
    /// Its connection was established: when that is lost, no later message makes another one.
    pub(crate) was_there: bool,
}

/// Number of an exchange in a [`Fork`], counted from 1; 0 is an exchange that is in flight alone.
pub(crate) type ForkPart = u32;

/// The steps of concurrent exchanges.
#[derive(Debug, PartialEq)]
pub(crate) struct ForkSteps {
    /// The most at a time.
    pub(crate) most: u16,
    pub(crate) steps: Box<[u32]>,
    /// Those of them whose failure fails nothing else.
    optional: Box<[u32]>,
    /// The variable that has an item of the loop around them: each item has all of the steps.
    item: Option<u32>,
}

impl ForkSteps {
    /// Steps, and those of them that are optional; `item`: the variable for the items of a list.
    pub(super) fn new(most: u16, (steps, optional): (&[usize], &[usize]), item: Option<u32>) -> Self {
        let numbers = |steps: &[usize]| steps.iter().map(|step| *step as u32).collect();
        Self { most, steps: numbers(steps), optional: numbers(optional), item }
    }
}

/// Concurrent exchanges of one user.
#[derive(Debug)]
pub(crate) struct Fork {
    pub(crate) steps: Arc<ForkSteps>,
    /// The items, where each has all of the steps.
    pub(crate) items: Vec<Value>,
    /// The next exchange to begin.
    pub(crate) next: usize,
    /// The exchange that began last.
    pub(crate) began: ForkPart,
    /// The draw of the program from which the draws of all of them derive.
    pub(crate) draw: u32,
    /// Values extracted from their responses so far: the exchange, the variable, and its value.
    pub(crate) taken: Vec<(ForkPart, u32, Value)>,
    pub(crate) under_way: u16,
    /// One of them has failed.
    pub(crate) has_failed: bool,
    /// One of them has no budget: none begins any more, and the iteration is cut.
    pub(crate) is_cut: bool,
    /// One of them begins: what ends meanwhile frees nobody, since others are begun next.
    pub(crate) is_beginning: bool,
    /// Some have ended, and the user is queued for them: once, though several may end before it advances.
    pub(crate) is_freed: bool,
}

/// An open transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenTransaction {
    pub(crate) number: u16,
    pub(crate) began: Nanos,
    /// Pauses in it.
    pub(crate) thought: Nanos,
}

#[derive(Debug)]
pub(super) enum Frame {
    /// A loop that counts: its rounds begun, and those left.
    Rounds { begun: u32, left: u32 },
    /// A loop that goes by the clock or by a list.
    Timed(Box<TimedRounds>),
    /// Parts left, the next one last.
    Parts(Vec<u32>, u32),
    /// What is tried again together.
    Block(OpenBlock),
}

/// Operations that are tried again together, while they are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenBlock {
    /// Its number among the retries.
    pub(crate) retry: u16,
    /// Its tries after the first.
    pub(crate) tries: u16,
    /// Where it begins, and where it ends.
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// It is all of the transaction around it.
    pub(crate) is_whole: bool,
    /// Transactions and conversations that were open before it.
    transactions: usize,
    conversations: usize,
    /// Failures before it.
    pub(crate) failures: usize,
}

impl Position {
    /// Begins an iteration.
    pub(crate) fn begin(&mut self, iteration: u64) {
        self.frames.clear();
        self.open.clear();
        self.conversations.clear();
        self.failures.clear();
        (self.iteration, self.draws, self.tries, self.fork, self.failed) = (iteration, 0, 0, None, None);
        self.retry_wait_ms = 0;
    }

    /// Number of a new draw in this iteration.
    pub(crate) fn draw(&mut self) -> u32 {
        self.draws += 1;
        self.draws
    }

    /// Begins a pause. The rest of it does not count as a pause when the user does not go on.
    pub(crate) fn rest(&mut self, from: Nanos, span: Nanos, has_pauses: &[bool]) {
        self.rests_until = from + span;
        let apart = |open: &&mut OpenTransaction| !has_pauses[usize::from(open.number)];
        self.open.iter_mut().filter(apart).for_each(|open| open.thought += span);
    }

    /// The last pause ended at this instant already.
    pub(crate) fn end_rest(&mut self, at: Nanos, has_pauses: &[bool]) {
        let left = self.rests_until.since(at);
        self.rests_until = self.rests_until.min(at);
        let apart = |open: &&mut OpenTransaction| !has_pauses[usize::from(open.number)];
        self.open.iter_mut().filter(apart).for_each(|open| open.thought = open.thought.since(left));
    }

    /// The last round of a barrier that it took part in; 0 for none.
    pub(crate) fn last_met(&self, barrier: u32) -> u64 {
        self.met.iter().find(|(number, _)| *number == barrier).map_or(0, |(_, round)| *round)
    }

    /// Records a round of a barrier.
    pub(crate) fn meet(&mut self, barrier: u32, round: u64) {
        match self.met.iter_mut().find(|(number, _)| *number == barrier) {
            Some((_, last)) => *last = round,
            None => self.met.push((barrier, round)),
        }
    }

    /// Records a failure. Of several at a time, one whose duration is only known as a lower bound is the worst.
    pub(crate) fn fail(&mut self, failure: Failure) {
        let weight = |failure| Class::from_outcome(Outcome::Failed(failure)) as usize;
        if self.fork.is_none() || self.failed.is_none_or(|known| weight(known) < weight(failure)) {
            self.failed = Some(failure);
        }
    }
}

impl Fork {
    /// The step of an exchange, counted from 0; `None` behind the last one.
    pub(crate) fn step(&self, index: usize) -> Option<u32> {
        let all = &self.steps.steps;
        (index < self.len()).then(|| all[index % all.len()])
    }

    /// How many exchanges there are.
    pub(crate) fn len(&self) -> usize {
        self.steps.steps.len() * if self.steps.item.is_some() { self.items.len() } else { 1 }
    }

    /// Whether nothing fails with a step.
    pub(crate) fn is_optional(&self, step: u32) -> bool {
        self.steps.optional.contains(&step)
    }

    /// None has begun.
    pub(crate) fn new(steps: Arc<ForkSteps>, items: Vec<Value>, draw: u32) -> Self {
        let (next, began, under_way, taken) = (0, 0, 0, Vec::new());
        Self {
            steps,
            items,
            next,
            began,
            draw,
            taken,
            under_way,
            has_failed: false,
            is_cut: false,
            is_beginning: false,
            is_freed: false,
        }
    }

    /// Extracted values, in the order of the steps, whichever ended first; and the items.
    pub(crate) fn into_taken(mut self) -> (Vec<(ForkPart, u32, Value)>, Vec<Value>) {
        self.taken.sort_by_key(|(part, ..)| *part);
        (self.taken, self.items)
    }
}

impl OpenTransaction {
    /// Its duration up to an instant. `rests_until`: the end of the last pause, which may not be over.
    pub(crate) fn span(&self, at: Nanos, rests_until: Nanos, has_pauses: bool) -> Nanos {
        let left = if has_pauses { Nanos::ZERO } else { rests_until.since(at) };
        at.since(self.began).since(self.thought.since(left))
    }
}

/// The rounds of a loop that goes by the clock or by a list.
#[derive(Debug)]
pub(super) struct TimedRounds {
    limits: LoopLimits,
    began: Nanos,
    begun: u32,
    left: u32,
    next_at: Nanos,
    /// The items left, where it goes by a list.
    items: std::vec::IntoIter<Value>,
}

/// Whether a round begins.
#[derive(Debug, PartialEq)]
pub(crate) enum RoundStart {
    /// It begins, with its item.
    Now(Option<Value>),
    /// It begins after this pause.
    Later(Nanos),
    /// There is none any more.
    Never,
}

impl TimedRounds {
    fn begin(&mut self, at: Nanos) -> RoundStart {
        let end = self.limits.within.map(|within| self.began + within);
        if self.left == 0 || end.is_some_and(|end| at >= end) {
            return RoundStart::Never;
        }
        if self.begun > 0 && at < self.next_at {
            let is_too_late = end.is_some_and(|end| self.next_at >= end);
            return if is_too_late { RoundStart::Never } else { RoundStart::Later(self.next_at - at) };
        }
        (self.begun, self.left) = (self.begun + 1, self.left - 1);
        self.next_at = self.limits.every.map_or(Nanos::ZERO, |every| at + every);
        RoundStart::Now(self.items.next())
    }
}

impl Position {
    /// A loop begins that goes by the clock or by a list.
    pub(crate) fn open_rounds(&mut self, limits: LoopLimits, at: Nanos) {
        let items = Vec::new().into_iter();
        let rounds = TimedRounds { limits, began: at, begun: 0, left: limits.most, next_at: at, items };
        self.frames.push(Frame::Timed(Box::new(rounds)));
    }

    /// The innermost loop has this many rounds, each with its item, if it goes by a list.
    pub(crate) fn set_rounds(&mut self, rounds: u32, all: Vec<Value>) {
        if let Some(Frame::Timed(timed)) = self.frames.last_mut() {
            (timed.left, timed.items) = (rounds, all.into_iter());
        }
    }

    /// The items of the innermost loop, where its rounds are concurrent.
    pub(crate) fn take_items_for(&mut self, steps: &ForkSteps) -> Vec<Value> {
        match self.frames.last_mut() {
            Some(Frame::Timed(rounds)) if steps.item.is_some() => std::mem::take(&mut rounds.items).collect(),
            _ => Vec::new(),
        }
    }

    /// Gives them back for another try.
    pub(crate) fn give_back_items(&mut self, items: Vec<Value>) {
        if let Some(Frame::Timed(rounds)) = self.frames.last_mut().filter(|_| !items.is_empty()) {
            rounds.items = items.into_iter();
        }
    }

    /// The item of one of several exchanges, with the variable that has it. The round is that of the item from then on.
    pub(crate) fn item_of(&mut self, part: ForkPart) -> Option<(u32, Value)> {
        let fork = self.fork.as_deref()?;
        let variable = fork.steps.item?;
        let index = (part as usize).checked_sub(1)? / fork.steps.steps.len();
        let item = fork.items.get(index)?.clone();
        if let Some(Frame::Timed(rounds)) = self.frames.last_mut() {
            rounds.begun = index as u32 + 1;
        }
        Some((variable, item))
    }

    /// A round of the innermost loop begins, unless there is none left.
    pub(crate) fn begin_timed_round(&mut self, at: Nanos) -> RoundStart {
        match self.frames.last_mut() {
            Some(Frame::Timed(rounds)) => rounds.begin(at),
            _ => RoundStart::Never,
        }
    }

    /// The same for a loop that counts.
    pub(super) fn begins_round(&mut self) -> bool {
        match self.frames.last_mut() {
            Some(Frame::Rounds { begun, left }) if *left > 0 => {
                (*begun, *left) = (*begun + 1, *left - 1);
                true
            }
            _ => false,
        }
    }

    /// Loops and shuffles are left.
    pub(crate) fn drop_frames(&mut self, count: usize) {
        self.frames.truncate(self.frames.len().saturating_sub(count));
    }

    /// A block begins whose operations are tried again together.
    pub(super) fn open_block(&mut self, retry: u16, start: u32, (end, is_whole): (u32, bool)) {
        let (transactions, conversations) = (self.open.len(), self.conversations.len());
        let failures = self.failures.len();
        self.frames.push(Frame::Block(OpenBlock {
            retry,
            tries: 0,
            start,
            end,
            is_whole,
            transactions,
            conversations,
            failures,
        }));
    }

    /// The innermost block; loops and shuffles in it are left.
    pub(crate) fn innermost_block(&mut self) -> Option<&mut OpenBlock> {
        let place = self.frames.iter().rposition(|frame| matches!(frame, Frame::Block(_)))?;
        self.frames.truncate(place + 1);
        match self.frames.last_mut() {
            Some(Frame::Block(block)) => Some(block),
            _ => None,
        }
    }

    /// Whether a block is around.
    pub(crate) fn is_in_block(&self) -> bool {
        self.frames.iter().any(|frame| matches!(frame, Frame::Block(_)))
    }

    /// Whether some block is not in its first try.
    pub(crate) fn tries_block_again(&self) -> bool {
        self.frames.iter().any(|frame| matches!(frame, Frame::Block(block) if block.tries > 0))
    }

    /// The transactions and conversations that are open in a block.
    pub(crate) fn open_in(&self, block: OpenBlock) -> (usize, usize) {
        let transactions = self.open.len().saturating_sub(block.transactions);
        (transactions, self.conversations.len().saturating_sub(block.conversations))
    }

    /// The number of the round of the innermost loop, from 0.
    pub(crate) fn round(&self) -> Option<u32> {
        self.frames.iter().rev().find_map(|frame| match frame {
            Frame::Rounds { begun, .. } => Some(begun.saturating_sub(1)),
            Frame::Timed(rounds) => Some(rounds.begun.saturating_sub(1)),
            Frame::Parts(..) | Frame::Block(_) => None,
        })
    }

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
