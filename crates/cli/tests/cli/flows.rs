//! The flows under `examples/flows`, each against the target, on both drivers, some on three workers. The target's books
//! by path and by user have what the report has.

use std::collections::BTreeMap;
use std::process::Stdio;

use serde_json::Value;

use crate::seen::{ask, wait_for};
use crate::{ChildGuard, Served, onrush, output, side_by_side, signal};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/flows");

/// Paths of the steps of the flow with tokens.
const TOKEN_PATHS: [&str; 3] = ["POST /api/token", "GET /account", "GET /account"];

const DRIVERS: [&[&str]; 2] = [&["--driver", "uring"], &["--driver", "poll"]];

/// A run that is over, with what the target knows of it.
struct Seen {
    report: Value,
    paths: BTreeMap<String, u64>,
    users: BTreeMap<String, u64>,
    sessions: usize,
}

impl Seen {
    /// Exchanges of a step that ended, by its index.
    fn finished(&self, step: usize) -> u64 {
        self.report["scenarios"][0]["steps"][step]["finished"].as_u64().expect("a number")
    }

    fn of(&self, path: &str) -> u64 {
        self.paths.get(path).copied().unwrap_or(0)
    }

    /// How often a check passed, and failed.
    fn check(&self) -> (u64, u64) {
        let check = &self.report["scenarios"][0]["checks"][0];
        (check["passed"].as_u64().expect("a number"), check["failed"].as_u64().expect("a number"))
    }

    fn has_no_failure(&self) {
        assert_eq!(self.report["requests"]["failed"], 0, "{}", self.report["failures"]);
    }

    /// The users that the target knows are these, each with at least one request.
    fn has_users(&self, names: impl IntoIterator<Item = String>) {
        let mut names: Vec<String> = names.into_iter().collect();
        names.sort();
        assert_eq!(self.users.keys().cloned().collect::<Vec<_>>(), names);
    }
}

fn numbered(count: u64) -> impl Iterator<Item = String> {
    (1..=count).map(|number| format!("u{number}"))
}

/// The target's books, without the requests for them.
pub(crate) fn books(served: &Served) -> (BTreeMap<String, u64>, BTreeMap<String, u64>, usize) {
    let books: Value = serde_json::from_str(&ask(served, "GET", "/stats/books")).expect("JSON");
    let number = |value: &Value| value.as_u64().expect("a number");
    let paths = books["paths"].as_object().expect("an object").iter();
    let paths = paths.filter(|(path, _)| !path.contains("/stats")).map(|(path, count)| (path.clone(), number(count)));
    let users = books["users"].as_object().expect("an object").iter();
    let users = users.map(|(name, row)| (name.clone(), number(&row["requests"])));
    (paths.collect(), users.collect(), books["sessions"].as_object().expect("an object").len())
}

/// Runs a flow to its end. `paths`: that of each step in the target's books; and further requests, of `setup`.
fn run(name: &str, flags: &[&str], paths: &[&str], more: &[(&str, u64)]) -> Seen {
    run_file(&format!("{FOLDER}/{name}.yaml"), flags, paths, more)
}

fn run_file(file: &str, flags: &[&str], paths: &[&str], more: &[(&str, u64)]) -> Seen {
    let served = Served::start();
    let target = format!("target={}", served.url(""));
    let words = [&["run", file, "--var", &target, "--seed", "7", "-o", "json", "--quiet"], flags].concat();
    let done = output(&words);
    let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "{file} {flags:?}: {stderr}");
    let report: Value = serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    let (of_paths, users, sessions) = books(&served);
    let seen = Seen { report, paths: of_paths, users, sessions };
    let steps = seen.report["scenarios"][0]["steps"].as_array().expect("an array");
    assert_eq!(steps.len(), paths.len(), "{steps:#?}");
    let mut reported: BTreeMap<String, u64> = more.iter().map(|(path, count)| ((*path).to_owned(), *count)).collect();
    for (step, path) in paths.iter().enumerate() {
        *reported.entry((*path).to_owned()).or_insert(0) += seen.finished(step);
    }
    reported.retain(|_, count| *count > 0);
    assert_eq!(reported, seen.paths, "{file} {flags:?}");
    seen
}

