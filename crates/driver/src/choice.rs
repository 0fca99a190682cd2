//! Which driver runs, and why.

use std::io::Error;

/// What the user asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The best that works here.
    #[default]
    Auto,
    /// io_uring or nothing.
    Uring,
    /// Readiness by epoll or kqueue.
    Poll,
}

/// What runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// io_uring.
    Uring,
    /// Readiness by epoll or kqueue.
    Poll,
}

/// What runs, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverSelection {
    /// What runs.
    pub kind: Kind,
    /// It was asked for by name.
    pub was_requested: bool,
    /// What the system said when io_uring was tried and refused.
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

/// Looks at what works here.
///
/// # Errors
/// io_uring was asked for by name, and the system refuses it.
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
