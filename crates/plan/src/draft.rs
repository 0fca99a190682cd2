//! The input of a plan: plain typed values, as the flags, a command line of another tool, commands of curl or a
//! scenario file specify them.
//!
//! It has the structure of scenarios: [`Load`] is of a scenario; [`Request`], [`ResponseChecks`] and [`Connection`] are
//! of a step. `None` and empty stand for values that are not given. [`Draft::plan`] checks all of it, reads the files
//! that it names, and makes the [`Plan`].

mod body;
mod calls;
mod commands;
mod connection;
mod custom;
mod held;
mod load;
mod messaging;
mod request;
mod responses;
mod urls;

use std::sync::Arc;
use std::time::Duration;

pub use body::Body;
pub use calls::CallOptions;
pub use commands::Commands;
pub use connection::{Connection, ProxyRequest, Security};
pub use held::HoldDraft;
pub(crate) use load::REQUESTS_MAX;
pub use load::{Load, Ramp, Stages};
pub use messaging::MessagingOptions;
pub(crate) use messaging::{RESPONSE_BYTES_MAX, flag_of};
pub use request::Request;
pub use responses::ResponseChecks;
pub use urls::{URLS_FILE_BYTES_MAX, URLS_MAX};

use crate::address::Scheme;
use crate::grpc::Schema;
use crate::text::{check_span, check_span_max};
use crate::{
    Address, Budget, CaptureOptions, INTERVAL_MIN, Need, Plan, PlanError, Program, Remedy, Scenario, Step, Target,
    TargetPolicy, USERS_MAX,
};

const TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);
const GRACE_DEFAULT: Duration = Duration::from_secs(5);
const INTERVAL_DEFAULT: Duration = Duration::from_secs(1);
/// The name of the one scenario of a load that no file describes.
pub const SCENARIO_OF_URL: &str = "main";
/// The seed of random orders: they are the same in each run.
const ORDER_SEED: u64 = 1;

/// The input of a run's plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// The target, unless commands of curl name it.
    pub url: Option<Address>,
    /// The target as commands of curl.
    pub commands: Option<Commands>,
    /// The load.
    pub load: Load,
    /// The request.
    pub request: Request,
    /// The checks of responses.
    pub responses: ResponseChecks,
    /// The connection and protocol options.
    pub connection: Connection,
    /// The grace time for exchanges in flight at the end.
    pub grace: Option<Duration>,
    /// The time between two lines of the table.
    pub interval: Option<Duration>,
    /// The additional data that is captured.
    pub capture_options: CaptureOptions,
    /// The budget.
    pub budget: Budget,
    /// Hosts that the user allows to load, wherever they are.
    pub consents: Vec<String>,
}

