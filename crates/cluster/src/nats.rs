//! The bus of many machines: a NATS server with JetStream, on a thread of its own with the client, so that nothing
//! else waits for it. Keys are a bucket, the stream is a stream, large objects are an object store; all three have
//! the name of the cluster, so that several share a server. Replies that do not arrive in time count as lost, as the
//! machines expect. `nats/bus_url.rs` is the address of a bus and its trusted CAs: TLS knows a server by its name,
//! though it is reached by its address.

mod bus_url;
mod resources;
mod stores;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::{ConnectError, ConnectErrorKind, Event, ServerAddr};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::LocalSet;

use crate::bus::{Bus, BusCommand, BusEvent, Inbox};
pub use bus_url::{BusUrl, USUAL_NAME, masked};
use resources::NatsResources;

/// How long to wait for servers that have just begun to find each other.
const FINDS_WITHIN: Duration = Duration::from_secs(20);
const FINDS_AGAIN: Duration = Duration::from_millis(500);
/// The ping interval; a server that misses several pings is gone.
const PING_EVERY: Duration = Duration::from_secs(2);
/// Most messages are short, and longer ones are read in several steps.
const READ_BYTES: u16 = 8 * 1_024;
/// The oldest server version with what is needed.
const OLDEST: (i64, i64, i64) = (2, 11, 0);
/// Words in errors of TLS.
const OF_TLS: [&str; 4] = ["certificate", "fatal alert", "corrupt message", "TLS"];
/// The time within which queued messages are sent when the bus is left.
const LEAVES_WITHIN: Duration = Duration::from_secs(2);
/// The time within which a server reports missing permissions.
const SAYS_WITHIN: Duration = Duration::from_millis(50);
/// The time within which a temporary cluster is removed.
const FORGETS_WITHIN: Duration = Duration::from_secs(5);
/// The first delay before a server is tried again, which grows: soon enough for running leases.
const AGAIN_AFTER: Duration = Duration::from_millis(50);
const AGAIN_AFTER_MAX: Duration = Duration::from_millis(500);

/// Why there is no bus.
#[derive(Debug, thiserror::Error)]
pub enum NatsError {
    /// The address is invalid.
    #[error(
        "'{given}' is no address of a bus; write nats://HOST:PORT/NAME, or several as HOST:PORT,HOST:PORT, where NAME has letters, digits, - and _, or tls://HOST:PORT/NAME?ca=FILE&cert=FILE&key=FILE"
    )]
    BusUrl {
        /// The address as given.
        given: String,
    },
    /// There is no response.
    #[error("the bus {bus_url} cannot be reached: {reason}; is a nats-server running there?")]
    Unreachable {
        /// The bus.
        bus_url: String,
        /// The reason.
        reason: String,
    },
    /// The TLS handshake failed.
    #[error(
        "no TLS with the bus {bus_url}: {reason}; write tls://HOST:PORT/NAME with the host of its certificate, ?ca=FILE if this system does not know who signed it, and &cert=FILE&key=FILE if it wants one of ours"
    )]
    Tls {
        /// The bus.
        bus_url: String,
        /// The reason.
        reason: String,
    },
    /// The bus refuses our credentials.
    #[error(
        "the bus {bus_url} refuses us: {reason}; write user and password before the host, as USER:PASSWORD@HOST, with %40 for @"
    )]
    Rejected {
        /// The bus.
        bus_url: String,
        /// The reason.
        reason: String,
    },
    /// The credentials lack permissions.
    #[error(
        "the bus {bus_url} does not allow this: {reason}; worker credentials are for onrush worker and for one cluster; the leader needs its own"
    )]
    Forbidden {
        /// The bus.
        bus_url: String,
        /// The message of the server.
        reason: String,
    },
    /// The server is too old.
    #[error("the bus {bus_url} is nats-server {version}; 2.11 or newer is needed")]
    Old {
        /// The bus.
        bus_url: String,
        /// Its version.
        version: String,
    },
    /// The server does not store what it has to store.
    #[error("the bus {bus_url} keeps nothing: {reason}; start nats-server with JetStream (-js) and give it room")]
    Forgetful {
        /// The bus.
        bus_url: String,
        /// The reason.
        reason: String,
    },
    /// The system refuses a thread, or something else.
    #[error(transparent)]
    System(#[from] std::io::Error),
}

/// An input of the bus thread.
enum Input {
    Ask(BusCommand),
    /// The server is connected again, or gone.
    Event(bool),
    Leave,
}

/// The commands of a client.
struct ClientRequest(UnboundedReceiver<Input>);

/// A client of the bus.
struct RemoteClient(UnboundedSender<Input>);

impl Bus for RemoteClient {
    fn ask(&mut self, verb: BusCommand) {
        // If the thread of the bus has ended, the command is lost.
        let _ = self.0.send(Input::Ask(verb));
    }
}

