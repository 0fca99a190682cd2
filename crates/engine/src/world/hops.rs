//! Redirects: an answer that sends a user on makes an exchange of its own.
//!
//! Its request is known when the answer is there, so its step lives as long as its exchange.

use std::ops::Index;
use std::sync::Arc;

use driver::Sockets;
use metrics::{Class, Failure, Outcome};
use pacing::Nanos;
use plan::{At, Follow, Target};
use wire::http1;

use super::World;
use super::exchanges::{Attempt, Exchange};
use super::step::PreparedStep;

/// Statuses that send on (RFC 9110, 15.4).
fn sends_on(status: u16) -> bool {
    // As curl: whatever names a place.
    (300..400).contains(&status)
}

/// What a step needs to follow an answer.
pub(crate) struct Trail {
    pub(super) follow: Follow,
    /// Where it is.
    pub(super) at: At,
    /// Hops before it.
    pub(super) hops: u32,
    /// When the first was intended; never, of that one.
    pub(super) began: Nanos,
    /// The answers that led here, one line each, where they are shown: the last ones.
    pub(super) way: Vec<String>,
}

impl Trail {
    /// The way to this request, and the request; nothing of one that no redirect led to.
    pub(super) fn told(&self) -> Vec<String> {
        if self.hops == 0 {
            return Vec::new();
        }
        self.way.iter().cloned().chain([self.at.told().chars().take(WAY_LINE_CHARS_MAX).collect()]).collect()
    }
}

/// Lines of a way that are kept.
const WAY_MAX: usize = 50;
/// The longest line of a way.
const WAY_LINE_CHARS_MAX: usize = 1_000;

/// The steps of the plan, and those of hops.
pub(crate) struct Steps {
    pub(super) fixed: Arc<[PreparedStep]>,
    hops: Vec<Option<Box<PreparedStep>>>,
    free: Vec<u32>,
    /// Hops that were made.
    made: u32,
}

impl Steps {
    pub(super) fn new(fixed: Arc<[PreparedStep]>) -> Self {
        Self { fixed, hops: Vec::new(), free: Vec::new(), made: 0 }
    }

    /// There is one step, with no pause before it, and nothing follows its answers.
    pub(super) fn is_simple(&self) -> bool {
        let [only] = &*self.fixed else { return false };
        only.trail.is_none() && !only.is_shown && only.pause == Nanos::ZERO
    }

    /// It is of a hop.
    #[inline]
    pub(super) fn is_hop(&self, step: u32) -> bool {
        step as usize >= self.fixed.len()
    }

    fn add(&mut self, step: PreparedStep) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.hops.push(None);
            (self.hops.len() - 1) as u32
        });
        self.hops[index as usize] = Some(Box::new(step));
        self.fixed.len() as u32 + index
    }

    pub(super) fn remove(&mut self, step: u32) {
        let index = step - self.fixed.len() as u32;
        if self.hops[index as usize].take().is_some() {
            self.free.push(index);
        }
    }

    /// The step goes to this origin.
    pub(super) fn lead(&mut self, step: u32, origin: u16) {
        let index = step as usize - self.fixed.len();
        if let Some(step) = &mut self.hops[index] {
            step.origin = origin;
        }
    }

    /// Steps of hops that live.
    #[cfg(test)]
    pub(super) fn hops(&self) -> usize {
        self.hops.len() - self.free.len()
    }
}

impl Index<usize> for Steps {
    type Output = PreparedStep;

    #[inline]
    fn index(&self, index: usize) -> &PreparedStep {
        match self.fixed.get(index) {
            Some(step) => step,
            None => self.hop(index),
        }
    }
}

impl Steps {
    #[cold]
    fn hop(&self, index: usize) -> &PreparedStep {
        self.hops[index - self.fixed.len()].as_deref().expect("a step lives as long as its exchange")
    }
}

/// What follows an answer.
pub(super) enum Next {
    /// Nothing: it is the last.
    Nothing,
    /// This step, perhaps at a target that is not known yet.
    Hop { step: u32, elsewhere: Option<Box<Target>> },
    /// It should be followed and cannot be.
    Stuck,
}

