//! Stops one thread of another process. SIGSTOP would stop the whole group, so the thread is traced and interrupted.

#![expect(unsafe_code, reason = "no library has ptrace without unsafe")]

use std::io::Error;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

use crate::seen::wait_for;

/// A thread that is stopped until this value is dropped. Only the thread that made the value may drop it: the kernel
/// requires the tracer itself.
pub(crate) struct Stopped(libc::pid_t);

impl Stopped {
    pub(crate) fn stop(thread: i32) -> Result<Self, Error> {
        trace(libc::PTRACE_SEIZE, thread)?;
        let stopped = Self(thread);
        trace(libc::PTRACE_INTERRUPT, thread)?;
        let mut status = 0;
        // SAFETY: `status` lives until the call returns.
        if unsafe { libc::waitpid(thread, &raw mut status, libc::__WALL) } != thread {
            return Err(Error::last_os_error());
        }
        Ok(stopped)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // A thread that has ended in the meantime needs no detaching.
        let _ = trace(libc::PTRACE_DETACH, self.0);
    }
}

/// Lets a stall last at least this long: no check depends on how much longer it is.
pub(crate) fn let_pass(time: Duration) {
    let begun = Instant::now();
    wait_for("a stall is over", || begun.elapsed() >= time);
}

fn trace(request: libc::c_uint, thread: libc::pid_t) -> Result<(), Error> {
    // SAFETY: none of the three requests reads or writes memory of ours.
    let done = unsafe { libc::ptrace(request, thread, null_mut::<libc::c_void>(), null_mut::<libc::c_void>()) };
    if done == -1 { Err(Error::last_os_error()) } else { Ok(()) }
}
