//! Every fuzzer on a given number of inputs: its seeds first, then mutated ones. A failing test prints its input and
//! the command that repeats it.
//!
//! - `ONRUSH_FUZZ_SEED`: which sequence of inputs (default 1). `cargo xtask test` takes another one with each commit.
//! - `ONRUSH_FUZZ_INPUTS`: how many (default 5000).
//! - `ONRUSH_FUZZ_INPUT`: the number of a single input.
//!
//! A fault that ends the whole process, such as a stack overflow, is found by running fewer and fewer inputs.

#[macro_use]
extern crate claims;

mod complete;
mod mutator;
mod requested;

use std::path::{Path, PathBuf};

use mutator::Mutator;
use requested::Requested;

/// Defines one test for each fuzzer, and the list of them.
macro_rules! fuzzers {
    ($($name:ident)*) => {
        const FUZZERS: &[&str] = &[$(stringify!($name)),*];

        $(
            #[test]
            fn $name() {
                fuzz(stringify!($name), fuzzers::$name);
            }
        )*
    };
}

fuzzers! {
    carried certificate checks config curl dns export expression grpc grpc_described grpc_json hpack http1_client http1_server
    http2_client http2_server kept line pattern plan_text room rows scenario snapshot sweep take tcp threshold tunnel websocket words
}

fn fuzz(name: &str, fuzzer: fn(&[u8])) {
    let requested = Requested::read(|variable| std::env::var(variable).ok());
    requested.run(name, fuzzer, &Mutator::new(seeds(name)));
}

/// The seeds of the fuzzer, in the order of their file names.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = root().join("fuzz/seeds").join(name);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("an entry").path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read(file).expect("a file that can be read")).collect()
}

fn root() -> &'static Path {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.ancestors().nth(2).expect("crates lie two folders below")
}