/// A flow on both drivers.
fn on_both(name: &str, paths: &[&str], check: impl Fn(&Seen) + Sync) {
    side_by_side(&DRIVERS, |flags| check(&run(name, flags, paths, &[])));
}

/// The same, and on three workers, where it makes the same requests.
fn on_workers_too(name: &str, paths: &[&str], check: impl Fn(&Seen) + Sync) {
    on_both(name, paths, &check);
    check(&run(name, &["--workers", "3"], paths, &[]));
}

#[test]
fn users_log_in_once() {
    on_workers_too("login-once", &["GET /login", "POST /login", "GET /account"], |seen| {
        seen.has_no_failure();
        assert_eq!((seen.of("POST /login"), seen.of("GET /account"), seen.check()), (10, 100, (100, 0)));
        assert_eq!((seen.users.len(), seen.sessions), (10, 10));
    });
}

#[test]
fn tokens_are_renewed_by_the_clock() {
    on_both("token-refresh", &TOKEN_PATHS, |seen| {
        // One for each user at least, and by far not one for each iteration.
        let tokens = seen.of("POST /api/token");
        assert!((5..200).contains(&tokens), "{tokens}");
        assert_eq!(seen.finished(1), 200);
        seen.has_users(numbered(5));
    });
}

/// The same flow without its look at the clock, and with tokens that expire sooner.
#[test]
fn tokens_are_renewed_when_they_are_refused() {
    let folder = crate::Folder::new("flows-refused");
    let text = std::fs::read_to_string(format!("{FOLDER}/token-refresh.yaml")).expect("a file");
    let late = text.replace("expires - 50", "expires + 100000").replace("ttl=0.2", "ttl=0.05");
    assert_ne!(late, text);
    let file = folder.path("refused.yaml");
    std::fs::write(&file, late).expect("a place for it");
    side_by_side(&DRIVERS, |flags| {
        let seen = run_file(&file, flags, &TOKEN_PATHS, &[]);
        // Each user has one at the beginning, and another one for each refusal.
        let again = seen.finished(2);
        assert!(again > 0, "{:?}", seen.paths);
        assert_eq!((seen.finished(0), seen.finished(1)), (5 + again, 200));
    });
}

#[test]
fn pages_are_read_to_the_last() {
    on_workers_too("pagination", &["GET /items"], |seen| {
        seen.has_no_failure();
        // Five pages, and the empty one behind them.
        assert_eq!((seen.of("GET /items"), seen.check()), (20 * 6, (20, 0)));
    });
}

#[test]
fn an_id_is_the_same_in_two_places() {
    on_workers_too("correlation", &["POST /echo"], |seen| {
        seen.has_no_failure();
        assert_eq!(seen.of("POST /echo"), 100);
    });
}

#[test]
fn each_item_of_a_response_is_requested() {
    on_workers_too("for-each", &["POST /api/token", "GET /search", "GET /items/{id}"], |seen| {
        seen.has_no_failure();
        assert_eq!((seen.of("GET /search"), seen.check()), (20, (20, 0)));
        assert_eq!(seen.of("GET /items/{id}"), 20 * 5);
        seen.has_users(numbered(10));
    });
}

#[test]
fn an_order_is_polled_until_it_is_paid() {
    on_both("polling", &["POST /api/token", "POST /cart", "POST /pay", "GET /order"], |seen| {
        seen.has_no_failure();
        assert_eq!((seen.of("POST /cart"), seen.of("POST /pay")), (20, 20));
        assert!(seen.of("GET /order") >= 20);
        assert_eq!(seen.report["scenarios"][0]["transactions"][0]["finished"], 20);
    });
}

