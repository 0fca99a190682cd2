//! Scenarios of different protocols in one run, on both drivers: the counts of each match those of the target, and
//! together they are the total.

#[macro_use]
extern crate claims;

#[macro_use]
mod each_driver;

use std::net::SocketAddr;
use std::ops::ControlFlow;

use driver::{DriverSelection, Kind};
use engine::{RunOptions, RunResult, StopHandle};
use metrics::{Class, Counts, Measure, SeriesId};
use plan::{Flags, Load, Plan, Schema, UserShape};
use target::{ServeOptions, Server};

fn text(value: impl ToString) -> Option<String> {
    Some(value.to_string())
}

fn server(kind: Kind) -> Server {
    let listen: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    Server::start(&ServeOptions::plain(listen, 1, kind)).expect("a server")
}

fn flags(url: String) -> Flags {
    Flags { url: Some(url), user_agent: "test".to_owned(), interval: text("100ms"), ..Flags::default() }
}

/// Requests one after the other, requests on streams, calls at a rate, messages, and users for a fixed time.
fn plan(server: &Server) -> Plan {
    let at = server.address();
    let all = [
        Flags { connections: text(5), requests: text(700), ..flags(format!("http://{at}/bytes/100")) },
        Flags {
            connections: text(2),
            streams: text(4),
            requests: text(600),
            http2: true,
            ..flags(format!("http://{at}/chunked/200"))
        },
        Flags {
            rate: text(500),
            duration: text("600ms"),
            data: text(r#"{"name":"a"}"#),
            ..flags(format!("grpc://{at}/hello.Greeter/SayHello"))
        },
        Flags { connections: text(3), requests: text(300), data: text("hello"), ..flags(format!("ws://{at}/echo")) },
        Flags { connections: text(2), duration: text("1s"), ..flags(format!("http://{at}/delay/5")) },
    ];
    let described = Schema::from_files(&target::descriptors()).expect("the target describes itself");
    let mut plans = all.map(|flags| flags.plan_with(Some(&described)).expect("a good plan")).into_iter();
    let mut plan = plans.next().expect("the first");
    plans.for_each(|mut other| plan.scenarios.append(&mut other.scenarios));
    plan
}

/// The same steps one after the other, by each user: 60 iterations of all steps.
fn one_after_the_other(server: &Server) -> Plan {
    let mut plan = plan(server);
    let others: Vec<_> = plan.scenarios.drain(1..).collect();
    let first = &mut plan.scenarios[0];
    for other in others {
        for mut step in other.steps {
            step.target += first.targets.len();
            first.steps.push(step);
            first.program = plan::Program::in_turn(first.steps.len());
        }
        first.targets.extend(other.targets);
    }
    // A user has a connection to each target, and shares none.
    first.targets.iter_mut().for_each(|target| target.streams = 1);
    first.load = Load::Closed { users: 5, shape: UserShape::AtOnce, requests: Some(60), duration: None };
    plan
}

fn run(kind: Kind, plan: &Plan, server: &Server, threads: usize) -> (RunResult, Vec<Counts>) {
    let driver = DriverSelection { kind, was_requested: true, refusal: None };
    let targets: usize = plan.scenarios.iter().map(|scenario| scenario.targets.len()).sum();
    let others = vec![(server.address(), None); targets - 1];
    let options = RunOptions {
        address: server.address(),
        tls: None,
        others,
        names: Vec::new(),
        threads,
        pins_threads: false,
        driver,
        log_config: engine::RequestLogConfig::default(),
        data_sources: engine::DataSources::default(),
        backend: None,
    };
    let mut reported = vec![Counts::default(); plan.scenarios.len()];
    let result = engine::run(plan, &options, &StopHandle::default(), |interval| {
        reported.iter_mut().zip(&interval.scenarios).for_each(|(sum, part)| sum.merge(&part.added.counts));
        ControlFlow::Continue(())
    });
    (result.expect("a run"), reported)
}

/// Requests of a path, as the server counted them.
fn served(server: &Server, path: &str) -> u64 {
    let json = server.stats_json();
    let Some((_, rest)) = json.split_once(&format!("\"{path}\":")) else { return 0 };
    rest.split([',', '}']).next().and_then(|number| number.parse().ok()).expect("a number")
}

on_each_driver!(each_scenario_counts_what_the_target_counts_of_it a_user_speaks_differently_in_each_step);

fn a_user_speaks_differently_in_each_step(kind: Kind) {
    for threads in [1, 2, 7] {
        let server = server(kind);
        let (result, _) = run(kind, &one_after_the_other(&server), &server, threads);
        let counts = &result.total.counts;
        let failures: Vec<_> = counts.failures().collect();
        assert_eq!((counts.started(), counts.succeeded(), counts.iterations()), (300, 300, 60), "{failures:?}");
        for path in ["/bytes", "/chunked", "grpc", "/delay"] {
            assert_eq!(served(&server, path), 60, "{path}: {}", server.stats_json());
        }
        assert!(server.stats_json().contains("\"messages\":60"), "{}", server.stats_json());
        // Five users, each with a connection to each of five targets.
        assert_eq!(counts.connections_established(), 25);
        for step in 0..5 {
            assert_eq!(result.total.count_of(SeriesId::step(step), Class::Succeeded), 60);
        }
        server.stop();
    }
}

fn each_scenario_counts_what_the_target_counts_of_it(kind: Kind) {
    for threads in [1, 2, 7] {
        let server = server(kind);
        let plan = plan(&server);
        let (result, reported) = run(kind, &plan, &server, threads);
        let of = |scenario| &result.total_of(scenario).counts;
        for (scenario, wanted) in [700, 600, 300, 300].into_iter().enumerate() {
            assert_eq!(
                (of(scenario).started(), of(scenario).succeeded()),
                (wanted, wanted),
                "{scenario}, {threads} threads"
            );
        }
        assert!(of(4).succeeded() > 0 && of(4).failed() == 0, "{:?}", of(4).failures().collect::<Vec<_>>());
        let paths = ["/bytes", "/chunked", "grpc"];
        for (scenario, path) in paths.into_iter().enumerate() {
            assert_eq!(served(&server, path), of(scenario).succeeded(), "{path}: {}", server.stats_json());
        }
        assert!(server.stats_json().contains("\"messages\":300"), "{}", server.stats_json());
        // A request that was cut off at the end of its load was served too.
        let delayed = served(&server, "/delay");
        assert!((of(4).succeeded()..=of(4).sent()).contains(&delayed), "{delayed} of {:?}", of(4).sent());
        let mut sum = Counts::default();
        (0..plan.scenarios.len()).for_each(|scenario| sum.merge(of(scenario)));
        assert_eq!(format!("{sum:?}"), format!("{:?}", result.total.counts), "the parts are the whole");
        for (scenario, reported) in reported.iter().enumerate() {
            assert_eq!(format!("{reported:?}"), format!("{:?}", of(scenario)), "intervals of {scenario}");
        }
        assert_eq!(result.total.all().by_measure(Measure::Response).count(), result.total.counts.finished());
        // Each is as long as it is alone: a rate has its own time.
        assert_eq!(result.scenarios[2].requested_per_s.map(f64::round), Some(500.0));
        assert_eq!(result.requested_per_s, None, "some loads are closed");
        server.stop();
    }
}
