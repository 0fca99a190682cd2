//! Requests rendered from rows and expressions, over sockets: assignment of rows, read-ahead, and failures.

#[macro_use]
extern crate claims;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use driver::{DriverSelection, Kind};
use engine::{DataSources, RunError, RunOptions, RunResult, Running, StopHandle, UsedUp};
use feed::{AtEnd, Feed, Format, Pick, Share, Spec};
use metrics::{Failure, SeriesId};
use plan::{
    Column, DynamicParts, Expression, Flags, Meaning, Memory, Names, Node, OnFailure, Pattern, Plan, Program,
    Rendering, TextContext, Value,
};

/// Requested paths, with counts.
type Offered = Arc<Mutex<BTreeMap<String, u64>>>;

fn serve() -> (SocketAddr, Offered) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let (address, requested) = (listener.local_addr().expect("an address"), Offered::default());
    let all = requested.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let requested = all.clone();
            std::thread::spawn(move || while_open(stream, &requested));
        }
    });
    (address, requested)
}

/// Responds on one connection until it ends.
fn while_open(stream: TcpStream, requested: &Offered) -> Option<()> {
    let mut input = BufReader::new(stream.try_clone().ok()?);
    let mut output = stream;
    let mut line = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let path = line.split(' ').nth(1)?.to_owned();
        while line.trim() != "" {
            line.clear();
            input.read_line(&mut line).ok()?;
        }
        *requested.lock().expect("no panic").entry(path).or_default() += 1;
        output.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok()?;
    }
}

