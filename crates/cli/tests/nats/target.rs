//! A target that knows the number, the worker and the time of each start: the truth for checking a report.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::net::Net;

/// One start, as it came.
#[derive(Clone, Debug)]
pub(crate) struct Came {
    pub(crate) number: u64,
    pub(crate) from: String,
    pub(crate) at: Instant,
}

/// A target that serves until the process ends; its threads end with their connections.
pub(crate) struct Target {
    came: Arc<Mutex<Vec<Came>>>,
    pub(crate) url: String,
}

impl Target {
    pub(crate) fn on(net: &Net, host: usize) -> Self {
        let address = net.address(host);
        let listener = net.inside(host, || TcpListener::bind((address.as_str(), 80)).expect("a port"));
        let came = Arc::new(Mutex::new(Vec::new()));
        let known = came.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let known = known.clone();
                std::thread::spawn(move || serve(stream, &known));
            }
        });
        Self { came, url: format!("http://{address}") }
    }

    pub(crate) fn came(&self) -> Vec<Came> {
        self.came.lock().expect("no holder panics").clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.came.lock().expect("no holder panics").len()
    }
}

/// Handles requests for `/NUMBER` on one connection.
fn serve(stream: TcpStream, known: &Mutex<Vec<Came>>) {
    let Ok(from) = stream.peer_addr().map(|address| address.ip().to_string()) else { return };
    let Ok(mut writer) = stream.try_clone() else { return };
    let mut lines = BufReader::new(stream).lines();
    while let Some(Ok(first)) = lines.next() {
        let at = Instant::now();
        let number = first.split([' ', '/']).nth(2).and_then(|number| number.parse().ok());
        while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        if let Some(number) = number {
            known.lock().expect("no holder panics").push(Came { number, from: from.clone(), at });
        }
        if writer.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
            return;
        }
    }
}

/// The summary of all starts.
pub(crate) struct Truth {
    /// Starts that came, ordered by number.
    pub(crate) numbers: BTreeSet<u64>,
    /// Starts that came twice.
    pub(crate) twice: Vec<u64>,
    /// The number of starts of each address.
    pub(crate) of: BTreeMap<String, u64>,
    /// The largest lateness of a start, relative to the first one that came after its own.
    pub(crate) latest: Duration,
}

impl Truth {
    pub(crate) fn new(came: &[Came], per_second: u64) -> Self {
        let (mut numbers, mut twice, mut of) = (BTreeSet::new(), Vec::new(), BTreeMap::new());
        for one in came {
            if !numbers.insert(one.number) {
                twice.push(one.number);
            }
            *of.entry(one.from.clone()).or_default() += 1;
        }
        let due = |one: &Came| Duration::from_secs_f64(one.number as f64 / per_second as f64);
        let start = came.iter().filter_map(|one| one.at.checked_sub(due(one))).min();
        let late = |one: &Came| start.map(|start| one.at.duration_since(start).saturating_sub(due(one)));
        let latest = came.iter().filter_map(late).max().unwrap_or_default();
        Self { numbers, twice, of, latest }
    }

    /// The median lateness of each address, relative to the first start that came after its own instant.
    pub(crate) fn lateness(came: &[Came], per_second: u64) -> BTreeMap<String, Duration> {
        let due = |one: &Came| Duration::from_secs_f64(one.number as f64 / per_second as f64);
        let start = came.iter().filter_map(|one| one.at.checked_sub(due(one))).min().expect("somebody came");
        let mut all: BTreeMap<String, Vec<Duration>> = BTreeMap::new();
        for one in came {
            let late = one.at.duration_since(start).saturating_sub(due(one));
            all.entry(one.from.clone()).or_default().push(late);
        }
        all.values_mut().for_each(|late| late.sort_unstable());
        all.into_iter().map(|(from, late)| (from, late[late.len() / 2])).collect()
    }

    /// Of `planned` starts, those that did not come, as spans from one to before another.
    pub(crate) fn missing(&self, planned: u64) -> Vec<u64> {
        (0..planned).filter(|number| !self.numbers.contains(number)).collect()
    }
}