impl Drop for RemoteClient {
    fn drop(&mut self) {
        let _ = self.0.send(Input::Leave);
    }
}

/// The role of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A leader, or a candidate: it follows each key by a consumer of its own.
    Leads,
    /// A worker: there are many, so it only follows the leader key, and gets the state from the leader.
    Works,
}

/// Joins a bus, and subscribes to these subjects. A lost server is waited for; both its loss and its return are
/// reported.
///
/// # Errors
/// It cannot be reached now, or is not what is needed.
pub fn join(bus_url: &BusUrl, role: Role, subjects: Vec<String>, inbox: Inbox) -> Result<Box<dyn Bus>, NatsError> {
    let (bus, events, requested) = client();
    let (ready, joined) = std::sync::mpsc::sync_channel(1);
    let unreachable = |reason| NatsError::Unreachable { bus_url: bus_url.shown(), reason };
    let servers = bus_url.addresses().map_err(|error| unreachable(error.to_string()))?;
    let bus_url = bus_url.clone();
    std::thread::Builder::new().name("bus".to_owned()).spawn(move || {
        let work = async {
            match enter(&bus_url, role, servers, subjects, inbox, events).await {
                Ok(room) => {
                    let _ = ready.send(Ok(()));
                    serve(&room, requested).await;
                }
                Err(error) => drop(ready.send(Err(error))),
            }
        };
        match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => LocalSet::new().block_on(&runtime, work),
            Err(error) => drop(ready.send(Err(error.into()))),
        }
    })?;
    // A thread that ends without a result is our own error; it is reported as one of the system.
    joined.recv().unwrap_or_else(|_| Err(std::io::Error::other("the thread of the bus has ended").into()))?;
    Ok(bus)
}

/// Removes a temporary cluster from its bus, as far as the bus can be reached.
pub fn forget(bus_url: &BusUrl) {
    let away = async {
        let servers = bus_url.addresses().ok()?;
        let client = bus_url.options().ok()?.name("onrush").connect(servers).await.ok()?;
        stores::forget(&client, bus_url.name()).await;
        Some(())
    };
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
        // The rest expires by its age.
        let _ = runtime.block_on(async { tokio::time::timeout(FORGETS_WITHIN, away).await });
    }
}

fn client() -> (Box<dyn Bus>, UnboundedSender<Input>, ClientRequest) {
    let (inputs, requested) = unbounded_channel();
    (Box::new(RemoteClient(inputs.clone())), inputs, ClientRequest(requested))
}

/// Joins a bus as a worker on the runtime of the caller, in a local set: many clients may share one. Commands are
/// carried out while the returned future is polled.
///
/// # Errors
/// As [`join`].
pub async fn join_here(
    bus_url: &BusUrl,
    subjects: Vec<String>,
    inbox: Inbox,
) -> Result<(Box<dyn Bus>, impl Future<Output = ()> + use<>), NatsError> {
    let (bus, events, requested) = client();
    let unreachable = |reason| NatsError::Unreachable { bus_url: bus_url.shown(), reason };
    let servers = bus_url.addresses().map_err(|error| unreachable(error.to_string()))?;
    let room = enter(bus_url, Role::Works, servers, subjects, inbox, events).await?;
    Ok((bus, async move { serve(&room, requested).await }))
}

/// A client of a suitable server. Later refusals of the server go to `refused`.
async fn connected(
    bus_url: &BusUrl,
    servers: Vec<ServerAddr>,
    events: UnboundedSender<Input>,
    refused: &Arc<Mutex<Option<String>>>,
) -> Result<async_nats::Client, NatsError> {
    let shown = bus_url.shown();
    let untrusted = |reason| NatsError::Tls { bus_url: shown.clone(), reason };
    let options = bus_url.options().map_err(untrusted)?;
    let said = refused.clone();
    let options = options
        .name("onrush")
        .ping_interval(PING_EVERY)
        .read_buffer_capacity(READ_BYTES)
        .max_reconnects(None)
        .reconnect_delay_callback(|attempts| {
            let doubled = AGAIN_AFTER.saturating_mul(1 << attempts.min(10));
            // Not all at once.
            doubled.min(AGAIN_AFTER_MAX).mul_f64(0.5 + 0.5 * jitter())
        })
        .event_callback(move |event| {
            if let Event::ServerError(error) = &event
                && let Ok(mut said) = said.lock()
            {
                said.get_or_insert(error.to_string());
            }
            let is_there = match event {
                Event::Connected => Some(true),
                Event::Disconnected | Event::Closed => Some(false),
                _ => None,
            };
            if let Some(is_there) = is_there {
                let _ = events.send(Input::Event(is_there));
            }
            async {}
        });
    let client = match options.connect(servers.clone()).await {
        Ok(client) => client,
        Err(error) => return Err(most_telling(bus_url, servers, connect_error(&shown, &error)).await),
    };
    let (major, minor, patch) = OLDEST;
    if !client.is_server_compatible(major, minor, patch) {
        return Err(NatsError::Old { bus_url: shown, version: client.server_info().version });
    }
    Ok(client)
}

