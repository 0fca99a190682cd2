//! Selection of the driver, and the reason for it.

use std::io::Error;

/// The driver that the user requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The best that works on this system.
    #[default]
    Auto,
    /// io_uring, or an error.
    Uring,
    /// Readiness by epoll or kqueue.
    Poll,
}

/// The kind of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// io_uring.
    Uring,
    /// Readiness by epoll or kqueue.
    Poll,
}

/// The selected driver, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverSelection {
    /// The selected driver.
    pub kind: Kind,
    /// Whether it was requested by name.
    pub was_requested: bool,
    /// The error of the system when io_uring was tried and refused.
    pub refusal: Option<String>,
}

impl Kind {
    /// A stable name for reports and flags.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uring => "uring",
            Self::Poll => "poll",
        }
    }
}

/// Selects a driver that works on this system.
///
/// # Errors
/// io_uring was requested by name, and the system refuses it.
pub fn choose(choice: Choice) -> Result<DriverSelection, Error> {
    match choice {
        Choice::Poll => Ok(DriverSelection { kind: Kind::Poll, was_requested: true, refusal: None }),
        Choice::Uring => probe().map(|()| DriverSelection { kind: Kind::Uring, was_requested: true, refusal: None }),
        Choice::Auto => Ok(match probe() {
            Ok(()) => DriverSelection { kind: Kind::Uring, was_requested: false, refusal: None },
            Err(error) => DriverSelection { kind: Kind::Poll, was_requested: false, refusal: Some(error.to_string()) },
        }),
    }
}

#[cfg(target_os = "linux")]
fn probe() -> Result<(), Error> {
    crate::uring::probe()
}

#[cfg(not(target_os = "linux"))]
fn probe() -> Result<(), Error> {
    Err(Error::new(std::io::ErrorKind::Unsupported, "only Linux has io_uring"))
}
