//! Memory of an idle kept connection, measured in a process of its own.
#![expect(clippy::print_stdout, reason = "the processes of the test tell each other what they saw")]

use std::env;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::process::{Child, Command, Stdio};
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};

use driver::{Choice, Kind};
use pacing::Nanos;
use plan::Flags;
use target::{ServeOptions, Server};

use crate::user::LastExchange;
use crate::{RunOptions, StopHandle};

/// The role of this process instead of the test: `serve KIND` or `hold KIND COUNT ADDRESS`.
const ROLE: &str = "ONRUSH_IDLE_ROLE";
/// The counts of connections between which the difference is taken: with fewer, a disturbed machine stops only the
/// larger one in the middle of its starts.
const FEW: u64 = 5_000;
const MANY: u64 = 15_000;

/// Lock for tests that measure memory. They take it to write and so have the machine alone: a loop kept from its core
/// finds many users due at once, and the memory they need together stays allocated. Tests that load the cores take it
/// to read.
pub(crate) static QUIET: RwLock<()> = RwLock::new(());

/// Pause of each user after an exchange, in milliseconds; 0 for none.
static PAUSE_MS: AtomicU64 = AtomicU64::new(0);
static USERS: AtomicU64 = AtomicU64::new(0);
static STARTED: AtomicU64 = AtomicU64::new(0);
static IN_FLIGHT: AtomicU64 = AtomicU64::new(0);
/// Interval between the starts of two users.
const START_EVERY: Nanos = Nanos(400_000);
/// Users in flight at one time, also when many are due: the memory that they need together stays allocated.
const MOST_IN_FLIGHT: u64 = 16;
/// Pause of a user that is due while the most are in flight. On a machine that is far behind thousands are: with short
/// pauses they alone would take its time.
const AGAIN: Nanos = Nanos(100_000_000);

/// Pause of a user of this test: users start one after the other, so that few are in flight at one time, and do nothing
/// after their first exchange.
pub(crate) fn pause_after(view: LastExchange) -> Option<Nanos> {
    match (PAUSE_MS.load(Ordering::Relaxed), view) {
        (0, _) | (_, LastExchange::NoConnection) => None,
        (_, LastExchange::Rested) => {
            let more = |now| (now < MOST_IN_FLIGHT).then_some(now + 1);
            IN_FLIGHT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err().then_some(AGAIN)
        }
        (millis, LastExchange::Ended | LastExchange::Failed) => {
            IN_FLIGHT.fetch_sub(1, Ordering::Relaxed);
            Some(Nanos::from_millis(millis))
        }
        (_, LastExchange::Nothing) => {
            let number = STARTED.fetch_add(1, Ordering::Relaxed);
            (number < USERS.load(Ordering::Relaxed)).then(|| Nanos(number * START_EVERY.0))
        }
    }
}

/// Runs the role of a process that a test below starts.
#[test]
#[ignore = "it is the child of another test"]
fn role() {
    let role = env::var(ROLE).expect("a role");
    let words: Vec<&str> = role.split(' ').collect();
    host::raise_descriptor_limit();
    match words.as_slice() {
        ["serve", kind] => serve(kind_of(kind)),
        ["hold", kind, count, address] => {
            hold(kind_of(kind), count, address.parse().expect("an address"));
        }
        _ => panic!("no such role: {role}"),
    }
}

fn kind_of(name: &str) -> Kind {
    if name == "poll" { Kind::Poll } else { Kind::Uring }
}

fn serve(driver: Kind) {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let server = Server::start(&ServeOptions::plain(listen, 1, driver)).expect("a server");
    println!("\nlistening {}", server.address());
    // The parent process closes our input when it is done.
    let _ = std::io::stdin().read_line(&mut String::new());
}

fn hold(kind: Kind, count: &str, address: SocketAddr) {
    PAUSE_MS.store(600_000, Ordering::Relaxed);
    let flags = Flags {
        url: Some(format!("http://{address}/")),
        connections: Some(count.to_owned()),
        // It ends with the last start; this only ends a process that would never.
        duration: Some("300s".to_owned()),
        interval: Some("200ms".to_owned()),
        ..Flags::default()
    };
    let plan = flags.plan().expect("a good plan");
    let choice = if kind == Kind::Poll { Choice::Poll } else { Choice::Uring };
    let driver = driver::choose(choice).expect("the driver works here");
    let options = RunOptions {
        address,
        tls: None,
        others: Vec::new(),
        names: Vec::new(),
        threads: 1,
        pins_threads: false,
        driver,
        log_config: crate::RequestLogConfig::default(),
        data_sources: crate::DataSources::default(),
        backend: None,
    };
    let goal: u64 = count.parse().expect("a number");
    USERS.store(goal, Ordering::Relaxed);
    let mut quiet = 0;
    let run = crate::run(&plan, &options, &StopHandle::default(), |interval| {
        quiet += u32::from(interval.total.counts.succeeded() == goal);
        // Two intervals later the memory of what was in flight has been freed.
        if quiet < 3 {
            return ControlFlow::Continue(());
        }
        println!("\nresident {}", host::resident_bytes().expect("the system tells"));
        ControlFlow::Break(())
    });
    let total = run.expect("a run").total.counts;
    assert_eq!((total.succeeded(), total.failed()), (goal, 0), "each connection was used once");
}

type Lines = std::io::Lines<BufReader<std::process::ChildStdout>>;

/// This test binary started in a role, the rest of its output, and the line that it printed for the parent.
fn in_role(role: &str, word: &str) -> (Child, Lines, String) {
    let mut child = Command::new(env::current_exe().expect("a path"))
        .args(["idle::role", "--exact", "--ignored", "--nocapture"])
        .env(ROLE, role)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let reported = lines.by_ref().map_while(Result::ok).find_map(|line| line.strip_prefix(word).map(str::to_owned));
    let reported = reported.unwrap_or_else(|| panic!("{role} ended without its word"));
    (child, lines, reported.trim().to_owned())
}

fn resident(kind: &str, count: u64) -> u64 {
    let (mut server, served, address) = in_role(&format!("serve {kind}"), "listening");
    let (mut client, held, resident) = in_role(&format!("hold {kind} {count} {address}"), "resident");
    held.for_each(drop);
    assert!(client.wait().expect("it ends").success(), "{kind} with {count}");
    drop(server.stdin.take());
    served.for_each(drop);
    server.wait().expect("it ends");
    resident.parse().expect("a number")
}

fn each_costs_at_most(kind: &str, bytes: u64) {
    let _alone = QUIET.write().unwrap_or_else(|poisoned| poisoned.into_inner());
    let (few, many) = (resident(kind, FEW), resident(kind, MANY));
    let each = many.saturating_sub(few) / (MANY - FEW);
    println!("{kind}: {few} bytes with {FEW} connections, {many} with {MANY}: {each} for each further one");
    assert!(each <= bytes, "{kind}: {each} bytes for each idle connection, {few} with {FEW}, {many} with {MANY}");
}

#[test]
fn an_idle_connection_is_small_on_io_uring() {
    each_costs_at_most("uring", 256);
}

#[test]
fn an_idle_connection_is_small_on_poll() {
    each_costs_at_most("poll", 512);
}
