//! The flags of the command line as typed, and the only place where their texts become values: a [`Draft`].
//!
//! The meaning of a value, and the valid combinations, belong to the draft.

mod over;
mod read;

use crate::draft::HoldDraft;
use crate::grpc::Schema;
use crate::{Draft, Plan, PlanError};

/// The typed flags; `None` for those that are not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is the flag of its name, documented in the help")]
pub struct Flags {
    pub url: Option<String>,
    pub connections: Option<String>,
    pub requests: Option<String>,
    pub requests_each: Option<String>,
    pub duration: Option<String>,
    pub method: Option<String>,
    pub headers: Vec<String>,
    pub user: Option<String>,
    pub cookies: Vec<String>,
    pub host: Option<String>,
    pub form: Vec<String>,
    pub data: Option<String>,
    pub timeout: Option<String>,
    pub connect_timeout: Option<String>,
    pub grace: Option<String>,
    pub no_keepalive: bool,
    pub no_retry: bool,
    pub http10: bool,
    pub http11: bool,
    pub http2: bool,
    pub streams: Option<String>,
    pub insecure: bool,
    pub cacert: Option<String>,
    pub cert: Option<String>,
    pub key: Option<String>,
    pub sni: Option<String>,
    pub alpn: Option<String>,
    pub tls_groups: Option<String>,
    pub tls_min: Option<String>,
    pub no_tls_resumption: bool,
    pub expect_status: Option<String>,
    pub expect_body: Vec<String>,
    pub expect_headers: Vec<String>,
    pub expect_json: Vec<String>,
    pub location: bool,
    pub max_redirs: Option<String>,
    pub resolve: Vec<String>,
    pub connect_to: Vec<String>,
    pub unix_socket: Option<String>,
    pub curl_file: Option<String>,
    /// A file of URLs.
    pub urls: Option<String>,
    /// The words after `curl`, if any.
    pub curl: Option<Vec<Vec<u8>>>,
    pub shuffle: bool,
    pub protos: Vec<String>,
    pub import_paths: Vec<String>,
    pub protosets: Vec<String>,
    pub message_interval: Option<String>,
    pub grpc_encoding: Option<String>,
    pub interval: Option<String>,
    pub rate: Option<String>,
    pub stages: Option<String>,
    pub arrivals: Option<String>,
    pub max_lateness: Option<String>,
    pub preconnect: bool,
    pub user_stages: Option<String>,
    pub ramp: Option<String>,
    pub rendezvous: bool,
    pub warmup: Option<String>,
    pub data_bytes: Option<String>,
    pub seed: Option<String>,
    pub until: Option<String>,
    pub read_bytes: Option<String>,
    pub length_prefix: Option<String>,
    pub no_response: bool,
    pub ws_type: Option<String>,
    pub subprotocols: Vec<String>,
    pub ws_deflate: bool,
    pub source_ip: Option<String>,
    pub to: Option<String>,
    pub consents: Vec<String>,
    pub persists: bool,
    pub budget: Option<String>,
    pub log_share: Option<String>,
    /// Sent as `User-Agent` unless a header overrides it.
    pub user_agent: String,
}

impl Flags {
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

/// The typed flags of `hold`; `None` for those that are not given.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "each field is the flag of its name, documented in the help")]
pub struct HoldFlags {
    /// The flags in common with a load.
    pub common: Flags,
    pub hold: Option<String>,
    pub every: Option<String>,
    pub once: bool,
    pub receive_only: bool,
    pub reconnect: bool,
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
