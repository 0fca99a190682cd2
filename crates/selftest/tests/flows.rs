//! The flows under `examples/flows` in a simulated network, on several threads and with several seeds: the target's books
//! have what the run has, to the last request.

#[macro_use]
extern crate claims;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use driver::sim::Faults;
use engine::{DataSources, RunResult};
use feed::{AtEnd, Csv, Feed, Format, Pick, Share, Spec};
use metrics::{Class, SeriesId, SeriesKind};
use pacing::Nanos;
use scenario::{Lowering, Opened, Outside, RowPick};
use selftest::{Happens, SimulatedWorld};
use serde_json::Value;

/// Each flow, with the path of each of its steps.
const FLOWS: [(&str, &[&str]); 14] = [
    ("correlation", &["POST /echo"]),
    ("for-each", &["POST /api/token", "GET /search", "GET /items/{id}"]),
    ("graphql", &["POST /graphql", "POST /graphql"]),
    ("login-once", &["GET /login", "POST /login", "GET /account"]),
    ("oauth2", &["GET /account"]),
    ("once-only", &["POST /api/token", "GET /account"]),
    ("pagination", &["GET /items"]),
    ("polling", &["POST /api/token", "POST /cart", "POST /pay", "GET /order"]),
    ("retry-after", &["GET /limited"]),
    ("row-of-user", &["POST /api/token", "GET /account"]),
    ("shopping-mix", &["POST /api/token", "GET /items/{id}", "GET /search", "POST /cart", "POST /pay"]),
    ("token-refresh", &["POST /api/token", "GET /account", "GET /account"]),
    ("upload", &["POST /files", "GET /files/{id}"]),
    ("websocket", &["POST /api/token", "GET /room/{id}"]),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/flows")
}

fn opened(name: &str) -> Opened {
    let target = format!("http://{}", SimulatedWorld::address());
    let vars = [("target", target.as_str())];
    let opened = scenario::read_with(&folder().join(format!("{name}.yaml")), vars.into_iter());
    opened.unwrap_or_else(|mistakes| panic!("{name}: {mistakes:?}"))
}

/// The rows of the data of a flow: all of it is CSV, and a row is a user's.
fn feeds(opened: &Opened) -> Arc<[Feed]> {
    let one = |set: &scenario::DataSet| {
        assert_eq!(set.pick, RowPick::ByUser);
        let csv = Csv { separator: char::from(set.separator), numbers: set.numbers.clone(), ..Csv::default() };
        let spec = Spec {
            file: folder().join(&set.file),
            format: Format::Csv(csv),
            pick: Pick::ByUser,
            share: Share::Copy,
            at_end: if set.at_end == scenario::AtEnd::Stop { AtEnd::Stop } else { AtEnd::Again },
            selection: None,
        };
        Feed::open(spec).expect("rows")
    };
    opened.file.data.iter().map(one).collect()
}

/// A flow that ran in a network, and the books of its target.
struct Played {
    result: RunResult,
    paths: BTreeMap<String, u64>,
    users: BTreeMap<String, u64>,
    /// Requests of `setup`, by path.
    before: u64,
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

fn played(name: &str, seed: u64, threads: usize, happens: &Happens) -> Played {
    protocols::register();
    let opened = opened(name);
    let data_sources = DataSources { feeds: feeds(&opened), interpreters: Some(Arc::new(script::JavaScript)) };
    let folder = folder();
    let outside = Outside {
        environment: &|_| None,
        interpreters: data_sources.interpreters.as_deref(),
        schemas: &[],
        lists: None,
        folder: &folder,
        user_agent: "onrush",
    };
    let mut world = SimulatedWorld::new(seed, Faults::none());
    world.data_sources = data_sources.clone();
    let mut lowering = Lowering::new(&opened, &outside).expect("values");
    let mut before = 0;
    if let Some(once) = lowering.before().expect("a setup") {
        let done = world.run(&once.plan, 1, &Happens::default(), |_| ()).expect("a world that works");
        assert_eq!(done.total.counts.failed(), 0, "{name}: setup");
        before = done.total.counts.succeeded();
        lowering.learn(&once.variables, &done.values);
    }
    let mut plan = lowering.run(&[]).expect("a plan").plan;
    plan.seed = Some(seed);
    let result = world.run(&plan, threads, happens, |_| ()).expect("a world that works");
    world.settle().expect("a world that works");
    let books: Value = serde_json::from_str(&world.books_json()).expect("JSON");
    let paths = books["paths"].as_object().expect("an object").iter();
    let users = books["users"].as_object().expect("an object").iter();
    Played {
        result,
        paths: paths.map(|(path, count)| (path.clone(), number(count))).collect(),
        users: users.map(|(name, row)| (name.clone(), number(&row["requests"]))).collect(),
        before,
    }
}

impl Played {
    /// Exchanges of a step that ended.
    fn finished(&self, step: usize) -> u64 {
        let count = |class| self.result.total.count_of(SeriesId::step(step as u32), class);
        Class::ALL.into_iter().map(count).sum()
    }

