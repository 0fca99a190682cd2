//! Wakes a driver at an instant, with a timer that is armed once and lasts for many waits.
//!
//! A wait with its own timeout starts and stops a kernel timer each time, which costs a one-connection load several
//! microseconds per request; and a poller rounds up to whole milliseconds. A timer that is armed for an earlier
//! instant stays: the driver wakes once too early, and arms it again.

use std::time::Duration;

use pacing::Nanos;

/// Requests the minimum timer slack. By default the kernel may let a thread sleep 50 us longer than requested, to
/// coalesce wake-ups. If the kernel refuses, starts are late by those 50 us.
#[cfg(target_os = "linux")]
pub(crate) fn wake_exactly() {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn wake_exactly() {}

#[cfg(target_os = "linux")]
pub(crate) struct Timer {
    fd: std::os::fd::OwnedFd,
    armed: Nanos,
}

#[cfg(target_os = "linux")]
impl Timer {
    pub(crate) fn new() -> Result<Self, std::io::Error> {
        use rustix::time::{TimerfdClockId, TimerfdFlags, timerfd_create};
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Self { fd, armed: Nanos::NEVER })
    }

    /// Readable at each expiry; nothing has to be read, since waiting is edge-triggered.
    pub(crate) fn fd(&self) -> std::os::fd::RawFd {
        std::os::fd::AsRawFd::as_raw_fd(&self.fd)
    }

    /// The timeout of the driver's own wait; `None` when the timer wakes it, or when it has no deadline.
    pub(crate) fn timeout(&mut self, until: Nanos, now: Nanos) -> Option<Duration> {
        let span = until.since(now);
        if until == Nanos::NEVER || span == Nanos::ZERO {
            return (until != Nanos::NEVER).then_some(Duration::ZERO);
        }
        let is_armed = now < self.armed && self.armed <= until;
        if !is_armed && !self.arm(span) {
            return Some(span.as_duration());
        }
        if !is_armed {
            self.armed = until;
        }
        None
    }

    fn arm(&self, span: Nanos) -> bool {
        use rustix::time::{Itimerspec, TimerfdTimerFlags, Timespec, timerfd_settime};
        let value = Timespec { tv_sec: (span.0 / 1_000_000_000) as i64, tv_nsec: (span.0 % 1_000_000_000) as i64 };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        timerfd_settime(&self.fd, TimerfdTimerFlags::empty(), &once).is_ok()
    }

    /// Called when the timer has expired.
    pub(crate) fn fired(&mut self) {
        self.armed = Nanos::NEVER;
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) struct Timer;

#[cfg(not(target_os = "linux"))]
impl Timer {
    pub(crate) fn new() -> Result<Self, std::io::Error> {
        Ok(Self)
    }

    pub(crate) fn timeout(&mut self, until: Nanos, now: Nanos) -> Option<Duration> {
        (until != Nanos::NEVER).then(|| until.since(now).as_duration())
    }

    pub(crate) fn fired(&mut self) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const HOUR: Nanos = Nanos::from_millis(3_600_000);

    /// Time until it expires; zero when it is not armed.
    fn left(timer: &Timer) -> Nanos {
        let left = rustix::time::timerfd_gettime(&timer.fd).expect("the system tells").it_value;
        Nanos(left.tv_sec as u64 * 1_000_000_000 + left.tv_nsec as u64)
    }

    #[test]
    fn a_timer_goes_off_no_later_than_requested() {
        let (mut timer, now) = (Timer::new().expect("a timer"), Nanos(5));
        assert_eq!((timer.timeout(now + HOUR, now), timer.armed), (None, now + HOUR));
        let first = left(&timer);
        assert!(first > Nanos::ZERO && first <= HOUR, "{first:?}");
        // An earlier instant replaces it, and a later one does not.
        let sooner = Nanos(HOUR.0 / 2);
        assert_eq!((timer.timeout(now + sooner, now), timer.armed), (None, now + sooner));
        assert!(left(&timer) <= sooner);
        assert_eq!((timer.timeout(now + HOUR, now), timer.armed), (None, now + sooner));
        assert!(left(&timer) <= sooner);
        // When it has expired, or its instant has passed, it is re-armed.
        timer.fired();
        assert_eq!((timer.timeout(now + HOUR, now), timer.armed), (None, now + HOUR));
        assert!(left(&timer) > sooner && left(&timer) <= HOUR);
        let then = now + HOUR + Nanos(1);
        assert_eq!((timer.timeout(then + sooner, then), timer.armed), (None, then + sooner));
        assert!(left(&timer) <= sooner);
    }

    #[test]
    fn what_is_due_is_not_waited_for() {
        let (mut timer, now) = (Timer::new().expect("a timer"), Nanos(5));
        assert_eq!(timer.timeout(now, now), Some(Duration::ZERO));
        assert_eq!(timer.timeout(Nanos::ZERO, now), Some(Duration::ZERO));
        assert_eq!((timer.timeout(Nanos::NEVER, now), left(&timer)), (None, Nanos::ZERO));
    }
}
