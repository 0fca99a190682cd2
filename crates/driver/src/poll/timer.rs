//! Waiting until an instant, more exactly than the poller's whole milliseconds.

use std::time::Duration;

use mio::{Registry, Token};
use pacing::Nanos;

/// The poller rounds up to whole milliseconds. A timer descriptor costs a system call, so only near instants get one.
#[cfg(target_os = "linux")]
const NEAR: Nanos = Nanos::from_millis(60);

#[cfg(target_os = "linux")]
pub(super) struct Timer {
    fd: std::os::fd::OwnedFd,
    armed: Nanos,
}

#[cfg(target_os = "linux")]
impl Timer {
    pub(super) fn new(registry: &Registry, token: Token) -> Result<Self, std::io::Error> {
        use std::os::fd::AsRawFd;

        use rustix::time::{TimerfdClockId, TimerfdFlags, timerfd_create};
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        registry.register(&mut mio::unix::SourceFd(&fd.as_raw_fd()), token, mio::Interest::READABLE)?;
        Ok(Self { fd, armed: Nanos::NEVER })
    }

    /// How long the poller may wait; the timer wakes it at `until` when that is near.
    pub(super) fn timeout(&mut self, until: Nanos, now: Nanos) -> Option<Duration> {
        let span = until.since(now);
        if until == Nanos::NEVER {
            return None;
        }
        if span > NEAR {
            // Wakes a little early; the next wait is near.
            return Some(span.since(Nanos::from_millis(40)).as_duration());
        }
        if span > Nanos::ZERO && self.armed != until && self.arm(span) {
            self.armed = until;
        }
        Some(span.as_duration())
    }

    fn arm(&self, span: Nanos) -> bool {
        use rustix::time::{Itimerspec, TimerfdTimerFlags, Timespec, timerfd_settime};
        let value = Timespec { tv_sec: (span.0 / 1_000_000_000) as i64, tv_nsec: (span.0 % 1_000_000_000) as i64 };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        timerfd_settime(&self.fd, TimerfdTimerFlags::empty(), &once).is_ok()
    }

    /// Edge-triggered and armed anew each time, so nothing has to be read.
    pub(super) fn fired(&mut self) {
        self.armed = Nanos::NEVER;
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) struct Timer;

#[cfg(not(target_os = "linux"))]
impl Timer {
    pub(super) fn new(_: &Registry, _: Token) -> Result<Self, std::io::Error> {
        Ok(Self)
    }

    pub(super) fn timeout(&mut self, until: Nanos, now: Nanos) -> Option<Duration> {
        (until != Nanos::NEVER).then(|| until.since(now).as_duration())
    }

    pub(super) fn fired(&mut self) {}
}