    /// All checks: how often they passed, and failed.
    fn checks(&self) -> (u64, u64) {
        let all = SeriesId::all(SeriesKind::Check).map(|check| self.result.total.check_counts(check));
        all.fold((0, 0), |(passed, failed), counts| (passed + counts.passed, failed + counts.failed))
    }
}

#[test]
fn the_books_of_the_target_have_what_each_flow_reports() {
    for (name, paths) in FLOWS {
        for (seed, threads) in [(1, 1), (2, 2), (3, 3)] {
            let played = played(name, seed, threads, &Happens::default());
            let mut reported = BTreeMap::new();
            if name == "oauth2" {
                reported.insert("POST /oauth/token".to_owned(), played.before);
            }
            for (step, path) in paths.iter().enumerate() {
                *reported.entry((*path).to_owned()).or_insert(0) += played.finished(step);
            }
            reported.retain(|_, count| *count > 0);
            assert_eq!(reported, played.paths, "{name}, seed {seed}");
            let counts = &played.result.total.counts;
            assert_eq!((counts.unfinished(), counts.dropped(), played.checks().1), (0, 0, 0), "{name}, seed {seed}");
            if !matches!(name, "retry-after" | "token-refresh") {
                assert_eq!((counts.failed(), counts.iterations_failed()), (0, 0), "{name}, seed {seed}");
            }
        }
    }
}

/// Each message goes to all who are in the room: users hear those of others, and take none of them for their own.
#[test]
fn users_of_a_room_receive_the_others() {
    let played = played("websocket", 1, 2, &Happens::default());
    let counts = &played.result.total.counts;
    assert_eq!((counts.messages_left(), played.checks()), (40, (40, 0)));
    assert!(counts.messages_received() > 40 + 10, "{}", counts.messages_received());
}

/// The same seed gives the same requests, whatever the number of threads, where nothing depends on time or on who was
/// first.
#[test]
fn threads_make_the_requests_that_one_makes() {
    for name in ["for-each", "login-once", "once-only", "pagination", "row-of-user", "upload"] {
        let [one, three] = [1, 3].map(|threads| played(name, 5, threads, &Happens::default()));
        assert_eq!(one.paths, three.paths, "{name}");
        assert_eq!(one.checks(), three.checks(), "{name}");
        assert!(one.users.keys().eq(three.users.keys()), "{name}");
    }
}

/// Stopped while each user waits for a response that does not come: all of them log out, each once.
#[test]
fn users_log_out_when_the_load_is_stopped() {
    for threads in [1, 3] {
        let happens = Happens { stop_at: Some(Nanos::from_millis(3_000)), ..Happens::default() };
        let played = played("logout", 1, threads, &happens);
        assert_eq!((played.paths["POST /api/token"], played.paths["POST /logout"]), (50, 50), "{threads}");
        assert_eq!(played.result.total.counts.users_without_stop(), 0);
        assert_eq!(played.users.len(), 50);
        assert!(played.users.values().all(|requests| *requests == 3), "{:?}", played.users);
    }
}
