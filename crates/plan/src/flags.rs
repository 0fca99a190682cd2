//! The flags of the command line as typed, and the only place where their texts become values: a [`Draft`].
//!
//! The meaning of a value, and the valid combinations, belong to the draft.

mod custom;
mod options;
mod read;
mod time_as_data;

use crate::draft::HoldDraft;
use crate::grpc::Schema;
use crate::options;
use crate::{Draft, Plan, PlanError};

pub use custom::{CustomFlags, parse_status_words};
pub use options::{FlagSource, FromFlag};
use options::{Layered, layered_options};

layered_options! {
    /// The typed flags; `None` for those that are not given.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[expect(missing_docs, reason = "each field is the flag of its name, documented in the help")]
    pub struct Flags {
        url: Option<String> = "url";
        method: Option<String> = "method";
        data: Option<String> = "data";
        form: Vec<String> = "form";
        data_bytes: Option<String> = "data-bytes";
        /// A file of URLs.
        urls: Option<String> = "urls";
        curl_file: Option<String> = "curl";
        /// The words after `curl`, if any.
        curl: Option<Vec<Vec<u8>>> = "curl";
        shuffle: bool = "shuffle";
        until: Option<String> = "until";
        read_bytes: Option<String> = "read-bytes";
        length_prefix: Option<String> = "length-prefix";
        no_response: bool = "no-response";
        ws_type: Option<String> = "ws-type";
        /// The flags of custom protocols.
        custom: CustomFlags = "custom";
        subprotocols: Vec<String> = "subprotocol";
        message_interval: Option<String> = "message-interval";
        connections: Option<String> = "connections";
        requests: Option<String> = "requests";
        requests_each: Option<String> = "requests-each";
        duration: Option<String> = "duration";
        rate: Option<String> = "rate";
        stages: Option<String> = "stages";
        user_stages: Option<String> = "user-stages";
        ramp: Option<String> = "ramp";
        rendezvous: bool = "rendezvous";
        arrivals: Option<String> = "arrivals";
        preconnect: bool = "preconnect";
        max_lateness: Option<String> = "max-lateness";
        headers: Vec<String> = "header";
        user: Option<String> = "user";
        cookies: Vec<String> = "cookie";
        host: Option<String> = "host";
        timeout: Option<String> = "timeout";
        deadline: Option<String> = "deadline";
        connect_timeout: Option<String> = "connect-timeout";
        grace: Option<String> = "grace";
        no_keepalive: bool = "no-keepalive";
        no_retry: bool = "no-retry";
        http10: bool = "http1.0";
        http11: bool = "http1.1";
        http2: bool = "http2";
        streams: Option<String> = "streams";
        insecure: bool = "insecure";
        cacert: Option<String> = "cacert";
        cert: Option<String> = "cert";
        key: Option<String> = "key";
        sni: Option<String> = "sni";
        alpn: Option<String> = "alpn";
        tls_groups: Option<String> = "tls-groups";
        tls_min: Option<String> = "tls-min";
        no_tls_resumption: bool = "no-tls-resumption";
        expect_status: Option<String> = "expect-status";
        expect_body: Vec<String> = "expect-body";
        expect_headers: Vec<String> = "expect-header";
        expect_json: Vec<String> = "expect-json";
        location: bool = "location";
        max_redirs: Option<String> = "max-redirs";
        resolve: Vec<String> = "resolve";
        connect_to: Vec<String> = "connect-to";
        unix_socket: Option<String> = "unix-socket";
        protos: Vec<String> = "proto";
        import_paths: Vec<String> = "import-path";
        protosets: Vec<String> = "protoset";
        grpc_encoding: Option<String> = "grpc-encoding";
        interval: Option<String> = "interval";
        warmup: Option<String> = "warmup";
        seed: Option<String> = "seed";
        ws_deflate: bool = "ws-deflate";
        source_ip: Option<String> = "source-ip";
        to: Option<String> = "connect-addresses";
        addresses: Option<String> = "addresses";
        dns_ttl: Option<String> = "dns-ttl";
        dns: Option<String> = "dns";
        connection_requests: Option<String> = "connection-requests";
        connection_age: Option<String> = "connection-age";
        keepalive_idle: Option<String> = "keepalive-idle";
        proxy: Option<String> = "proxy";
        proxy_from_env: bool = "proxy-from-env";
        no_proxy: Option<String> = "no-proxy";
        proxy_tunnel: bool = "proxy-tunnel";
        proxy_protocol: Option<String> = "proxy-protocol";
        proxy_protocol_from: Option<String> = "proxy-protocol-from";
        consents: Vec<String> = "allow-host";
        ignores_failures: bool = "no-abort-on-failures";
        budget: Option<String> = "budget";
        log_share: Option<String> = "log-share";
        /// Sent as `User-Agent` unless a header overrides it.
        user_agent: String = "user-agent";
    }
}

impl Flags {
    /// These flags, with those of `base` where these are not given.
    #[must_use]
    pub fn over(&self, base: &Self) -> Self {
        // A version that is given replaces another one.
        let has_version = self.http10 || self.http11 || self.http2;
        let Self { http10, http11, http2, .. } = *if has_version { self } else { base };
        Self { http10, http11, http2, ..self.merged(base) }
    }

    /// The draft of the flags.
    ///
    /// # Errors
    /// The first invalid value, with its remedy.
    pub fn draft(&self) -> Result<Draft, PlanError> {
        read::draft(self)
    }

    /// The plan that the flags describe.
    ///
    /// # Errors
    /// The first error, with its remedy.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        self.draft()?.plan()
    }

    /// The same, with the schema that the target returned: see [`Draft::reflection`].
    ///
    /// # Errors
    /// The first error, with its remedy.
    pub fn plan_with(&self, described: Option<&Schema>) -> Result<Plan, PlanError> {
        self.draft()?.plan_with(described)
    }
}

options! {
    /// The typed flags of `hold`; `None` for those that are not given.
    #[derive(Clone, Debug, Default)]
    #[expect(missing_docs, reason = "each field is the flag of its name, documented in the help")]
    pub struct HoldFlags {
        /// The flags in common with a load.
        common: Flags;
        hold: Option<String> = "hold";
        every: Option<String> = "every";
        once: bool = "once";
        receive_only: bool = "receive-only";
        reconnect: bool = "reconnect";
    }
}

impl HoldFlags {
    /// The draft of the flags.
    ///
    /// # Errors
    /// The first invalid value, with its remedy.
    pub fn draft(&self) -> Result<HoldDraft, PlanError> {
        read::hold_draft(self)
    }

    /// The plan of the hold.
    ///
    /// # Errors
    /// The first error, with its remedy.
    pub fn plan(&self) -> Result<crate::Hold, PlanError> {
        self.draft()?.plan()
    }
}
