//! Instruction counts of scenario files. A program of its own: it links the reader of files and the interpreter, and
//! what a program links changes how the rest of it is compiled.

#![expect(missing_docs, reason = "the macros make public items")]

#[path = "../http1/canned.rs"]
#[expect(dead_code, reason = "most of it serves the other program")]
mod canned;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use canned::CannedRun;
use engine::DataSources;
use gungraun::{library_benchmark, library_benchmark_group, main};

/// Repetitions of each benchmark.
const TIMES: u64 = 1_000;
/// Rounds of each iteration of a flow.
const ROUNDS: u64 = 100;

/// A flow whose iteration has one request, and this many rounds of a loop.
fn flow(rounds: &str) -> CannedRun {
    let item = r#"{"sku": 17, "name": "a lamp", "price": 9.5, "stock": 12345}"#;
    let items = vec![item; ROUNDS as usize].join(", ");
    warm_from_file(&format!(
        "target: http://10.0.0.1\nvars:\n  page: 0\n  order: {item}\n  items: [{items}]\nscenarios:\n  one:\n    \
         load: {{users: 1, iterations: 1000000000}}\n    steps: [{{get: /}}, {rounds}]\n"
    ))
}

/// A scenario file whose users evaluate expressions.
fn warm_from_file(text: &str) -> CannedRun {
    let opened = scenario::parse("flow.yaml", text, &scenario::Folder(PathBuf::new())).expect("a good file");
    let sources = DataSources { interpreters: Some(Arc::new(script::JavaScript)), ..DataSources::default() };
    let outside = scenario::Outside {
        environment: &|_| None,
        interpreters: sources.interpreters.as_deref(),
        schemas: &[],
        lists: None,
        folder: Path::new(""),
        user_agent: "onrush",
    };
    let lowering = scenario::Lowering::new(&opened, &outside).expect("values");
    let plan = lowering.run(&[]).expect("a good plan").plan;
    CannedRun::warm_supplied(&plan, sources, canned::HEAD, false)
}

#[library_benchmark]
#[bench::set(flow("{repeat: 100, steps: [{set: {page: '${page + 1}'}}]}"))]
#[bench::check(flow("{repeat: 100, steps: [{check: order.stock == 12345 && page == 0}]}"))]
#[bench::for_each(flow("{for_each: items, as: item, steps: [{set: {page: '${item.price}'}}]}"))]
fn rounds(mut run: CannedRun) -> CannedRun {
    run.exchange(TIMES / ROUNDS);
    run
}

library_benchmark_group!(name = flows, benchmarks = [rounds]);
main!(library_benchmark_groups = flows);
