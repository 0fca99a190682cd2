//! Deadlines: what came after them, and what could not be sent before them, against arithmetic.

use super::*;
use plan::{ConnectionCount, Load, Plan};

const MILLI: u64 = 1_000_000;

/// A plan whose steps have these paths, and deadlines in milliseconds; 0 for none.
fn due(steps: &[(&str, u64)], nodes: Vec<Node>, flags: Flags) -> Plan {
    let paths: Vec<&str> = steps.iter().map(|(path, _)| *path).collect();
    let mut plan = plan(&[(&paths, nodes)], flags);
    for (step, (_, millis)) in plan.scenarios[0].steps.iter_mut().zip(steps) {
        step.deadline = (*millis > 0).then(|| Duration::from_millis(*millis));
    }
    plan
}

fn run(plan: Plan, threads: usize) -> History {
    played(Setup { plan, threads, ..Setup::calm(11) })
}

/// Successes of each step, and those of them after their deadline.
fn missed<const N: usize>(history: &History) -> [(u64, u64); N] {
    std::array::from_fn(|step| {
        let series = SeriesId::step(step as u32);
        (history.total.count_of(series, Class::Succeeded), history.total.missed_deadline_of(series))
    })
}

fn above(history: &History, step: u32, millis: u64) -> u64 {
    let timings = history.total.timings(SeriesId::step(step), Class::Succeeded).expect("some");
    let response = timings.by_measure(Measure::Response);
    response.count() - response.count_up_to(millis * MILLI)
}

/// At most this many connections.
fn narrow(mut plan: Plan, most: u64) -> Plan {
    let Load::Open { connections, .. } = &mut plan.scenarios[0].load else { panic!("it has a rate") };
    *connections = ConnectionCount::UpTo(most);
    plan
}

#[test]
fn a_success_behind_its_deadline_is_missed_and_no_failure() {
    for threads in [1, 3] {
        let steps = [("/delay/50", 20), ("/delay/10", 40), ("/status/500", 1), ("/delay/50", 0)];
        let nodes = vec![ask(0), ask(1), ask(2), ask(3)];
        let history = run(due(&steps, nodes, users(4, 80)), threads);
        assert_eq!(missed(&history), [(80, 80), (80, 0), (0, 0), (80, 0)]);
        let counts = &history.total.counts;
        assert_eq!((counts.succeeded(), counts.failed(), counts.missed_deadline()), (240, 80, 80));
        assert_eq!((counts.in_deadline(), counts.dropped_by_deadline(), counts.iterations()), (160, 0, 80));
    }
    // One step alone, without any program.
    let mut plan = due(&[("/delay/50", 20)], Vec::new(), users(4, 80));
    plan.scenarios[0].program = Program::in_turn(1);
    assert_eq!(missed(&run(plan, 2)), [(80, 80)]);
}

/// 100 starts a second need five users, and have two: what has waited for 120 ms is dropped.
#[test]
fn at_a_rate_the_first_step_has_it_from_the_planned_start() {
    for threads in [1, 2] {
        let nodes = || vec![ask(0), ask(1)];
        let steps = [("/delay/40", 120), ("/delay/10", 60)];
        let history = run(narrow(due(&steps, nodes(), rate("100", "4s")), 2), threads);
        let counts = &history.total.counts;
        let [(first, missed_first), second] = missed(&history);
        // Each iteration that begins goes on until the end, and its second step has the time from its own beginning.
        assert_eq!(second, (counts.iterations(), 0));
        assert_eq!(counts.iterations() + counts.iterations_cut(), first);
        assert!(counts.dropped() > 100 && counts.dropped() == counts.dropped_by_deadline(), "{counts:?}");
        assert_eq!(first + counts.dropped() + counts.unfinished(), 400);
        // Sent just before, and done after it.
        assert_eq!(missed_first, above(&history, 0, 120));
        assert!(missed_first > 50, "{missed_first} of {first}");
        assert_eq!(counts.missed_deadline(), missed_first);
        // The longest lateness drops first, and then it is not the deadline.
        let flags = Flags { max_lateness: Some("50ms".to_owned()), ..rate("100", "4s") };
        let counts = run(narrow(due(&steps, nodes(), flags), 2), threads).total.counts;
        assert!(counts.dropped() > 100 && counts.dropped_by_deadline() == 0, "{counts:?}");
    }
}

