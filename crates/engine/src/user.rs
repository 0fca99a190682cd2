//! A virtual user as data, and the number of exchanges that it may start.

use driver::Socket;
use pacing::Nanos;

/// Pause of a user that got no connection. Without it, a dead target would turn the run into a storm of refusals.
pub(crate) const REFUSED_PAUSE: Nanos = Nanos::from_millis(10);

/// The next action of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Starts the exchange of its next step.
    Exchange,
    /// Pauses; never counted as latency.
    Rest(Nanos),
    /// Ends its work.
    End,
}

/// State of the last exchange of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastExchange {
    /// There was no exchange.
    Nothing,
    /// It comes back: from a pause, from several exchanges at a time, or from an `on_start` that requested nothing.
    Rested,
    /// Its request was sent and it ended well.
    Ended,
    /// Its request was sent and it failed.
    Failed,
    /// Its request was not sent: there was no connection, it could not be made, or it was dropped.
    NoConnection,
}

/// The budget of iterations that the users of a shard may still begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartQuota {
    pub(crate) starts: Option<u64>,
    /// No more starts: the time is over, or the run was stopped.
    pub(crate) is_over: bool,
}

impl StartQuota {
    pub(crate) fn is_spent(&self) -> bool {
        self.is_over || self.starts == Some(0)
    }

    /// Takes one start. What is not measured counts only against time.
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

/// Phase in the life of a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum UserPhase {
    /// It has not begun anything.
    #[default]
    New,
    /// It runs `on_start`, or has to run it again.
    Starting,
    /// It runs iterations.
    Ready,
    /// It runs `on_stop`.
    Stopping,
}

/// A user, and its position in its iteration.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct User {
    /// Its own idle connection, when it has one.
    pub(crate) connection: Option<Socket>,
    /// Its position in its program.
    pub(crate) counter: u32,
    /// It has begun an iteration.
    pub(crate) is_inside: bool,
    /// That iteration is measured.
    pub(crate) is_counted: bool,
    /// Its phase.
    pub(crate) stage: UserPhase,
    /// It leaves, as its program says.
    pub(crate) is_leaving: bool,
    /// It is gone, and comes back when the load wants more users again.
    pub(crate) is_parked: bool,
}

impl StartQuota {
    /// The next action of a user that sends, waits for the complete response, and sends again.
    pub(crate) fn next(&mut self, view: LastExchange, is_measured: bool) -> Next {
        if view == LastExchange::NoConnection && !self.is_spent() {
            return Next::Rest(REFUSED_PAUSE);
        }
        #[cfg(test)]
        if let Some(pause) = crate::idle::pause_after(view) {
            return Next::Rest(pause);
        }
        if self.take(is_measured) { Next::Exchange } else { Next::End }
    }
}
