//! Lookups of names of redirects that were unknown before the run: they run on other threads, and the loop goes on.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use driver::Sockets;
use metrics::{Counter, Failure};
use pacing::Nanos;
use plan::Target;

use crate::endpoints::EndpointRotation;
use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::connections::origins::{ORIGINS_MAX, Origin, is_same_place};
use crate::user::User;
use crate::{Places, ResolveError};

/// Interval at which the loop polls lookups in progress.
const LOOKUP_EVERY: Nanos = Nanos::from_millis(1);
/// Lookups of a shard at a time; a further one waits for its turn.
const THREADS_MAX: usize = 8;

/// A redirect that waits for the address of its host. It is no exchange yet, and in no table.
pub(in crate::scenario_runtime) struct WaitingExchange {
    pub(in crate::scenario_runtime) user: u32,
    pub(in crate::scenario_runtime) step: u32,
    pub(in crate::scenario_runtime) intended: Nanos,
}

type Found = Result<Origin, Failure>;

/// A lookup, in progress or waiting for its turn.
pub(in crate::scenario_runtime) struct Lookup {
    pub(in crate::scenario_runtime) target: Arc<Target>,
    connect_timeout: Nanos,
    found: Option<Receiver<Found>>,
    pub(in crate::scenario_runtime) waiting: Vec<WaitingExchange>,
}

/// All lookups, in the order in which they were requested.
pub(in crate::scenario_runtime) struct Lookups {
    all: Vec<Lookup>,
    find: fn(Arc<Target>, Nanos) -> Found,
}

impl Default for Lookups {
    fn default() -> Self {
        Self { all: Vec::new(), find }
    }
}

fn find(target: Arc<Target>, connect_timeout: Nanos) -> Found {
    let resolved = crate::resolve(&target, connect_timeout.as_duration()).map_err(failure)?;
    let target = Arc::new(resolved.complete((*target).clone()));
    let tls_failure = |_| Failure::Tls(metrics::TlsFault::Other);
    let tls = crate::client_tls(&target).map_err(tls_failure)?;
    let proxy_tls = crate::proxy_tls(&target).map_err(tls_failure)?;
    let places = Places::these(resolved.all());
    Ok(Origin::new(target, EndpointRotation::new(places, None), tls, proxy_tls, connect_timeout))
}

/// The failure of an exchange whose host cannot be used.
fn failure(error: ResolveError) -> Failure {
    match error {
        ResolveError::Consent { .. } => Failure::NoConsent,
        ResolveError::Unknown { .. }
        | ResolveError::Lookup { .. }
        | ResolveError::Server { .. }
        | ResolveError::NoZone { .. }
        | ResolveError::Zone { .. } => Failure::Dns,
    }
}

impl Lookups {
    pub(in crate::scenario_runtime) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    #[cfg(test)]
    pub(in crate::scenario_runtime) fn len(&self) -> usize {
        self.all.len()
    }

    /// Requests the lookup of a target. An exchange for a lookup that was requested already waits with the others.
    pub(in crate::scenario_runtime) fn ask(
        &mut self,
        target: Box<Target>,
        waiting: WaitingExchange,
        connect_timeout: Nanos,
    ) {
        if let Some(lookup) = self.all.iter_mut().find(|lookup| is_same_place(&lookup.target, &target)) {
            return lookup.waiting.push(waiting);
        }
        self.all.push(Lookup { target: target.into(), connect_timeout, found: None, waiting: vec![waiting] });
        self.start_some();
    }

    /// A lookup that is done, with the exchanges that wait for it.
    pub(in crate::scenario_runtime) fn poll(&mut self) -> Option<(Lookup, Found)> {
        let answered = self.all.iter().enumerate().find_map(|(index, lookup)| {
            match lookup.found.as_ref()?.try_recv() {
                Ok(found) => Some((index, found)),
                Err(TryRecvError::Empty) => None,
                // There was no thread for it.
                Err(TryRecvError::Disconnected) => Some((index, Err(Failure::Dns))),
            }
        });
        let (index, found) = answered?;
        let lookup = self.all.remove(index);
        self.start_some();
        Some((lookup, found))
    }

    /// Takes out what users that give up wait for, and drops lookups for which nobody waits.
    pub(in crate::scenario_runtime) fn give_up(&mut self, gives_up: impl Fn(u32) -> bool) -> Vec<WaitingExchange> {
        let takes = |lookup: &mut Lookup| {
            let (taken, left) = std::mem::take(&mut lookup.waiting).into_iter().partition(|one| gives_up(one.user));
            lookup.waiting = left;
            taken
        };
        let taken: Vec<Vec<WaitingExchange>> = self.all.iter_mut().map(takes).collect();
        self.all.retain(|lookup| !lookup.waiting.is_empty());
        taken.into_iter().flatten().collect()
    }

    fn start_some(&mut self) {
        let started = self.all.iter().filter(|lookup| lookup.found.is_some()).count();
        let free = THREADS_MAX.saturating_sub(started);
        for lookup in self.all.iter_mut().filter(|lookup| lookup.found.is_none()).take(free) {
            let (notify, found) = channel();
            lookup.found = Some(found);
            let (target, timeout, find) = (lookup.target.clone(), lookup.connect_timeout, self.find);
            let thread = std::thread::Builder::new().name("lookup".to_owned());
            // The run may be over by then. A thread that could not be started leaves no sender.
            let spawned = thread.spawn(move || drop(notify.send(find(target, timeout))));
            drop(spawned);
        }
    }
}

