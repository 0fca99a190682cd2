//! The driver of the kind that was selected.

use std::io::Error;

use pacing::Nanos;

use crate::poll::PollDriver;
#[cfg(target_os = "linux")]
use crate::uring::UringDriver;
use crate::{Clock, Driver, Event, Kind, Sockets, Waker};

/// A driver of the kind that was selected.
pub enum ChosenDriver {
    /// io_uring.
    #[cfg(target_os = "linux")]
    Uring(UringDriver),
    /// Readiness.
    Poll(PollDriver),
}

impl ChosenDriver {
    /// A driver on the clock of the run, for the calling thread.
    ///
    /// # Errors
    /// The kernel refuses what it needs.
    pub fn new(kind: Kind, clock: Clock) -> Result<Self, Error> {
        match kind {
            Kind::Poll => PollDriver::new(clock).map(Self::Poll),
            #[cfg(target_os = "linux")]
            Kind::Uring => UringDriver::new(clock).map(Self::Uring),
            #[cfg(not(target_os = "linux"))]
            Kind::Uring => Err(std::io::ErrorKind::Unsupported.into()),
        }
    }
}

impl Driver for ChosenDriver {
    fn sockets(&mut self) -> &mut dyn Sockets {
        match self {
            #[cfg(target_os = "linux")]
            Self::Uring(driver) => driver.sockets(),
            Self::Poll(driver) => driver.sockets(),
        }
    }

    fn now(&self) -> Nanos {
        match self {
            #[cfg(target_os = "linux")]
            Self::Uring(driver) => driver.now(),
            Self::Poll(driver) => driver.now(),
        }
    }

    fn waker(&self) -> Waker {
        match self {
            #[cfg(target_os = "linux")]
            Self::Uring(driver) => driver.waker(),
            Self::Poll(driver) => driver.waker(),
        }
    }

    fn wait(&mut self, until: Nanos, handle: impl FnMut(&mut dyn Sockets, Event<'_>)) -> Result<(), Error> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Uring(driver) => driver.wait(until, handle),
            Self::Poll(driver) => driver.wait(until, handle),
        }
    }

    fn coalesce(&mut self, span: Nanos) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Uring(driver) => driver.coalesce(span),
            Self::Poll(driver) => driver.coalesce(span),
        }
    }

    fn has_more(&self) -> bool {
        match self {
            #[cfg(target_os = "linux")]
            Self::Uring(driver) => driver.has_more(),
            Self::Poll(driver) => driver.has_more(),
        }
    }
}
