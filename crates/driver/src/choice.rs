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
pub struct Chosen {
    /// What runs.
    pub kind: Kind,
    /// It was asked for by name.
    pub was_asked: bool,
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
pub fn choose(choice: Choice) -> Result<Chosen, Error> {
    match choice {
        Choice::Poll => Ok(Chosen { kind: Kind::Poll, was_asked: true, refusal: None }),
        Choice::Uring => probe().map(|()| Chosen { kind: Kind::Uring, was_asked: true, refusal: None }),
        Choice::Auto => Ok(match probe() {
            Ok(()) => Chosen { kind: Kind::Uring, was_asked: false, refusal: None },
            Err(error) => Chosen { kind: Kind::Poll, was_asked: false, refusal: Some(error.to_string()) },
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
