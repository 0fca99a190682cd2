//! One fuzzer for each parser: a function of any bytes, which panics when the parser breaks a promise.
//!
//! The bytes come from the tests of this crate, a given number for each fuzzer (`tests/fuzzers`), and from libFuzzer,
//! for any length of time (`cargo xtask fuzz`; `fuzz/fuzz_targets`). Both begin with the files of `fuzz/seeds`.

mod carried;
mod certificate;
mod checks;
mod config;
mod curl;
mod dns;
mod export;
mod expression;
mod grpc;
mod grpc_described;
mod grpc_json;
mod hpack;
mod http1_client;
mod http1_server;
mod http2_client;
mod http2_server;
mod kept;
mod line;
mod pattern;
mod plan_text;
mod room;
mod rows;
mod scenario;
mod snapshot;
mod sweep;
mod take;
mod tcp;
mod threshold;
mod tunnel;
mod websocket;
mod words;

pub use self::carried::carried;
pub use self::certificate::certificate;
pub use self::checks::checks;
pub use self::config::config;
pub use self::curl::curl;
pub use self::dns::dns;
pub use self::export::export;
pub use self::expression::expression;
pub use self::grpc::grpc;
pub use self::grpc_described::grpc_described;
pub use self::grpc_json::grpc_json;
pub use self::hpack::hpack;
pub use self::http1_client::http1_client;
pub use self::http1_server::http1_server;
pub use self::http2_client::http2_client;
pub use self::http2_server::http2_server;
pub use self::kept::kept;
pub use self::line::line;
pub use self::pattern::pattern;
pub use self::plan_text::plan_text;
pub use self::room::room;
pub use self::rows::rows;
pub use self::scenario::scenario;
pub use self::snapshot::snapshot;
pub use self::sweep::sweep;
pub use self::take::take;
pub use self::tcp::tcp;
pub use self::threshold::threshold;
pub use self::tunnel::tunnel;
pub use self::websocket::websocket;
pub use self::words::words;