#[test]
fn users_wait_as_long_as_the_server_says() {
    on_both("retry-after", &["GET /limited"], |seen| {
        let (requests, statuses) = (&seen.report["requests"], &seen.report["statuses"]);
        // Each refusal is a try that failed, and nothing else did.
        assert_eq!(requests["failed"], statuses["429"]);
        assert!(statuses["429"].as_u64() > Some(0), "{statuses}");
        assert_eq!((requests["succeeded"].as_u64(), statuses["200"].as_u64()), (Some(24), Some(24)));
    });
}

#[test]
fn users_receive_their_own_messages_among_those_of_others() {
    on_both("websocket", &["POST /api/token", "GET /room/{id}"], |seen| {
        seen.has_no_failure();
        assert_eq!((seen.finished(1), seen.check()), (40, (40, 0)));
        seen.has_users(numbered(10));
    });
}

#[test]
fn a_file_comes_back_as_it_was_sent() {
    on_workers_too("upload", &["POST /files", "GET /files/{id}"], |seen| {
        seen.has_no_failure();
        assert_eq!((seen.of("POST /files"), seen.of("GET /files/{id}")), (20, 20));
    });
}

#[test]
fn one_token_serves_all_users() {
    side_by_side(&DRIVERS, |flags| {
        let seen = run("oauth2", flags, &["GET /account"], &[("POST /oauth/token", 1)]);
        seen.has_no_failure();
        assert_eq!(seen.of("GET /account"), 100);
        seen.has_users(["shop-client".to_owned()]);
    });
}

#[test]
fn a_query_is_sent_once_and_then_by_its_hash() {
    on_both("graphql", &["POST /graphql", "POST /graphql"], |seen| {
        seen.has_no_failure();
        // Users that begin before the server has learned it send its text too.
        assert_eq!(seen.finished(0), 100);
        assert!((1..=10).contains(&seen.finished(1)), "{}", seen.finished(1));
    });
}

#[test]
fn a_mix_has_the_weights_of_its_tasks() {
    let paths = ["POST /api/token", "GET /items/{id}", "GET /search", "POST /cart", "POST /pay"];
    on_both("shopping-mix", &paths, |seen| {
        seen.has_no_failure();
        let (items, searches, carts) = (seen.finished(1), seen.finished(2), seen.finished(3));
        assert_eq!((items + searches + carts, seen.finished(4)), (300, carts));
        // 10, 3 and 1 of 14, within four deviations of a binomial of 300.
        assert!(items.abs_diff(214) < 32 && searches.abs_diff(64) < 29 && carts.abs_diff(21) < 19, "{:?}", seen.paths);
        assert_eq!(seen.report["scenarios"][0]["transactions"][0]["finished"], carts);
        seen.has_users(numbered(20));
    });
}

#[test]
fn a_step_is_done_in_the_first_iteration_alone() {
    on_workers_too("once-only", &["POST /api/token", "GET /account"], |seen| {
        seen.has_no_failure();
        seen.has_users(numbered(10));
        // One log-in and five iterations each.
        assert!(seen.users.values().all(|requests| *requests == 6), "{:?}", seen.users);
        assert_eq!(seen.sessions, 10);
    });
}

#[test]
fn row_k_is_that_of_user_k() {
    on_workers_too("row-of-user", &["POST /api/token", "GET /account"], |seen| {
        seen.has_no_failure();
        let names = ["anna", "bob", "chen", "dora", "emil", "fatima", "george", "hana", "ivan", "julia"];
        seen.has_users(names.map(str::to_owned));
        assert_eq!((seen.of("POST /api/token"), seen.of("GET /account"), seen.sessions), (10, 100, 10));
    });
}

