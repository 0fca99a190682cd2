//! The web page of a run, and its API for programs: HTTP, JSON, and a stream of events.
//!
//! A [`Site`] is a small server on its own thread. The code that carries out a run reports intervals, changes and the
//! end to its [`Hub`], which keeps a bounded picture of the run and never waits. A client with the token reads it,
//! and changes the run. The charts are those of the report: one copy, behind a lock that no shard takes.
//!
//! - `run`: the picture of the run; a search or sweep around it arrives as its JSON report, and pages get it as
//!   markup (`report::part_of_page`)
//! - `auth` checks each request first: Host, Origin, token. `api` has the paths, `commands` turns requests into changes
//!   of the engine, `stream` has a bounded mailbox for each page; a page whose mailbox is full is told to read the
//!   full state again.
//! - The terminal screen (crate `screen`) draws the same picture; its keys do the same as the HTTP API. `onrush ctl`
//!   is a client of it; `docs/web.schema.json` describes it.
//! - Values come from `report` (`live.rs`), the charts' script and style too. `assets` has the page: plain modules,
//!   no build step. A page reads all once, then the last point of each series (`addPoint`), and all again when it
//!   does not fit.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod api;
mod auth;
mod commands;
mod error;
mod hub;
mod run;
mod run_requests;
mod stream;
#[cfg(test)]
mod tests;
mod token;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use listener::{Bounded, Bounds, WhenFull};
use report::Language;

pub use error::ApiError;
pub use hub::Hub;
pub use run::Began;
pub use run_requests::{Reply, RunRequest};
pub use token::{new_token, token_fault};

/// A browser has up to six connections, and a page keeps one; unauthenticated ones make room for others.
const BOUNDS: Bounds = Bounds {
    connections: 256,
    when_full: WhenFull::CloseOldest,
    request_bytes: 64 * 1024,
    idle: Duration::from_secs(30),
    request: Duration::from_secs(10),
};
/// How long pages may take for the last results when the program ends.
const LEAVE_WAIT_MAX: Duration = Duration::from_secs(2);
/// The polling interval of that.
const LEAVE_LOOK_EVERY: Duration = Duration::from_millis(20);

/// A function that lists scenario files.
pub type NameFiles = fn() -> Vec<String>;

/// The offer of a page besides a run.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    /// The version of the program.
    pub version: String,
    /// The language in which pages begin.
    pub language: Language,
    /// The function that lists the scenario files that may be run.
    pub files: Option<NameFiles>,
    /// The channel for runs that are started here.
    pub requests: Option<Sender<RunRequest>>,
}

/// The server.
pub struct Site {
    hub: Hub,
    address: SocketAddr,
    leave: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Site {
    /// Starts to listen.
    ///
    /// # Errors
    /// The system refuses the address, or a thread.
    pub fn start(listen: SocketAddr, token: &str, offer: Offer) -> std::io::Result<Self> {
        Self::within(listen, token, offer, BOUNDS)
    }

    fn within(listen: SocketAddr, token: &str, offer: Offer, bounds: Bounds) -> std::io::Result<Self> {
        let listener = TcpListener::bind(listen)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let hub = Hub::new(offer);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let (leave, left) = tokio::sync::oneshot::channel();
        let router = api::router(&hub, Arc::from(token));
        let thread = std::thread::Builder::new().name("web".to_owned()).spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                let service = router.into_make_service_with_connect_info::<auth::Who>();
                tokio::select! {
                    // It ends with the program only.
                    _ = axum::serve(Bounded::new(listener, bounds), service) => {}
                    _ = left => {}
                }
            });
        })?;
        Ok(Self { hub, address, leave: Some(leave), thread: Some(thread) })
    }

    /// The hub for reports.
    pub fn hub(&self) -> Hub {
        self.hub.clone()
    }

    /// The listen address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Site {
    /// Open pages get the last results first; those that do not fetch them are closed.
    fn drop(&mut self) {
        self.hub.leave();
        let until = Instant::now() + LEAVE_WAIT_MAX;
        while self.hub.has_listeners() && Instant::now() < until {
            std::thread::sleep(LEAVE_LOOK_EVERY);
        }
        if let Some(leave) = self.leave.take() {
            // The server may be gone already.
            let _ = leave.send(());
        }
        if let Some(thread) = self.thread.take() {
            // A panicked server needs no handling here.
            let _ = thread.join();
        }
    }
}