/// The error of a server to which no connection could be made.
fn connect_error(bus_url: &str, error: &ConnectError) -> NatsError {
    let (bus_url, reason) = (bus_url.to_owned(), error.to_string());
    match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            NatsError::Rejected { bus_url, reason }
        }
        // Certificate problems come as an error of the connection.
        ConnectErrorKind::Tls => NatsError::Tls { bus_url, reason },
        _ if OF_TLS.iter().any(|word| reason.contains(word)) => NatsError::Tls { bus_url, reason },
        _ => NatsError::Unreachable { bus_url, reason },
    }
}

/// Of several addresses the error of the last one is known, whichever that was. One that was reached, and did not let
/// us in, tells more than one that was not.
async fn most_telling(bus_url: &BusUrl, servers: Vec<ServerAddr>, last: NatsError) -> NatsError {
    if servers.len() < 2 || !matches!(last, NatsError::Unreachable { .. }) {
        return last;
    }
    for server in servers {
        let Ok(options) = bus_url.options() else { break };
        if let Err(error) = options.connect(vec![server]).await {
            let error = connect_error(&bus_url.shown(), &error);
            if !matches!(error, NatsError::Unreachable { .. }) {
                return error;
            }
        }
    }
    last
}

async fn enter(
    bus_url: &BusUrl,
    role: Role,
    servers: Vec<ServerAddr>,
    subjects: Vec<String>,
    inbox: Inbox,
    events: UnboundedSender<Input>,
) -> Result<NatsResources, NatsError> {
    let shown = bus_url.shown();
    // The server reports missing permissions out of band: then there is no response.
    let refused = Arc::new(Mutex::new(None));
    let client = connected(bus_url, servers, events, &refused).await?;
    if role == Role::Works {
        // The leader creates the stores; workers need no permission for it.
        stores::wait_for(&client, bus_url.name(), FINDS_AGAIN).await;
    }
    let since = std::time::Instant::now();
    loop {
        let stores = match role {
            Role::Leads => stores::Stores::open(&client, bus_url.name(), bus_url.replicas()).await,
            Role::Works => stores::Stores::found(&client, bus_url.name()).await,
        };
        match stores {
            Ok(stores) => {
                let room = NatsResources::furnished((client, role), bus_url.name(), stores, subjects, inbox).await;
                let room =
                    room.map_err(|error| NatsError::Forgetful { bus_url: shown.clone(), reason: error.to_string() })?;
                if role == Role::Leads {
                    room.say_nothing().await;
                    tokio::time::sleep(SAYS_WITHIN).await;
                }
                return match forbidden(&refused) {
                    Some(reason) => Err(NatsError::Forbidden { bus_url: shown, reason }),
                    None => Ok(room),
                };
            }
            // Several servers need a while to agree on the storage; and a new server may respond too early.
            Err(_)
                if (bus_url.replicas() > 1 || role == Role::Works)
                    && since.elapsed() < FINDS_WITHIN
                    && forbidden(&refused).is_none() =>
            {
                tokio::time::sleep(FINDS_AGAIN).await;
            }
            Err(error) => {
                return Err(match forbidden(&refused) {
                    Some(reason) => NatsError::Forbidden { bus_url: shown, reason },
                    None => NatsError::Forgetful { bus_url: shown, reason: error.to_string() },
                });
            }
        }
    }
}

/// The reported permission violation.
fn forbidden(said: &Mutex<Option<String>>) -> Option<String> {
    let said = said.lock().expect("no holder of the lock panics").clone()?;
    said.to_ascii_lowercase().contains("permissions violation").then_some(said)
}

/// Not drawn from a seed: clients differ by when they ask.
fn jitter() -> f64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let seed = u64::from(now.subsec_nanos()) ^ (u64::from(std::process::id()) << 32);
    pacing::Random::for_stream(seed, 0).unit()
}

async fn serve(room: &NatsResources, ClientRequest(mut reported): ClientRequest) {
    let mut is_there = true;
    room.begin();
    while let Some(input) = reported.recv().await {
        match input {
            Input::Ask(verb) => room.ask(verb),
            Input::Event(now) => {
                if std::mem::replace(&mut is_there, now) != now {
                    if now {
                        room.begin();
                    } else {
                        room.handle(BusEvent::Disconnected);
                    }
                }
            }
            Input::Leave => break,
        }
        if room.is_left() {
            break;
        }
    }
    // Running tasks send their messages; then the connection is flushed.
    tokio::task::yield_now().await;
    let _ = tokio::time::timeout(LEAVES_WITHIN, room.flush()).await;
}