/// Ctrl-C while each user waits for a response that does not come: all of them log out.
#[test]
fn users_log_out_also_after_ctrl_c() {
    side_by_side(&DRIVERS, |flags| {
        let served = Served::start();
        let (file, target) = (format!("{FOLDER}/logout.yaml"), format!("target={}", served.url("")));
        let words = [&["run", &file, "--var", &target, "-o", "json", "--quiet"], *flags].concat();
        let ends = ChildGuard::start(onrush(&words).stdout(Stdio::piped()).stderr(Stdio::piped()));
        wait_for("all users wait for a response", || books(&served).0.get("GET /delay/{ms}") == Some(&50));
        signal(&ends.0, "-INT");
        let done = ends.output();
        assert_eq!(done.status.code(), Some(130), "{}", String::from_utf8_lossy(&done.stderr));
        let report: Value = serde_json::from_slice(&done.stdout).expect("JSON");
        let (paths, users, _) = books(&served);
        assert_eq!((paths["POST /api/token"], paths["POST /logout"]), (50, 50), "{flags:?}");
        assert_eq!((&report["requests"]["unfinished"], &report["on_stop_skipped"]), (&50.into(), &0.into()));
        assert!(users.values().all(|requests| *requests == 3), "{users:?}");
    });
}

/// Each figure has what arithmetic says, on one worker and on three.
#[test]
fn figures_have_the_sums_of_all_users() {
    on_workers_too("figures", &["GET /search"], |seen| {
        seen.has_no_failure();
        let figures = seen.report["scenarios"][0]["figures"].as_array().expect("a list");
        let named = |name: &str| figures.iter().find(|one| one["name"] == name).expect("a figure");
        let at = |name: &str, statistic: &str| named(name)["statistics"][statistic].as_f64();
        // 10 users with 20 iterations each; a search finds five items.
        for name in ["basket", "orders", "in_stock", "queue"] {
            assert_eq!(named(name)["count"], 200, "{name}");
        }
        assert_eq!((at("basket", "sum"), at("basket", "mean")), (Some(10.0 * 1.25 * 210.0), Some(1.25 * 10.5)));
        assert_eq!((at("basket", "min"), at("basket", "max")), (Some(1.25), Some(25.0)));
        assert_eq!((at("basket", "p50"), at("basket", "p95")), (Some(12.5), Some(23.75)));
        assert_eq!((at("orders", "sum"), at("in_stock", "share")), (Some(1_000.0), Some(0.95)));
        assert_eq!((at("queue", "least"), at("queue", "greatest")), (Some(-3.0), Some(16.0)));
        assert_eq!(at("queue", "last").map(|last| (-3.0..=16.0).contains(&last)), Some(true));
        let judged = seen.report["thresholds"].as_array().expect("a list");
        assert!(judged.len() == 4 && judged.iter().all(|one| one["holds"] == true), "{judged:?}");
    });
}

/// The first user that has seen enough ends the run, on one worker and on three; all users have begun by then.
#[test]
fn a_scenario_stops_its_run() {
    let folder = crate::Folder::new("flows-stop");
    side_by_side(&[&[][..], &["--workers", "3"]], |flags| {
        let served = Served::start();
        let text = format!(
            "target: {}\nscenarios:\n  one:\n    load: {{users: 6, for: 1h}}\n    steps:\n      - get: /\n      \
             - {{if: vu.iteration == 20, then: [{{get: /gate/all, timeout: 1h}}, {{stop_run: enough}}]}}\n    \
             on_stop: [{{post: /echo}}]\n",
            served.url("")
        );
        let file = folder.path(&format!("stop-{}.yaml", flags.len()));
        std::fs::write(&file, text).expect("a place for it");
        let words = [&["run", &file, "-o", "json", "--quiet"], *flags].concat();
        let ends = ChildGuard::start(onrush(&words).stdout(Stdio::piped()).stderr(Stdio::piped()));
        wait_for("all users at the gate", || ask(&served, "GET", "/gate/all/waiting").trim() == "6");
        ask(&served, "POST", "/gate/all/open");
        let done = ends.output();
        assert_eq!(done.status.code(), Some(1), "{flags:?}: {}", String::from_utf8_lossy(&done.stderr));
        let report: Value = serde_json::from_slice(&done.stdout).expect("JSON");
        assert_eq!((&report["stop_reason"], &report["on_stop_skipped"]), (&"enough".into(), &0.into()), "{flags:?}");
        assert_eq!(books(&served).0["POST /echo"], 6, "{flags:?}");
    });
}
