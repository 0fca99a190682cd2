//! The flags of the command line as they were typed, and the one place where their texts become values: a [`Draft`].
//!
//! What a value means, and which of them go together, is the business of the draft.

mod over;
mod read;

use crate::draft::HoldDraft;
use crate::grpc::Schema;
use crate::{Draft, Plan, PlanError};

/// What was typed; `None` where nothing was.
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
    /// The words behind `curl`, when there were some.
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
    pub stages_of: Option<String>,
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
    /// Sent as `User-Agent` unless a header says otherwise.
    pub user_agent: String,
}

impl Flags {
    /// What the flags ask for.
    ///
    /// # Errors
    /// The first value that cannot be read, with its remedy.
    pub fn draft(&self) -> Result<Draft, PlanError> {
        read::draft(self)
    }

    /// The plan that the flags describe.
    ///
    /// # Errors
    /// The first thing that is wrong, with its remedy.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        self.draft()?.plan()
    }

    /// The same, with what the target said of itself: see [`Draft::reflection`].
    ///
    /// # Errors
    /// The first thing that is wrong, with its remedy.
    pub fn plan_with(&self, described: Option<&Schema>) -> Result<Plan, PlanError> {
        self.draft()?.plan_with(described)
    }
}

/// What was typed behind `hold`; `None` where nothing was.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "each field is the flag of its name, documented in the help")]
pub struct HoldFlags {
    /// Those that a load has too.
    pub common: Flags,
    pub hold: Option<String>,
    pub every: Option<String>,
    pub once: bool,
    pub receive_only: bool,
    pub reconnect: bool,
}

impl HoldFlags {
    /// What the flags ask for.
    ///
    /// # Errors
    /// The first value that cannot be read, with its remedy.
    pub fn draft(&self) -> Result<HoldDraft, PlanError> {
        read::hold_draft(self)
    }

    /// What is to be held.
    ///
    /// # Errors
    /// The first thing that is wrong, with its remedy.
    pub fn plan(&self) -> Result<crate::Hold, PlanError> {
        self.draft()?.plan()
    }
}