impl World {
    /// What follows the answer of an exchange.
    #[inline]
    pub(super) fn next_hop(&mut self, exchange: &Exchange, attempt: Option<&Attempt>) -> Next {
        if self.is_simple || self.steps[exchange.step as usize].trail.is_none() {
            return Next::Nothing;
        }
        self.make_hop(exchange, attempt)
    }

    #[cold]
    fn make_hop(&mut self, exchange: &Exchange, attempt: Option<&Attempt>) -> Next {
        let Some(kept) = attempt.and_then(|attempt| attempt.kept.as_deref()) else { return Next::Nothing };
        let status = kept.status;
        let location = http1::fields(&kept.head).find(|(name, _)| name.eq_ignore_ascii_case(b"location"));
        // One that is empty leads nowhere: then this answer is the last.
        let location = location.filter(|(_, location)| !location.trim_ascii().is_empty());
        // What has begun goes on to its end, also when nothing new is started any more: the grace bounds it.
        let (Some((_, location)), true) = (location, sends_on(status)) else { return Next::Nothing };
        let step = &self.steps[exchange.step as usize];
        let Some(trail) = &step.trail else { return Next::Nothing };
        let target = self.origins[usize::from(step.origin)].target.clone();
        if trail.hops >= trail.follow.most {
            return Next::Stuck;
        }
        let Some(hop) = trail.follow.hop(status, location, &trail.at, &target) else { return Next::Stuck };
        let elsewhere = hop.elsewhere;
        let elsewhere =
            elsewhere.map(|(is_tls, host, port)| Box::new(trail.follow.target(&target, is_tls, host, port)));
        let mut way = trail.way.clone();
        if attempt.is_some_and(Attempt::is_recorded) {
            let line = format!("{} {status} -> {}", trail.at.told(), String::from_utf8_lossy(location));
            way.drain(..(way.len() + 1).saturating_sub(WAY_MAX));
            way.push(line.chars().take(WAY_LINE_CHARS_MAX).collect());
        }
        let next = Trail {
            way,
            follow: trail.follow.clone(),
            at: hop.at,
            hops: trail.hops + 1,
            began: trail.began.min(exchange.intended),
        };
        let number = (self.steps.fixed.len() as u32).wrapping_add(self.steps.made) | 1 << 31;
        let prepared = step.for_hop(number, &hop.request, next, elsewhere.as_deref().unwrap_or(&target));
        self.steps.made = self.steps.made.wrapping_add(1);
        Next::Hop { step: self.steps.add(prepared), elsewhere }
    }

    /// An answer is the last of its way: how long the whole took.
    #[cold]
    pub(super) fn end_chain(&mut self, exchange: &Exchange, outcome: Outcome, done: Nanos) {
        let Some(trail) = &self.steps[exchange.step as usize].trail else { return };
        let is_answered = matches!(Class::of(outcome), Class::Succeeded | Class::FailedAnswered);
        if is_answered && exchange.is_measured {
            self.seen.chains.record(done.since(trail.began.min(exchange.intended)).0);
        }
    }

    /// Where a load goes to several places, a failure is told with its place.
    #[cold]
    pub(super) fn blame(&mut self, step: u32, failure: Failure) {
        let step = &self.steps[step as usize];
        if self.origins.len() > 1 || step.trail.is_some() {
            self.seen.blamed.add(failure, &step.place, 1);
        }
    }

    /// A hop whose host is unknown ends before it began.
    #[cold]
    #[inline(never)]
    pub(super) fn fail_hop<S: Sockets>(
        &mut self,
        user: u32,
        step: u32,
        intended: Nanos,
        failure: Failure,
        sockets: &mut S,
    ) {
        let exchange = Exchange::new(user, step, intended, intended, self.measured_from);
        self.seen.counts.started += u64::from(exchange.is_measured);
        self.seen.counts.attempts += u64::from(exchange.is_measured);
        let key = self.exchanges.insert(exchange);
        let now = sockets.now();
        self.end_exchange(key, None, Outcome::Failed(failure), now, sockets);
    }
}
