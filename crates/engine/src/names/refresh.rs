//! The threads that look names up again during a run: few for many names.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant, SystemTime};

use plan::{LOOKUP_EVERY_MIN, LookupAgain};

use super::config::{hosts_changed_at, own_addresses};
use super::{AddressSet, LookupFault, NameReport, SYSTEM_EVERY, ask};
use crate::addresses_of;
use crate::control::StopHandle;

/// Lookups at a time.
const THREADS_MAX: usize = 8;
/// A failed lookup is repeated after this time, unless the TTL was shorter.
const FAILED_AGAIN: Duration = Duration::from_secs(5);

/// Who knows the addresses of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KnownBy {
    /// That is found out by the first lookup.
    Unknown,
    /// A name server, which says how long they are valid.
    Server(Duration),
    /// The system: nothing else knows the name.
    System,
    /// `/etc/hosts`, as of this time.
    Hosts(Option<SystemTime>),
}

struct Watched {
    set: Arc<AddressSet>,
    source: KnownBy,
}

#[derive(Default)]
struct Queue {
    /// When each name is due.
    due: BinaryHeap<Reverse<(Instant, usize)>>,
    is_over: bool,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    news: Condvar,
}

/// Looks names up again until it is dropped.
#[derive(Default)]
pub(crate) struct Refresher {
    sets: Vec<Arc<AddressSet>>,
    shared: Arc<Shared>,
}

impl Refresher {
    /// Begins to look up these names. A name without an address that may be loaded stops the run.
    pub(crate) fn start(sets: Vec<Arc<AddressSet>>, stop: &StopHandle) -> Result<Self, std::io::Error> {
        let watched = |set: &Arc<AddressSet>| Mutex::new(Watched { set: set.clone(), source: KnownBy::Unknown });
        let watched: Arc<[Mutex<Watched>]> = sets.iter().map(watched).collect();
        let refresher = Self { sets, shared: Arc::default() };
        let now = Instant::now();
        refresher.shared.queue.lock().expect("no holder of the lock panics").due =
            (0..watched.len()).map(|name| Reverse((now, name))).collect();
        for _ in 0..watched.len().min(THREADS_MAX) {
            let (shared, watched, stop) = (refresher.shared.clone(), watched.clone(), stop.clone());
            let thread = std::thread::Builder::new().name("names".to_owned());
            thread.spawn(move || work(&shared, &watched, &stop))?;
        }
        Ok(refresher)
    }

    /// What became of the lookups of each name.
    pub(crate) fn reports(&self) -> Vec<NameReport> {
        self.sets.iter().map(|set| set.report()).collect()
    }
}

impl Drop for Refresher {
    fn drop(&mut self) {
        // A lookup in progress is not waited for: nobody takes its addresses.
        self.shared.queue.lock().expect("no holder of the lock panics").is_over = true;
        self.shared.news.notify_all();
    }
}

fn work(shared: &Shared, watched: &[Mutex<Watched>], stop: &StopHandle) {
    while let Some(name) = next(shared) {
        let again = {
            let mut watched = watched[name].lock().expect("no holder of the lock panics");
            look_up(&mut watched, stop)
        };
        let mut queue = shared.queue.lock().expect("no holder of the lock panics");
        queue.due.push(Reverse((Instant::now() + again, name)));
        shared.news.notify_one();
    }
}

/// Waits for the next name that is due; `None` when it is over.
fn next(shared: &Shared) -> Option<usize> {
    let mut queue = shared.queue.lock().expect("no holder of the lock panics");
    loop {
        if queue.is_over {
            return None;
        }
        let now = Instant::now();
        let due = queue.due.peek().map(|Reverse((due, _))| *due);
        queue = match due {
            Some(due) if due <= now => return queue.due.pop().map(|Reverse((_, name))| name),
            Some(due) => shared.news.wait_timeout(queue, due - now).expect("no holder of the lock panics").0,
            None => shared.news.wait(queue).expect("no holder of the lock panics"),
        };
    }
}

/// Looks a name up, and returns when it is due again.
fn look_up(watched: &mut Watched, stop: &StopHandle) -> Duration {
    let (set, options) = (&watched.set, watched.set.target().names);
    if watched.source == KnownBy::Unknown && options.server.is_none() && !own_addresses(set.host()).is_empty() {
        watched.source = KnownBy::Hosts(hosts_changed_at());
    }
    let found = match watched.source {
        KnownBy::Hosts(known) => {
            let changed = hosts_changed_at();
            if known == changed {
                return LOOKUP_EVERY_MIN;
            }
            watched.source = KnownBy::Hosts(changed);
            let addresses = own_addresses(set.host());
            if addresses.is_empty() { Err(LookupFault::NoName) } else { Ok(addresses) }
        }
        KnownBy::System => of_system(set.host()),
        KnownBy::Unknown | KnownBy::Server(_) => match ask(options.server, set.host()) {
            Ok(records) => {
                watched.source = KnownBy::Server(records.ttl.max(LOOKUP_EVERY_MIN));
                Ok(records.addresses)
            }
            // The name is known to this machine in another way.
            Err(_) if watched.source == KnownBy::Unknown && options.server.is_none() => {
                watched.source = KnownBy::System;
                set.is_of_system();
                of_system(set.host())
            }
            Err(fault) => Err(fault),
        },
    };
    let has_failed = found.is_err();
    match found {
        Ok(addresses) => {
            if !set.take(&addresses) {
                stop.abort();
            }
        }
        Err(LookupFault::NoName) => set.keep(None),
        Err(LookupFault::Server(reason)) => set.keep(Some(reason)),
    }
    match (options.again, watched.source) {
        (LookupAgain::After(time), _) => time,
        (_, KnownBy::Server(ttl)) if has_failed => ttl.min(FAILED_AGAIN),
        (_, KnownBy::Unknown) => FAILED_AGAIN,
        (_, KnownBy::Server(ttl)) => ttl,
        (_, KnownBy::Hosts(_)) => LOOKUP_EVERY_MIN,
        (_, KnownBy::System) => SYSTEM_EVERY,
    }
}

fn of_system(host: &str) -> Result<Vec<std::net::IpAddr>, LookupFault> {
    addresses_of(host).map_err(|error| match error {
        crate::ResolveError::Unknown { .. } => LookupFault::NoName,
        error => LookupFault::Server(error.to_string()),
    })
}