impl Draft {
    /// Makes the plan.
    ///
    /// # Errors
    /// The first error, with its remedy.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        self.plan_with(None)
    }

    /// The same, with the schema that the target returned: see [`Draft::reflection`].
    ///
    /// # Errors
    /// The first error, with its remedy.
    pub fn plan_with(&self, described: Option<&Schema>) -> Result<Plan, PlanError> {
        let (targets, steps) = match self.command_steps()? {
            Some(parts) => parts,
            None => self.single_step(described)?,
        };
        let timeout = steps.iter().map(|step| step.timeout).max().unwrap_or(TIMEOUT_DEFAULT);
        let load = self.load.to_load(timeout)?;
        let warmup = self.load.warmup.unwrap_or_default();
        if !warmup.is_zero() && !load.begins_above_nothing() {
            return Err(PlanError::ColdWarmup);
        }
        let streams = targets.first().map_or(1, |target: &Target| target.streams);
        if u128::from(streams) * u128::from(load.connections()) > u128::from(USERS_MAX) {
            return Err(PlanError::TooManyUsers { most: USERS_MAX });
        }
        let program = match steps.len() {
            1 if !self.request.pause.is_zero() => Program::after_pause(check_span_max("--pause", self.request.pause)?),
            count => match (&self.commands, self.load.shuffle) {
                (Some(Commands::Urls { .. }), true) => Program::one_drawn(count, ORDER_SEED),
                (Some(Commands::Urls { .. }), false) => Program::one_in_turn(count),
                (_, true) => Program::shuffled(count, ORDER_SEED),
                (_, false) => Program::in_turn(count),
            },
        };
        let scenario = Scenario {
            name: SCENARIO_OF_URL.to_owned(),
            targets,
            load,
            begin: Duration::ZERO,
            every: None,
            iterations_per_user: self.load.requests_each,
            shared_connections: None,
            steps,
            program,
            memory: crate::Memory::default(),
        };
        let plan = Plan {
            scenarios: vec![scenario],
            grace: self.grace()?,
            stop_within: crate::STOP_WITHIN,
            warmup: check_span_max("--warmup", warmup)?,
            barriers: Vec::new(),
            capture_options: self.capture_options,
            budget: self.budget,
            interval: self.interval()?,
            seed: None,
        };
        let target_policy = self.target_policy(plan.wants_consent());
        Ok(plan.reaching(&target_policy))
    }

    /// One step of several, with its target. `listens`: a message step may have no message to send.
    ///
    /// # Errors
    /// The first error, with its remedy.
    pub fn part(&self, described: Option<&Schema>, listens: bool) -> Result<(Target, Step), PlanError> {
        let url = self.url.as_ref().ok_or(PlanError::NoUrl)?;
        let step = match url.scheme {
            Scheme::Grpc => self.call_step(url, described)?,
            Scheme::Http => self.step(url)?,
            Scheme::WebSocket | Scheme::Tcp => self.messaging_step(url, listens)?,
            Scheme::Custom(_) => self.custom_step(url, false)?,
        };
        Ok((self.target(url)?, step))
    }

    /// The grace time at the end, and the time between two lines of the table.
    ///
    /// # Errors
    /// One of them is too short or too long.
    pub fn times(&self) -> Result<(Duration, Duration), PlanError> {
        Ok((self.grace()?, self.interval()?))
    }

    /// The target policy.
    pub(super) fn target_policy(&self, wants_consent: bool) -> TargetPolicy {
        if wants_consent { TargetPolicy::Near(self.consents.clone().into()) } else { TargetPolicy::Anywhere }
    }

    fn grace(&self) -> Result<Duration, PlanError> {
        check_span_max("--grace", self.grace.unwrap_or(GRACE_DEFAULT))
    }

    fn interval(&self) -> Result<Duration, PlanError> {
        check_span("--interval", self.interval.unwrap_or(INTERVAL_DEFAULT), INTERVAL_MIN)
    }

    /// The step of a URL.
    fn single_step(&self, described: Option<&Schema>) -> Result<(Vec<Target>, Vec<Step>), PlanError> {
        if self.load.shuffle {
            return Err(PlanError::Needs { flag: "--shuffle", needed: Need::Curl });
        }
        let url = self.url.as_ref().ok_or(PlanError::NoUrl)?;
        if !url.is_grpc() {
            self.request.call.refuse()?;
        }
        if !url.is_messaging() {
            self.request.refuse_messaging()?;
        }
        let step = match url.scheme {
            Scheme::Grpc => {
                self.responses.refuse_redirects()?;
                self.call_step(url, described)?
            }
            Scheme::Http => self.step(url)?,
            Scheme::WebSocket | Scheme::Tcp => {
                self.responses.refuse_http()?;
                self.connection.refuse_limits(url.scheme)?;
                self.messaging_step(url, false)?
            }
            Scheme::Custom(_) => {
                self.responses.refuse_http()?;
                self.connection.refuse_limits(url.scheme)?;
                self.custom_step(url, false)?
            }
        };
        Ok((vec![self.target(url)?], vec![step]))
    }

    fn target(&self, address: &Address) -> Result<Target, PlanError> {
        let connection = &self.connection;
        let (protocol, streams) = connection.protocol(address)?;
        let port = address.port();
        let route_overrides = connection.route_overrides()?;
        let tls = self.tls(address, protocol)?;
        let route = route_overrides.to(address.host(), port, connection.places.clone(), tls.is_some())?;
        let unix = route_overrides.unix.clone();
        if unix.is_some() && !connection.places.is_empty() {
            return Err(PlanError::Conflict {
                one: "--connect-addresses",
                other: "--unix-socket",
                remedy: Remedy::OneWay,
            });
        }
        if unix.is_some() && connection.sources.is_some() {
            return Err(PlanError::Conflict { one: "--source-ip", other: "--unix-socket", remedy: Remedy::OneWay });
        }
        let ways = [
            ("--unix-socket", unix.is_some()),
            ("--proxy", route.proxy.is_some()),
            ("--proxy-protocol", route.proxy_header.is_some()),
        ];
        if let Some((one, _)) = ways.into_iter().find(|(_, is_given)| *is_given && address.is_datagram()) {
            let (other, remedy) = (address.scheme.prefix(), Remedy::DatagramsGoStraight);
            return Err(PlanError::Conflict { one, other, remedy });
        }
        Ok(Target {
            host: address.host().to_owned(),
            zone: address.zone.clone(),
            dial: route.dial,
            unix,
            port,
            url: address.to_string(),
            protocol,
            custom: address.custom.as_ref().map(|custom| Box::new(custom.endpoint.clone())),
            streams,
            tls,
            sources: connection.sources.clone().unwrap_or_default(),
            places: route.places,
            proxy: route.proxy,
            proxy_header: route.proxy_header,
            names: connection.names,
            connection_limits: connection.limits()?,
            target_policy: TargetPolicy::Anywhere,
        })
    }

    /// An HTTP request.
    fn step(&self, url: &Address) -> Result<Step, PlanError> {
        let form = Arc::new(self.form(url)?);
        let request = form.request(&form.begin(), false);
        Ok(Step {
            name: format!("{} {}", request.method, request.path),
            request,
            checks: self.responses.checks(),
            dynamic_parts: None,
            call: None,
            target: 0,
            follow: self.follow(&form)?,
            is_shown: false,
            messaging: None,
            timeout: self.request.timeout()?,
            deadline: self.request.deadline()?,
            tags: Vec::new(),
            at_origins: Vec::new(),
            connect_timeout: self.connection.connect_timeout()?,
            keep_alive: !self.connection.no_keepalive,
            retries: !self.connection.no_retry,
        })
    }
}

#[cfg(test)]
mod tests;