impl ScenarioRuntime {
    /// Lets exchanges go on whose lookups are done.
    #[cold]
    pub(in crate::scenario_runtime) fn resume_looked_up(&mut self, sockets: &mut dyn Sockets) {
        while let Some((lookup, found)) = self.pool.lookups.poll() {
            let origin = found.and_then(|origin| self.add_origin(origin).ok_or(Failure::Redirect));
            // A name that does not resolve is not looked up again and again.
            if let Err(failure) = origin
                && self.pool.unknown.len() < ORIGINS_MAX
            {
                self.pool.unknown.push((lookup.target.clone(), failure));
            }
            for WaitingExchange { user, step, intended } in lookup.waiting {
                match origin {
                    Ok(origin) => {
                        self.in_flight.steps.lead(step, origin);
                        self.begin_hop(user, step, intended, sockets);
                    }
                    Err(failure) => self.fail_hop(user, step, intended, failure, sockets),
                }
                self.advance_freed(sockets);
            }
        }
    }

    /// Hops that wait for a name when the run ends, or their user gives up, were started, and did not end.
    /// Returns the users that gave one up; `gives_up`: whether a user does.
    pub(in crate::scenario_runtime) fn give_up_lookups(
        &mut self,
        gives_up: impl Fn(&User) -> bool,
        now: Nanos,
    ) -> Vec<u32> {
        let all = &self.users.all;
        let given_up = self.pool.lookups.give_up(|user| gives_up(&all[user as usize]));
        for waiting in &given_up {
            self.count_redirect(waiting.intended);
            if waiting.intended >= self.instants.counts_from {
                let counter = self.counter_of(waiting.step, waiting.intended);
                self.unreported.counts[counter] += 1;
                self.unreported.counts[Counter::Attempts] += 1;
                let series = self.in_flight.steps[waiting.step as usize].series;
                self.unreported.leave_unfinished(series, now.since(waiting.intended).0, None);
            }
            self.in_flight.steps.remove(waiting.step);
        }
        given_up.iter().map(|waiting| waiting.user).collect()
    }

    /// When lookups are polled again.
    pub(in crate::scenario_runtime) fn next_lookup(&self, now: Nanos) -> Nanos {
        if self.pool.lookups.is_empty() { Nanos::NEVER } else { now + LOOKUP_EVERY }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Condvar, Mutex, PoisonError};

    use plan::Flags;

    use super::*;
    use claims::wait_for;

    static AT_ONCE: AtomicUsize = AtomicUsize::new(0);
    static MOST: AtomicUsize = AtomicUsize::new(0);
    /// Lookups that may be done by now, and those that were.
    static FOUND: Mutex<(usize, usize)> = Mutex::new((0, 0));
    static NEWS: Condvar = Condvar::new();

    /// Finds a name once it is allowed to.
    fn gated(target: Arc<Target>, _: Nanos) -> Found {
        MOST.fetch_max(AT_ONCE.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = NEWS.wait_while(found, |(may, is)| is >= may).unwrap_or_else(PoisonError::into_inner);
        found.1 += 1;
        AT_ONCE.fetch_sub(1, Ordering::SeqCst);
        Err(if target.host.ends_with('7') { Failure::Redirect } else { Failure::Dns })
    }

    fn target(number: u32) -> Box<Target> {
        let flags = Flags { url: Some(format!("http://host-{number}/")), ..Flags::default() };
        Box::new(flags.plan().expect("a good plan").scenarios[0].targets[0].clone())
    }

    fn started(lookups: &Lookups) -> usize {
        lookups.all.iter().filter(|lookup| lookup.found.is_some()).count()
    }

    #[test]
    fn many_names_share_few_threads_and_each_is_answered_once() {
        let mut lookups = Lookups { find: gated, ..Lookups::default() };
        for user in 0..200 {
            let waiting = WaitingExchange { user, step: 0, intended: Nanos::ZERO };
            lookups.ask(target(user % 100), waiting, Nanos::from_millis(10));
            assert_eq!(started(&lookups), THREADS_MAX.min(user as usize + 1));
        }
        wait_for("all threads look at the same time", || AT_ONCE.load(Ordering::SeqCst) == THREADS_MAX);
        assert!(lookups.poll().is_none(), "none may be found yet");
        let mut users = Vec::new();
        while !lookups.is_empty() {
            FOUND.lock().expect("no holder panics").0 += 1;
            NEWS.notify_all();
            let mut answered = None;
            wait_for("an answer", || {
                answered = lookups.poll();
                answered.is_some()
            });
            let (lookup, found) = answered.expect("it was waited for");
            let is_seven = lookup.target.host.ends_with('7');
            assert!(matches!(found, Err(failure) if (failure == Failure::Redirect) == is_seven));
            assert_eq!(lookup.waiting.len(), 2);
            users.extend(lookup.waiting.iter().map(|waiting| waiting.user));
            assert_eq!(started(&lookups), THREADS_MAX.min(lookups.len()));
        }
        users.sort_unstable();
        assert!(users.iter().copied().eq(0..200), "{users:?}");
        assert_eq!(MOST.load(Ordering::SeqCst), THREADS_MAX, "threads at a time");
    }
}
