//! Rows of files and expressions in a world without noise: which user gets which row, on any number of shards.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use feed::{AtEnd, Feed, Format, Pick, Share, Spec};
use metrics::{Class, Failure, SeriesId};
use pacing::Nanos;
use plan::{
    Column, DynamicParts, Evaluate, Expression, Flags, Interpreters, Meaning, Moment, Names, Node, OnFailure, Pattern,
    Plan, Rendering, TextContext, Think, Value,
};

use super::history::{self, History, Setup};
use crate::idle::QUIET;
use crate::{DataSources, UsedUp};

/// Each row is a status that the target responds with: the responses show what was requested.
const ROWS: u64 = 400;

/// A temporary file of rows.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> Self {
        let file = std::env::temp_dir().join(format!("onrush-{}-{name}.csv", std::process::id()));
        let rows: String = (200..200 + ROWS).map(|status| format!("{status},u{status}\n")).collect();
        std::fs::write(&file, format!("status,name\n{rows}")).expect("a file");
        Self(file)
    }

    fn spec(&self, share: Share, pick: Pick, at_end: AtEnd) -> Spec {
        Spec { share, pick, at_end, ..Spec::new(self.0.clone(), Format::from_path(&self.0).expect("CSV")) }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

struct Known;

impl Names for Known {
    fn variable(&mut self, _: &str) -> Option<u32> {
        None
    }

    fn column(&mut self, _: &str, column: &str) -> Option<u32> {
        ["status", "name"].iter().position(|known| *known == column).map(|place| place as u32)
    }

    fn environment(&mut self, _: &str) -> Option<String> {
        None
    }

    fn counter(&mut self, _: &str) -> u32 {
        0
    }

    fn expression(&mut self, text: &str) -> Option<u32> {
        EXPRESSIONS.iter().position(|known| *known == text).map(|place| place as u32)
    }
}

const EXPRESSIONS: [&str; 3] = ["200 + rows.status % 3", "chance()", "throws()"];

/// An evaluator that reads nothing: the result of an expression depends on its index.
#[derive(Debug)]
struct Three;

impl Interpreters for Three {
    fn start(&self, expressions: &[Expression]) -> Result<Box<dyn Evaluate>, String> {
        assert_eq!(expressions.len(), EXPRESSIONS.len());
        Ok(Box::new(Self))
    }
}

impl Evaluate for Three {
    fn uses(&self, expression: u32) -> &[u32] {
        if expression == 0 { &[0] } else { &[] }
    }

    fn evaluate(&mut self, expression: u32, values: &[Value], moment: Moment) -> Result<Value, String> {
        match (expression, values) {
            (0, [Value::Text(status)]) => Ok(Value::Int(200 + status.parse::<i64>().expect("a number") % 3)),
            (1, []) => Ok(Value::Int(200 + (moment.seed % ROWS) as i64)),
            _ => Err("it threw: no".to_owned()),
        }
    }
}

fn rendering(text: &str) -> Rendering {
    Rendering::new(&Pattern::parse(text, TextContext::Url).expect("a pattern"), &mut Known).expect("known names")
}

/// One step for each path.
fn setting(file: &File, spec: Spec, paths: &[&str], flags: Flags, threads: usize) -> Setup {
    let url = Some("http://10.0.0.1/".to_owned());
    let mut plan: Plan = Flags { url, user_agent: "oracle".to_owned(), ..flags }.plan().expect("a good plan");
    let scenario = &mut plan.scenarios[0];
    let step = |path: &&str| {
        let mut step = scenario.steps[0].clone();
        step.dynamic_parts = Some(Arc::new(DynamicParts { path: Some(rendering(path)), ..DynamicParts::default() }));
        step
    };
    scenario.steps = paths.iter().map(step).collect();
    scenario.memory.columns = [0, 1].map(|column| Column { feed: 0, column }).into();
    let names = vec![("rows.status".to_owned(), Meaning::Column(0))];
    let expression = |text: &&str| Expression { text: (*text).to_owned(), names: names.clone() };
    scenario.memory.expressions = EXPRESSIONS.iter().map(expression).collect();
    let nodes = (0..paths.len()).map(|step| Node::Ask { step, on_failure: OnFailure::GoOn });
    scenario.program = plan::Program { seed: 3, nodes: nodes.collect(), ..plan::Program::default() };
    assert_eq!(spec.file, file.0);
    let feeds = Arc::new([Feed::open(spec).expect("rows")]);
    Setup { plan, threads, data_sources: DataSources { feeds, interpreters: Some(Arc::new(Three)) }, ..Setup::calm(11) }
}

fn played(setting: Setup) -> History {
    let _works = QUIET.read().unwrap_or_else(PoisonError::into_inner);
    history::run(setting, false).unwrap_or_else(|found| panic!("{found}"))
}

fn users(count: u64, iterations: Option<u64>) -> Flags {
    let (requests, duration) =
        (iterations.map(|count| count.to_string()), iterations.is_none().then(|| "60s".to_owned()));
    Flags { connections: Some(count.to_string()), requests, duration, ..Flags::default() }
}

fn rate(rate: u64, requests: Option<u64>) -> Flags {
    let duration = requests.is_none().then(|| "60s".to_owned());
    let requests = requests.map(|count| count.to_string());
    Flags { rate: Some(rate.to_string()), duration, requests, connections: Some("14".to_owned()), ..Flags::default() }
}

/// How often each row was requested; the target sends no other statuses than these.
fn taken(history: &History) -> Vec<u64> {
    let mut taken = vec![0; ROWS as usize];
    history.total.counts.statuses().for_each(|(status, count)| taken[usize::from(status) - 200] = count);
    taken
}

fn each(times: u64) -> Vec<u64> {
    vec![times; ROWS as usize]
}

const ONE: [&str; 1] = ["/status/${rows.status}"];

#[test]
fn each_row_goes_to_one_iteration_on_any_number_of_shards() {
    let file = File::new("split");
    for threads in [1, 2, 7] {
        for share in [Share::Split, Share::Unique] {
            for (flags, times) in
                [(users(1, Some(3 * ROWS)), 3), (rate(200, Some(ROWS)), 1), (rate(1_000, Some(2 * ROWS)), 2)]
            {
                let spec = file.spec(share, Pick::Next, AtEnd::Again);
                let history = played(setting(&file, spec, &ONE, flags.clone(), threads));
                assert_eq!(taken(&history), each(times), "{threads} {share:?} {flags:?}");
                let again = UsedUp { file: file.0.clone(), rows: ROWS, is_update: true };
                let is_reported = share == Share::Unique && times > 1;
                assert_eq!(history.used_up, if is_reported { vec![again] } else { vec![] }, "{threads} {share:?}");
            }
        }
    }
}

/// The load is over with the last row, and that is reported once.
#[test]
fn the_last_row_ends_users_and_rates() {
    let file = File::new("stop");
    let ended = vec![UsedUp { file: file.0.clone(), rows: ROWS, is_update: false }];
    for threads in [1, 2, 7] {
        for pick in [Pick::Next, Pick::Random] {
            for flags in [users(10, None), users(7, None), users(600, None), rate(200, None), rate(3_000, None)] {
                let spec = file.spec(Share::Unique, pick, AtEnd::Stop);
                let history = played(setting(&file, spec, &ONE, flags.clone(), threads));
                let counts = &history.total.counts;
                assert_eq!(taken(&history), each(1), "{threads} {pick:?} {flags:?}");
                assert_eq!(
                    (counts.started(), counts.finished(), counts.iterations_cut(), counts.dropped()),
                    (ROWS, ROWS, 0, 0),
                    "{threads} {pick:?} {flags:?}"
                );
                assert_eq!(
                    counts.failures().count(),
                    counts.failures().filter(|(one, _)| *one == Failure::Status).count()
                );
                assert_eq!(history.used_up, ended, "{threads} {pick:?} {flags:?}");
                assert!(history.wall < Nanos::from_millis(10_000), "{threads} {flags:?}: {:?}", history.wall);
            }
        }
    }
}

#[test]
fn each_user_has_all_rows_where_they_are_copied() {
    let file = File::new("copy");
    for threads in [1, 3] {
        for pick in [Pick::Next, Pick::Random] {
            let spec = file.spec(Share::Copy, pick, AtEnd::Stop);
            let history = played(setting(&file, spec, &ONE, users(3, None), threads));
            assert_eq!(taken(&history), each(3), "{threads} {pick:?}");
            assert_eq!(history.used_up.len(), 1);
        }
    }
}

/// Draws are the same on any number of shards, by rows and by expressions.
#[test]
fn draws_are_the_same_on_any_number_of_shards() {
    let file = File::new("random");
    for (path, flags) in [
        (ONE[0], users(10, Some(2_000))),
        (ONE[0], rate(1_000, Some(2_000))),
        ("/status/${chance()}", users(10, Some(2_000))),
        ("/status/${chance()}", rate(1_000, Some(2_000))),
    ] {
        // With one count for all users together, each would have another share on other shards.
        let with = |threads| {
            let spec = file.spec(Share::Split, Pick::Random, AtEnd::Again);
            taken(&played(setting(&file, spec, &[path], flags.clone(), threads)))
        };
        let (one, seven) = (with(1), with(7));
        let most = one.iter().max().copied().unwrap_or_default();
        // 2,000 draws of 400: 5 of each on average, and 99.99 % of all binomials lie below 25.
        assert!(one.iter().sum::<u64>() == 2_000 && (6..25).contains(&most), "{path} {most}");
        if flags.rate.is_some() {
            assert_eq!(one, seven, "{path}");
        } else {
            assert_eq!(seven.iter().sum::<u64>(), 2_000, "{path}");
        }
    }
}

/// One row holds for the iteration, whichever step reads it.
#[test]
fn a_row_holds_for_its_iteration() {
    let file = File::new("holds");
    for flags in [users(10, None), rate(100, None)] {
        let spec = file.spec(Share::Split, Pick::Next, AtEnd::Stop);
        let paths =
            ["/status/${rows.status}", "/status/${rows.status}?n=${rows.name}", "/status/${200 + rows.status % 3}"];
        let history = played(setting(&file, spec, &paths, flags, 2));
        let mut expect = each(2);
        for row in 200..200 + ROWS {
            expect[row as usize % 3] += 1;
        }
        assert_eq!(taken(&history), expect);
    }
}

/// A row drawn before the first iteration of a user belongs to it, whatever the rate; the load goes on when all rows
/// are taken, and a user without one never becomes ready.
#[test]
fn users_of_a_rate_have_rows_of_their_own() {
    let file = File::new("carriers");
    for (threads, most, at_end) in [(1, 6, AtEnd::Stop), (2, 6, AtEnd::Stop), (3, 600, AtEnd::Again)] {
        let spec = file.spec(Share::Unique, Pick::Next, at_end);
        let paths = ["/status/${rows.status}?start", "/status/${rows.status}"];
        let mut setting = setting(&file, spec, &paths, rate(1_000, Some(2_000)), threads);
        let scenario = &mut setting.plan.scenarios[0];
        if let plan::Load::Open { connections, .. } = &mut scenario.load {
            *connections = plan::ConnectionCount::UpTo(most);
        }
        scenario.program.start = vec![scenario.program.nodes.remove(0)];
        scenario.program.nodes.insert(0, Node::Think(Think::Fixed(Duration::from_millis(5))));
        let history = played(setting);
        let taken = taken(&history);
        // Each user requests its own row: once before, and in each of its iterations.
        let users = taken.iter().filter(|count| **count > 0).count() as u64;
        assert!((5..=most).contains(&users), "{threads}: {users}");
        assert_eq!(taken.iter().sum::<u64>(), 2_000 + users, "{threads}");
        assert_eq!(history.total.counts.iterations(), 2_000, "{threads}");
        assert_eq!(history.used_up, vec![], "{threads}");
    }
}

#[test]
fn an_expression_that_throws_fails_its_step() {
    let file = File::new("throws");
    let spec = file.spec(Share::Split, Pick::Next, AtEnd::Again);
    let mut setting = setting(&file, spec, &["/status/204", "/${throws()}"], users(4, Some(100)), 2);
    setting.plan.capture_options.failures = true;
    let think = Node::Think(Think::Fixed(Duration::from_millis(1)));
    setting.plan.scenarios[0].program.nodes.push(think);
    let history = played(setting);
    let of = |step, class| history.total.count_of(SeriesId::step(step), class);
    assert_eq!((of(0, Class::FailedAnswered) + of(0, Class::Succeeded), history.total.counts.started()), (100, 200));
    let failures: Vec<_> = history.total.failures_of(SeriesId::step(1)).collect();
    assert_eq!(failures, [(Failure::NotFilled, 100)]);
    let reasons = history.total.samples();
    assert!(reasons.iter().any(|sample| sample.reason == "throws(): it threw: no"), "{reasons:?}");
}
