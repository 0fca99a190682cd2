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
    Rest(Nanos),
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
    /// Its request went out and it ended well.
    Ended,
    /// Its request went out and it failed.
    Failed,
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
    pub(crate) fn take(&mut self, is_measured: bool) -> bool {
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

/// Where a user is between its first iteration and its last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum UserPhase {
    /// It has begun nothing.
    #[default]
    New,
    /// It does what comes before its first iteration, or has to do it again.
    Starting,
    /// It goes through iterations.
    Ready,
    /// It does what comes behind its last iteration.
    Stopping,
}

/// A user, and where it is in its iteration.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct User {
    /// Its own connection, idle, when it has one.
    pub(crate) connection: Option<Socket>,
    /// Where it is in its program.
    pub(crate) counter: u32,
    /// It has begun an iteration.
    pub(crate) is_inside: bool,
    /// That iteration is part of what is measured.
    pub(crate) is_counted: bool,
    /// Where it is between its first iteration and its last.
    pub(crate) stage: UserPhase,
    /// It leaves: its program says so.
    pub(crate) has_incomplete: bool,
    /// It has gone, and comes back when the load wants more users again.
    pub(crate) is_parked: bool,
}

impl Budget {
    /// What a user does that sends, waits for the whole answer, and sends again.
    pub(crate) fn next(&mut self, view: View, is_measured: bool) -> Next {
        if view == View::NoConnection && !self.is_spent() {
            return Next::Rest(REFUSED_PAUSE);
        }
        #[cfg(test)]
        if let Some(pause) = crate::idle::pause_after(view) {
            return Next::Rest(pause);
        }
        if self.take(is_measured) { Next::Exchange } else { Next::End }
    }
}