/// A file that is removed at the end of the test.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let file = std::env::temp_dir().join(format!("onrush-supplying-{}-{name}.csv", std::process::id()));
        std::fs::write(&file, text).expect("a file");
        Self(file)
    }

    fn feed(&self, pick: Pick, share: Share, at_end: AtEnd) -> Feed {
        let format = Format::from_path(&self.0).expect("CSV");
        Feed::open(Spec { pick, share, at_end, ..Spec::new(self.0.clone(), format) }).expect("rows")
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Rows too large to be held: they are read ahead.
fn large(name: &str, rows: u64) -> File {
    let pad = "x".repeat(feed::HELD_BYTES_MAX / rows as usize + 100);
    let rows: String = (0..rows).map(|row| format!("{row},{pad}\n")).collect();
    File::new(name, &format!("id,pad\n{rows}"))
}

struct Known<'a>(&'a [&'a str]);

impl Names for Known<'_> {
    fn variable(&mut self, name: &str) -> Option<u32> {
        (name == "number").then_some(0)
    }

    fn column(&mut self, _: &str, column: &str) -> Option<u32> {
        (column == "id").then_some(0)
    }

    fn environment(&mut self, _: &str) -> Option<String> {
        None
    }

    fn counter(&mut self, _: &str) -> u32 {
        0
    }

    fn expression(&mut self, text: &str) -> Option<u32> {
        self.0.iter().position(|known| *known == text).map(|place| place as u32)
    }
}

/// One step with this path. `number` is a variable.
fn plan(address: SocketAddr, path: &str, expressions: &[&str], load: Flags) -> Plan {
    let mut plan = Flags { url: Some(format!("http://{address}/")), ..load }.plan().expect("a plan");
    plan.capture_options.failures = true;
    let scenario = &mut plan.scenarios[0];
    let pattern = Pattern::parse(path, TextContext::Url).expect("a pattern");
    let path = Rendering::new(&pattern, &mut Known(expressions)).expect("known names");
    scenario.steps[0].dynamic_parts = Some(Arc::new(DynamicParts { path: Some(path), ..DynamicParts::default() }));
    let names = vec![("number".to_owned(), Meaning::Variable(0)), ("rows.id".to_owned(), Meaning::Column(0))];
    let expression = |text: &&str| Expression { text: (*text).to_owned(), names: names.clone() };
    scenario.memory = Memory {
        variables: vec![Value::Int(40)],
        columns: vec![Column { feed: 0, column: 0 }],
        expressions: expressions.iter().map(expression).collect(),
        ..Memory::default()
    };
    let ask = Node::Ask { step: 0, on_failure: OnFailure::Next };
    scenario.program = Program { seed: 5, nodes: vec![ask], ..Program::default() };
    plan
}

fn start(plan: Plan, data_sources: DataSources, kind: Kind, threads: usize) -> Result<Running, RunError> {
    let options = RunOptions {
        address: plan.scenarios[0].target().place().parse().expect("an address"),
        tls: None,
        others: Vec::new(),
        names: Vec::new(),
        threads,
        pins_threads: false,
        driver: DriverSelection { kind, was_requested: true, refusal: None },
        log_config: engine::RequestLogConfig::default(),
        data_sources,
        backend: None,
    };
    Running::start(Arc::new(plan), options, &StopHandle::default())
}

fn run(plan: Plan, data_sources: DataSources, kind: Kind, threads: usize) -> RunResult {
    start(plan, data_sources, kind, threads).expect("a run").finish().expect("a result")
}

fn with_rows(feed: Feed) -> DataSources {
    DataSources { feeds: Arc::new([feed]), interpreters: Some(Arc::new(script::JavaScript)) }
}

fn scripted() -> DataSources {
    DataSources { feeds: Arc::new([]), interpreters: Some(Arc::new(script::JavaScript)) }
}

fn closed(users: u64) -> Flags {
    Flags { connections: Some(users.to_string()), duration: Some("60s".to_owned()), ..Flags::default() }
}

fn counted(users: u64, iterations: u64) -> Flags {
    Flags { connections: Some(users.to_string()), requests: Some(iterations.to_string()), ..Flags::default() }
}

fn open(rate: u64, iterations: Option<u64>) -> Flags {
    Flags {
        rate: Some(rate.to_string()),
        requests: iterations.map(|count| count.to_string()),
        duration: iterations.is_none().then(|| "60s".to_owned()),
        // A thread of the server for each.
        connections: Some("42".to_owned()),
        // A busy machine makes starts late, but no fewer.
        max_lateness: Some("60s".to_owned()),
        timeout: Some("60s".to_owned()),
        ..Flags::default()
    }
}

fn reasons(result: &RunResult) -> Vec<String> {
    result.total.samples().iter().map(|sample| sample.reason.clone()).collect()
}

/// More rows than are held, over seven threads: each goes to one iteration, and the end of the rows ends the load.
#[test]
fn rows_that_are_read_ahead_go_to_one_iteration_each() {
    const ROWS: u64 = 20_000;
    let file = large("ahead", ROWS);
    for (kind, load, pick, threads) in [
        (Kind::Poll, closed(70), Pick::Next, 7),
        (Kind::Uring, closed(40), Pick::Next, 1),
        (Kind::Uring, closed(50), Pick::Random, 7),
        (Kind::Poll, open(20_000, None), Pick::Next, 7),
    ] {
        let (address, requested) = serve();
        let feed = file.feed(pick, Share::Unique, AtEnd::Stop);
        assert!(!feed.is_held());
        let result = run(plan(address, "/${rows.id}", &[], load), with_rows(feed), kind, threads);
        let counts = &result.total.counts;
        assert_eq!(
            (counts.started(), counts.succeeded(), counts.unfinished(), counts.dropped()),
            (ROWS, ROWS, 0, 0),
            "{kind:?} {pick:?} {:?} {:?}",
            result.total.failures_of(SeriesId::step(0)).collect::<Vec<_>>(),
            reasons(&result)
        );
        let requested = requested.lock().expect("no panic");
        assert_eq!((requested.len() as u64, requested.values().max()), (ROWS, Some(&1)), "{kind:?} {pick:?}");
        assert_eq!(result.used_up, [UsedUp { file: file.0.clone(), rows: ROWS, is_update: false }]);
    }
}

/// Rows that may not be used twice are reported when they are.
#[test]
fn rows_that_begin_again_are_reported() {
    let file = File::new("again", &format!("id\n{}", (0..50).map(|row| format!("{row}\n")).collect::<String>()));
    for (share, iterations, is_reported) in
        [(Share::Unique, 50, false), (Share::Unique, 51, true), (Share::Split, 120, false)]
    {
        let (address, requested) = serve();
        let feed = file.feed(Pick::Next, share, AtEnd::Again);
        let load = open(1_000, Some(iterations));
        let result = run(plan(address, "/${rows.id}", &[], load), with_rows(feed), Kind::Poll, 3);
        assert_eq!(result.total.counts.succeeded(), iterations, "{share:?}");
        let requested = requested.lock().expect("no panic");
        let (least, most) = (requested.values().min().copied(), requested.values().max().copied());
        assert_eq!((least, most), (Some(iterations / 50), Some(iterations.div_ceil(50))), "{share:?}");
        let reported = vec![UsedUp { file: file.0.clone(), rows: 50, is_update: true }];
        assert_eq!(result.used_up, if is_reported { reported } else { vec![] }, "{share:?}");
    }
}

/// A file that was replaced meanwhile is not read on.
#[test]
fn a_file_that_changes_fails_those_that_read_on() {
    let file = large("changes", 2_000);
    let feed = file.feed(Pick::Next, Share::Split, AtEnd::Again);
    std::fs::write(&file.0, "id,pad\n1,2\n").expect("it is ours");
    let (address, requested) = serve();
    let result = run(plan(address, "/${rows.id}", &[], counted(4, 100)), with_rows(feed), Kind::Poll, 2);
    assert_eq!(result.total.failures_of(SeriesId::step(0)).collect::<Vec<_>>(), [(Failure::NotFilled, 100)]);
    assert_eq!(requested.lock().expect("no panic").len(), 0);
    let (reasons, name) = (reasons(&result), file.0.display().to_string());
    assert!(reasons.iter().any(|reason| reason.contains(&name)), "{reasons:?}");
}

/// Variables, columns, random numbers and the clock.
#[test]
fn requests_are_made_of_expressions() {
    let file = File::new("expressions", "id\n7\n");
    for kind in [Kind::Poll, Kind::Uring] {
        let (address, requested) = serve();
        let all = ["number + 2", "rows.id.repeat(2)", "new Date().getUTCFullYear() > 2000", "Date.now()"];
        let path = format!("/{}", all.map(|text| format!("${{{text}}}")).join("/"));
        let data_sources = with_rows(file.feed(Pick::Next, Share::Split, AtEnd::Again));
        let result = run(plan(address, &path, &all, counted(3, 200)), data_sources, kind, 2);
        assert_eq!(result.total.counts.succeeded(), 200, "{:?}", reasons(&result));
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
        claims::as_one(|| {
            for path in requested.lock().expect("no panic").keys() {
                let parts: Vec<&str> = path.split('/').collect();
                assert_eq!(parts[1..4], ["42", "77", "true"], "{path}");
                let said = Duration::from_millis(parts[4].parse().expect("milliseconds"));
                assert!(now.abs_diff(said) < Duration::from_secs(600), "{path} is not near {now:?}");
            }
        });
    }
}

/// The random numbers of an iteration are the same on one thread and on seven.
#[test]
fn chance_in_expressions_is_that_of_the_iteration() {
    let all = ["Math.floor(Math.random() * 1e9)"];
    let drawn = |threads| {
        let (address, requested) = serve();
        let path = format!("/${{{}}}", all[0]);
        let result = run(plan(address, &path, &all, open(2_000, Some(1_000))), scripted(), Kind::Poll, threads);
        assert_eq!(result.total.counts.succeeded(), 1_000, "{:?}", reasons(&result));
        std::mem::take(&mut *requested.lock().expect("no panic"))
    };
    let (one, seven) = (drawn(1), drawn(7));
    assert_eq!(one, seven);
    assert!(one.len() > 990, "{}", one.len());
}

/// Also where no value is stored between steps.
#[test]
fn each_request_draws_anew() {
    for (load, is_open) in [(counted(5, 1_000), false), (open(2_000, Some(1_000)), true)] {
        let drawn = |threads| {
            let (address, requested) = serve();
            let mut plan = plan(address, "/${random(1,1000000000)}", &[], load.clone());
            plan.scenarios[0].memory = Memory::default();
            let result = run(plan, DataSources::default(), Kind::Poll, threads);
            assert_eq!(result.total.counts.succeeded(), 1_000, "{:?}", reasons(&result));
            std::mem::take(&mut *requested.lock().expect("no panic"))
        };
        let (one, seven) = (drawn(1), drawn(5));
        assert!(one.len() > 990 && seven.len() > 990, "{} {}", one.len(), seven.len());
        assert!(!is_open || one == seven);
    }
}

#[test]
fn expressions_that_cannot_go_on_fail_their_step() {
    for (text, reason) in [
        ("nobody + 1", "nobody + 1: it threw: nobody is not defined"),
        ("(() => { for (;;); })()", "(() => { for (;;); })(): it took longer than 50ms; do less in it"),
        ("() => 1", "() => 1: it gives a function, which is not a value"),
        ("rows.id.length", "rows.id.length: rows.id: there is no row"),
        ("'x'.repeat(1e9)", "'x'.repeat(1e9): it "),
    ] {
        let (address, requested) = serve();
        let result = run(plan(address, &format!("/${{{text}}}"), &[text], counted(2, 4)), scripted(), Kind::Poll, 2);
        let failures: Vec<_> = result.total.failures_of(SeriesId::step(0)).collect();
        assert_eq!((failures, requested.lock().expect("no panic").len()), (vec![(Failure::NotFilled, 4)], 0), "{text}");
        let reasons = reasons(&result);
        assert!(reasons.iter().all(|said| said.starts_with(reason)) && !reasons.is_empty(), "{text} {reasons:?}");
    }
}

#[test]
fn what_is_no_expression_begins_no_run() {
    let (address, _) = serve();
    let refused = |text: &str, data_sources| {
        start(plan(address, "/", &[text], counted(2, 4)), data_sources, Kind::Poll, 2)
            .err()
            .map(|error| error.to_string())
    };
    let refusal = refused("1 +", scripted()).expect("no expression");
    assert!(refusal.starts_with("an expression cannot be used: 1 +: it is not a JavaScript expression"), "{refusal}");
    let refusal = refused("1", DataSources::default()).expect("no interpreter");
    assert!(refusal.contains("--features script"), "{refusal}");
}
