//! A virtual user: a small machine that says what it does next.

use driver::Socket;
use pacing::Nanos;

/// A user that found no connection waits this long. Without it, a dead target would make the run a storm of refusals.
pub(crate) const REFUSED_PAUSE: Nanos = Nanos::from_millis(10);

/// What a user does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Starts the exchange of its next step.
    Exchange,
    /// Pauses; never counted as latency.
    Think(Nanos),
    /// Is at the end of its work.
    End,
}

/// What a user knows of its last exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// There was none.
    Nothing,
    /// A pause has passed since.
    Rested,
    /// Its request went out and it ended, well or badly.
    Ended,
    /// There was no connection to send it on.
    NoConnection,
}

/// The iterations that the users of a shard may still begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) starts: Option<u64>,
    /// No more starts: the time is over, or the run was stopped.
    pub(crate) is_over: bool,
}

impl Budget {
    pub(crate) fn is_spent(&self) -> bool {
        self.is_over || self.starts == Some(0)
    }

    /// One more start. What is not measured comes out of no bound but time.
    fn take(&mut self, is_measured: bool) -> bool {
        if self.is_spent() {
            return false;
        }
        if !is_measured {
            return true;
        }
        if let Some(starts) = &mut self.starts {
            *starts -= 1;
        }
        true
    }
}

/// A user, and where it is in its iteration.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct User {
    /// Its own connection, idle, when it has one.
    pub(crate) connection: Option<Socket>,
    /// Its next step, by its place in the order of the iteration.
    pub(crate) position: u16,
    /// It has begun an iteration of several steps.
    pub(crate) is_inside: bool,
    /// That iteration is part of what is measured.
    pub(crate) is_counted: bool,
    /// It has gone, and comes back when the load wants more users again.
    pub(crate) is_parked: bool,
}

impl User {
    /// Sends, waits for the whole answer, sends again. An iteration that has begun goes on until the time is over, not until no
    /// further one may begin.
    pub(crate) fn next(&self, view: View, pause: Nanos, budget: &mut Budget, is_measured: bool) -> Next {
        let is_spent = if self.is_inside { budget.is_over } else { budget.is_spent() };
        if view == View::NoConnection && !is_spent {
            return Next::Think(REFUSED_PAUSE);
        }
        #[cfg(test)]
        if let Some(pause) = crate::idle::pause_after(view) {
            return Next::Think(pause);
        }
        // One that has nothing left to do does not wait for it.
        if pause > Nanos::ZERO && view != View::Rested && !is_spent {
            return Next::Think(pause);
        }
        if self.is_inside {
            return if is_spent { Next::End } else { Next::Exchange };
        }
        if budget.take(is_measured) { Next::Exchange } else { Next::End }
    }
}
