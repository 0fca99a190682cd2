//! Transactions: their beginning, their end, and their outcome.

use metrics::{Class, Failure, Outcome, SeriesId};
use pacing::Nanos;

use crate::program::OpenTransaction;
use crate::scenario_runtime::ScenarioRuntime;

impl ScenarioRuntime {
    pub(super) fn begin_transaction(&mut self, user: u32, number: u16, at: Nanos) {
        if let Some(place) = self.users.programs.place(user) {
            place.open.push(OpenTransaction { number, began: at, thought: Nanos::ZERO });
        }
    }

    pub(super) fn end_transaction(&mut self, user: u32, number: u16, at: Nanos) {
        let Some(place) = self.users.programs.place(user) else { return };
        let (open, rests_until) = (place.open.pop().expect("what ends has begun"), place.rests_until);
        debug_assert!(open.number == number, "they lie in each other");
        self.record_transaction(open, rests_until, Some(Class::Succeeded), at);
    }

    /// Ends open transactions as not completed. `is_cut`: because the load is over, else because of a failure.
    #[cold]
    pub(super) fn close_transactions(&mut self, user: u32, is_cut: bool, at: Nanos) {
        self.close_inner_transactions(user, usize::MAX, is_cut, at);
    }

    /// Ends this many of the innermost transactions as not completed.
    #[cold]
    pub(super) fn close_inner_transactions(&mut self, user: u32, count: usize, is_cut: bool, at: Nanos) {
        let Some(place) = self.users.programs.place(user) else { return };
        let (rests_until, failure) = (place.rests_until, place.failed);
        for _ in 0..count {
            let Some(open) = self.users.programs.place(user).and_then(|place| place.open.pop()) else { return };
            // A step that was dropped has no failure: it could not start in time, and it is unknown how long it would
            // have taken.
            let of_failure = failure.map_or(Class::TimedOut, |failure| Class::from_outcome(Outcome::Failed(failure)));
            let ended = if is_cut { None } else { Some(of_failure) };
            let is_measured = self.record_transaction(open, rests_until, ended, at);
            if let Some(failure) = failure.filter(|_| is_measured && !is_cut) {
                self.unreported.fail(self.transaction(open.number), failure);
            }
        }
    }

    /// Cuts the open transactions of all users.
    pub(in crate::scenario_runtime) fn cut_transactions(&mut self, at: Nanos) {
        for user in 0..self.users.programs.places.len() {
            self.close_transactions(user as u32, true, at);
        }
    }

    /// `None`: it did not end. False when it began before the measured time.
    fn record_transaction(
        &mut self,
        open: OpenTransaction,
        rests_until: Nanos,
        ended: Option<Class>,
        at: Nanos,
    ) -> bool {
        if open.began < self.instants.measured_from {
            return false;
        }
        let series = self.transaction(open.number);
        let has_pauses = self.users.programs.code.transactions[usize::from(open.number)];
        let span = open.span(at, rests_until, has_pauses).0;
        match ended {
            Some(class) => {
                self.unreported.record(series, class, span);
                let deadline = self.users.programs.code.deadlines[usize::from(open.number)];
                if class == Class::Succeeded && Nanos(span) > deadline {
                    self.unreported.miss_deadline(series);
                }
            }
            None => self.unreported.record_unfinished(series, span),
        }
        true
    }

    fn transaction(&self, number: u16) -> SeriesId {
        SeriesId::transaction(self.work.first_transaction + u32::from(number))
    }

    /// An exchange of a user failed, or a check: noted for transactions around it, and for another try. `step`: the
    /// series of a measured exchange.
    #[cold]
    pub(in crate::scenario_runtime) fn note_failure(&mut self, user: u32, failure: Failure, step: Option<SeriesId>) {
        if self.users.all[user as usize].is_inside
            && let Some(place) = self.users.programs.place(user)
        {
            place.fail(failure);
            step.into_iter().for_each(|step| place.failures.add(step));
        }
    }

    /// The failure of one of several exchanges that fails no other.
    #[cold]
    pub(in crate::scenario_runtime) fn note_optional_failure(&mut self, user: u32, step: Option<SeriesId>) {
        let place = self.users.programs.place(user);
        place.zip(step).into_iter().for_each(|(place, step)| place.failures.add(step));
    }

    /// The user begins something: what failed before is tried again with it, or was given up.
    #[cold]
    pub(super) fn settle_failures(&mut self, user: u32) {
        let Some(place) = self.users.programs.place(user) else { return };
        let is_in_block = place.is_in_block();
        place.failures.settle(is_in_block).into_iter().for_each(|step| self.unreported.retry(step));
    }
}
