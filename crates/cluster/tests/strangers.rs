//! Workers that cannot take part: of another version, or with a plan that is missing or not the announced one. The
//! leader and the workers report it, and nothing begins.

#[macro_use]
extern crate claims;

mod nats_server;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::jetstream::object_store::ObjectStore;
use claims::wait_for;
use cluster::coordinator::Workers;
use cluster::nats::{BusUrl, Role, join};
use cluster::protocol::Refusal;
use cluster::worker_runtime::{WorkerEnvironment, WorkerEvent, WorkerIdentity as Own, WorkerRuntime};
use engine::{HoldOptions, RunOptions, Running, StopHandle};
use feed::Feed;
use futures_util::StreamExt;
use nats_server::{NatsServer, leader_settings, options};
use plan::{Flags, Hold, Plan};

const VERSION: &str = "strangers";
/// How long the leader would wait for workers: that it ends proves that it need not.
const HOUR: Duration = Duration::from_secs(3_600);

/// Takes any plan, and collects the notices to the user.
#[derive(Default)]
struct Desk(Mutex<Vec<WorkerEvent>>);

impl WorkerEnvironment for Desk {
    fn prepare(&self, _: Plan, _: Vec<Feed>, _: usize) -> Result<(Plan, RunOptions), Refusal> {
        Err(Refusal::System { reason: "it was asked to take part".to_owned() })
    }

    fn prepare_to_hold(&self, _: Hold) -> Result<(Hold, HoldOptions), Refusal> {
        Err(Refusal::System { reason: "it was asked to take part".to_owned() })
    }

    fn report(&self, notice: &WorkerEvent) {
        self.0.lock().expect("no holder panics").push(notice.clone());
    }
}

/// Leads a run until it fails, and returns the reason.
fn leads(bus_url: BusUrl, patience: Duration) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let workers =
            Workers::lead(leader_settings(7, VERSION, 1, patience), Box::new(|| None), None, |subjects, inbox| {
                join(&bus_url, Role::Leads, subjects, inbox)
            });
        let flags =
            Flags { url: Some("http://127.0.0.1:9/".to_owned()), rate: Some("5".to_owned()), ..Flags::default() };
        let plan = Arc::new(flags.plan().expect("a good plan"));
        Running::start(plan, options(workers.expect("it leads")), &StopHandle::default())
            .err()
            .expect("it does not begin")
            .to_string()
    })
}

/// A worker that takes part until the value is dropped; returns its notices.
fn works(bus_url: &BusUrl, version: &str, does: impl FnOnce() -> String) -> (String, Vec<WorkerEvent>) {
    let coordinator = Arc::new(Desk::default());
    let place: Arc<dyn WorkerEnvironment> = coordinator.clone();
    let own = Own {
        id: 1,
        name: "stranger".to_owned(),
        version: version.to_owned(),
        weight: 1,
        folder: std::env::temp_dir().join(format!("onrush-strangers-{}", std::process::id())),
        goes_with_leader: false,
        journals: None,
    };
    let hand = WorkerRuntime::new(own, &place);
    let bus = join(bus_url, Role::Works, hand.subjects(), hand.inbox()).expect("it joins");
    let stop = hand.stop_handle();
    let said = std::thread::scope(|scope| {
        scope.spawn(|| hand.work(bus));
        let said = does();
        stop.stop();
        said
    });
    let reported = coordinator.0.lock().expect("no holder panics").clone();
    (said, reported)
}

/// Changes the stored plan of the cluster, as soon as it is there.
fn meddles<F: Future<Output = ()>>(port: u16, name: &str, does: impl FnOnce(ObjectStore, String) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let client = runtime.block_on(async_nats::connect(format!("nats://127.0.0.1:{port}"))).expect("a connection");
    let context = {
        let _inside = runtime.enter();
        async_nats::jetstream::new(client)
    };
    let mut found = None;
    wait_for("the plan is there", || {
        found = runtime.block_on(first_object(&context, name));
        found.is_some()
    });
    let (store, object) = found.expect("it was waited for");
    runtime.block_on(does(store, object));
}

/// The stored plan of the cluster, and its name.
async fn first_object(context: &async_nats::jetstream::Context, name: &str) -> Option<(ObjectStore, String)> {
    let store = context.get_object_store(format!("onrush_{name}_packets")).await.ok()?;
    let object = store.list().await.ok()?.next().await?.ok()?;
    Some((store, object.name))
}

fn bus_url(server: &NatsServer, name: &str) -> BusUrl {
    format!("nats://127.0.0.1:{}/{name}", server.port).parse().expect("an address")
}

#[test]
fn one_of_another_version() {
    let server = NatsServer::start();
    let bus_url = bus_url(&server, "version");
    // Others may still come, of its own version.
    let leader = leads(bus_url.clone(), Duration::from_secs(5));
    let (said, reported) = works(&bus_url, "0.0.1", || leader.join().expect("it ends"));
    assert!(said.contains("worker stranger is onrush 0.0.1 and this one is strangers"), "{said}");
    let refusal = Refusal::Version { worker: "0.0.1".to_owned(), leader: VERSION.to_owned() };
    assert_eq!(reported, [WorkerEvent::Joined, WorkerEvent::Refused(refusal)]);
}

#[test]
fn a_plan_that_is_not_there() {
    let server = NatsServer::start();
    let bus_url = bus_url(&server, "missing");
    let leader = leads(bus_url.clone(), HOUR);
    meddles(server.port, "missing", |store, name| async move { store.delete(name).await.expect("it goes") });
    let (said, reported) = works(&bus_url, VERSION, || leader.join().expect("it ends"));
    assert!(said.contains("worker stranger cannot get the plan"), "{said}");
    assert_eq!(reported, [WorkerEvent::Joined, WorkerEvent::Refused(Refusal::Missing)]);
}

#[test]
fn a_plan_that_is_another() {
    let server = NatsServer::start();
    let bus_url = bus_url(&server, "another");
    let leader = leads(bus_url.clone(), HOUR);
    meddles(server.port, "another", |store, name| async move {
        store.put(name.as_str(), &mut &b"something else"[..]).await.expect("it is kept");
    });
    let (said, reported) = works(&bus_url, VERSION, || leader.join().expect("it ends"));
    assert!(said.contains("worker stranger got something else than this plan"), "{said}");
    assert_eq!(reported, [WorkerEvent::Joined, WorkerEvent::Refused(Refusal::Damaged)]);
}