#[test]
fn a_transaction_has_one_as_a_step_has() {
    let within = |nodes| vec![fixed(1), Node::Transaction { number: 0, nodes }];
    for (deadline, expected) in [(30, 60), (45, 0)] {
        for flags in [users(3, 60), Flags { requests: Some("60".to_owned()), ..rate("30", "10s") }] {
            let mut plan = due(&[("/delay/20", 0), ("/delay/15", 10)], within(vec![ask(0), fixed(500), ask(1)]), flags);
            plan.scenarios[0].program.transactions[0].deadline = Some(Duration::from_millis(deadline));
            let history = run(plan, 2);
            let series = SeriesId::transaction(0);
            assert_eq!(history.total.count_of(series, Class::Succeeded), 60);
            assert_eq!(history.total.missed_deadline_of(series), expected, "{deadline}");
            // It is no request.
            assert_eq!(missed(&history), [(60, 0), (60, 60)]);
            assert_eq!(history.total.counts.missed_deadline(), 60);
        }
    }
    // A failed one is not missed.
    let mut plan =
        due(&[("/delay/50", 0), ("/status/500", 0)], within(vec![ask(0), or(1, OnFailure::Next)]), users(3, 60));
    plan.scenarios[0].program.transactions[0].deadline = Some(Duration::from_millis(10));
    assert_eq!(run(plan, 2).total.missed_deadline_of(SeriesId::transaction(0)), 0);
    // An iteration that begins with it is dropped with it.
    let first = vec![Node::Transaction { number: 0, nodes: vec![ask(0), ask(1)] }];
    let mut plan = narrow(due(&[("/delay/40", 0), ("/delay/10", 0)], first, rate("100", "4s")), 2);
    plan.scenarios[0].program.transactions[0].deadline = Some(Duration::from_millis(120));
    let history = run(plan, 1);
    let (total, series) = (&history.total, SeriesId::transaction(0));
    let done = total.count_of(series, Class::Succeeded);
    assert!(total.counts.dropped_by_deadline() > 100, "{:?}", total.counts);
    let cut = total.unfinished_of(series).map_or(0, |times| times.by_measure(Measure::Response).count());
    assert_eq!(done + cut + total.counts.dropped() + total.counts.unfinished(), 400);
    let timings = total.timings(series, Class::Succeeded).expect("some").by_measure(Measure::Response);
    assert_eq!(total.missed_deadline_of(series), done - timings.count_up_to(120 * MILLI));
    assert!(timings.max() > Some(120 * MILLI));
}

/// With redirects the whole chain has one deadline, and counts once.
#[test]
fn the_last_response_of_a_chain_is_what_counts() {
    let chains = |deadline: Option<u64>| {
        let url = Some("http://10.0.0.1/redirect/3".to_owned());
        let flags = Flags { url, user_agent: "oracle".to_owned(), location: true, ..users(3, 30) };
        let mut plan = flags.plan().expect("a good plan");
        plan.scenarios[0].steps[0].deadline = deadline.map(Duration::from_nanos);
        run(plan, 1)
    };
    let total = chains(None).total;
    assert_eq!((total.counts.redirects(), total.chains.count(), total.counts.missed_deadline()), (90, 30, 0));
    let (hop, chain) = (total.class(Class::Succeeded).by_measure(Measure::Response).max(), total.chains.min());
    let (hop, chain) = (hop.expect("some"), chain.expect("some"));
    assert!(hop < chain, "{hop} {chain}");
    // Longer than any single request, and shorter than any chain.
    let counts = chains(Some(hop)).total.counts;
    assert_eq!((counts.redirects(), counts.missed_deadline()), (90, 30));
    assert_eq!(chains(Some(total.chains.max().expect("some"))).total.counts.missed_deadline(), 0);
}
