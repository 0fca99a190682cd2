//! Options of a load.

use std::time::Duration;

use crate::text::{MILLI, check_count, check_rate, check_span, check_span_max};
use crate::{Arrivals, ConnectionCount, Need, PlanError, RateStage, Remedy, USERS_MAX, UserShape, UserStage};

const CONNECTIONS_DEFAULT: u64 = 50;
const DURATION_DEFAULT: Duration = Duration::from_secs(10);
const HOUR_NS: u128 = 3_600_000_000_000;
/// The most requests: starts are counted in 64 bits, and so are twice as many.
pub(crate) const REQUESTS_MAX: u64 = u64::MAX >> 1;

/// Options of a load. Rates are in thousandths of a start per hour.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// The number of connections.
    pub connections: Option<u64>,
    /// The total number of iterations.
    pub requests: Option<u64>,
    /// The number of iterations of each user.
    pub requests_each: Option<u64>,
    /// The time during which iterations are started.
    pub duration: Option<Duration>,
    /// The rate of starts, independent of the target.
    pub rate: Option<u64>,
    /// Rates or users over time.
    pub stages: Option<Stages>,
    /// The ramp of users or connections.
    pub ramp: Option<Ramp>,
    /// Whether users wait for each other.
    pub rendezvous: bool,
    /// The spacing of starts.
    pub arrivals: Option<Arrivals>,
    /// The lateness after which a start that could not be sent is dropped.
    pub max_lateness: Option<Duration>,
    /// Whether all connections of a rate are opened at the beginning.
    pub preconnect: bool,
    /// The time of load before measuring begins.
    pub warmup: Option<Duration>,
    /// Whether the steps of an iteration are in random order.
    pub shuffle: bool,
}

/// The ramp of users or connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ramp {
    /// This rate, in thousandths of one per hour.
    Rate(u64),
    /// All of them within this time.
    Over(Duration),
}

impl Ramp {
    /// Checks that it is feasible.
    pub(super) fn check(self) -> Result<(), PlanError> {
        match self {
            Self::Rate(rate) => check_rate("--ramp", rate).map(drop),
            Self::Over(span) => check_span("--ramp", span, MILLI).map(drop),
        }
    }

    /// The rate for this number, in thousandths of one per hour.
    pub(super) fn rate_of(self, count: u64) -> u64 {
        match self {
            Self::Rate(rate) => rate,
            Self::Over(span) => {
                let rate = u128::from(count) * 1_000 * HOUR_NS / span.as_nanos().max(1);
                u64::try_from(rate).unwrap_or(u64::MAX).max(1)
            }
        }
    }
}

/// Stages of a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stages {
    /// Stages of the rate.
    Rate(Vec<RateStage>),
    /// Stages of the users.
    Users(Vec<UserStage>),
}

impl Load {
    /// The load of a plan. `timeout`: the longest of its steps.
    ///
    /// # Errors
    /// The first error, with its remedy.
    pub fn to_load(&self, timeout: Duration) -> Result<crate::Load, PlanError> {
        self.check()?;
        self.check_each()?;
        match &self.stages {
            Some(Stages::Users(stages)) => self.staged_users(stages),
            Some(Stages::Rate(_)) => self.open(timeout),
            None if self.rate.is_some() => self.open(timeout),
            None => self.closed(),
        }
    }

    /// Checks each value separately.
    fn check(&self) -> Result<(), PlanError> {
        self.connections.map_or(Ok(0), |count| check_count("-c", count, 1, USERS_MAX))?;
        self.requests.map_or(Ok(0), |count| check_count("-n", count, 1, REQUESTS_MAX))?;
        self.requests_each.map_or(Ok(0), |count| check_count("--requests-each", count, 1, REQUESTS_MAX))?;
        self.duration.map_or(Ok(Duration::ZERO), |span| check_span("-z", span, MILLI))?;
        self.rate.map_or(Ok(0), |rate| check_rate("-q", rate))?;
        self.ramp.map_or(Ok(()), Ramp::check)?;
        self.max_lateness.map_or(Ok(Duration::ZERO), |span| check_span("--max-lateness", span, MILLI))?;
        self.warmup.map_or(Ok(Duration::ZERO), |span| check_span_max("--warmup", span)).map(drop)
    }

    /// Checks that a number of iterations per user is combined with users only.
    fn check_each(&self) -> Result<(), PlanError> {
        let conflicts = [
            ("-n", self.requests.is_some(), Remedy::OneCount),
            ("-q", self.rate.is_some(), Remedy::EachIsOfUsers),
            ("--stages", matches!(self.stages, Some(Stages::Rate(_))), Remedy::EachIsOfUsers),
            ("--warmup", self.warmup.is_some_and(|span| !span.is_zero()), Remedy::WarmupUsesUp),
        ];
        match conflicts.into_iter().find(|(_, is_given, _)| *is_given) {
            Some((other, _, remedy)) if self.requests_each.is_some() => {
                Err(PlanError::Conflict { one: "--requests-each", other, remedy })
            }
            _ => Ok(()),
        }
    }

    /// Checks that no option of the open model is given.
    fn refuse_open(&self) -> Result<(), PlanError> {
        let given = [
            ("--arrivals", self.arrivals.is_some()),
            ("--max-lateness", self.max_lateness.is_some()),
            ("--preconnect", self.preconnect),
        ];
        given
            .iter()
            .find(|(_, is_given)| *is_given)
            .map_or(Ok(()), |(flag, _)| Err(PlanError::Needs { flag, needed: Need::Rate }))
    }

    /// The closed model.
    fn closed(&self) -> Result<crate::Load, PlanError> {
        self.refuse_open()?;
        let users = self.connections.unwrap_or(CONNECTIONS_DEFAULT);
        let shape = match self.ramp {
            Some(_) if self.rendezvous => {
                let (one, other, remedy) = ("--rendezvous", "--ramp", Remedy::RendezvousIsConstant);
                return Err(PlanError::Conflict { one, other, remedy });
            }
            Some(Ramp::Rate(rate)) => UserShape::Ramp(time_for(users, rate)),
            Some(Ramp::Over(span)) => UserShape::Ramp(span),
            None if self.rendezvous => UserShape::Rendezvous,
            None => UserShape::AtOnce,
        };
        let is_counted = self.requests.is_some() || self.requests_each.is_some();
        let duration = self.duration.or((!is_counted).then_some(DURATION_DEFAULT));
        Ok(crate::Load::Closed { users, shape, requests: self.requests, duration })
    }

    /// Users in stages.
    fn staged_users(&self, stages: &[UserStage]) -> Result<crate::Load, PlanError> {
        self.refuse_open()?;
        let conflicts = [
            ("-q", self.rate.is_some(), Remedy::StagesSayUsers),
            ("-c", self.connections.is_some(), Remedy::StagesSayUsers),
            ("-z", self.duration.is_some(), Remedy::StagesHaveTimes),
            ("--ramp", self.ramp.is_some(), Remedy::StagesSayUsers),
            ("--rendezvous", self.rendezvous, Remedy::RendezvousIsConstant),
        ];
        if let Some((one, _, remedy)) = conflicts.into_iter().find(|(_, is_given, _)| *is_given) {
            return Err(PlanError::Conflict { one, other: "--user-stages", remedy });
        }
        let duration: Duration = stages.iter().map(|stage| stage.span).sum();
        let users = stages.iter().filter(|stage| !stage.span.is_zero()).map(|stage| stage.from.max(stage.to)).max();
        match users {
            Some(users) if users > 0 && duration >= MILLI => Ok(crate::Load::Closed {
                users,
                shape: UserShape::Stages(stages.to_vec()),
                requests: self.requests,
                duration: Some(duration),
            }),
            _ => Err(PlanError::NoStarts { flag: "--user-stages" }),
        }
    }

    /// The open model.
    fn open(&self, timeout: Duration) -> Result<crate::Load, PlanError> {
        let by = if self.rate.is_some() { "-q" } else { "--stages" };
        for (one, is_given, remedy) in [
            ("--ramp", self.ramp.is_some(), Remedy::RampIsOfUsers),
            ("--rendezvous", self.rendezvous, Remedy::RendezvousIsConstant),
        ] {
            if is_given {
                return Err(PlanError::Conflict { one, other: by, remedy });
            }
        }
        let stages = self.rate_stages()?;
        let doubled = stages.iter().map(|stage| u128::from(stage.from + stage.to) * stage.span.as_nanos());
        if doubled.sum::<u128>() < 2 * 1_000 * HOUR_NS {
            return Err(PlanError::NoStarts { flag: by });
        }
        let arrivals = self.arrivals.unwrap_or(Arrivals::Even);
        if self.requests.is_some() && arrivals != Arrivals::Even {
            let (one, other, remedy) = ("-n", "--arrivals poisson", Remedy::RandomEndsWithTime);
            return Err(PlanError::Conflict { one, other, remedy });
        }
        if self.preconnect && self.connections.is_none() {
            return Err(PlanError::Needs { flag: "--preconnect", needed: Need::Connections });
        }
        let connections = ConnectionCount::new(self.connections, self.preconnect);
        let max_lateness = self.max_lateness.unwrap_or(timeout);
        Ok(crate::Load::Open { stages, arrivals, requests: self.requests, connections, max_lateness })
    }

    fn rate_stages(&self) -> Result<Vec<RateStage>, PlanError> {
        match (self.rate, &self.stages) {
            (Some(_), Some(_)) => {
                Err(PlanError::Conflict { one: "-q", other: "--stages", remedy: Remedy::RateAsStage })
            }
            (Some(rate), None) => {
                let in_time = || self.requests.map_or(DURATION_DEFAULT, |count| time_for(count, rate));
                Ok(vec![RateStage { from: rate, to: rate, span: self.duration.unwrap_or_else(in_time) }])
            }
            (None, Some(_)) if self.duration.is_some() => {
                Err(PlanError::Conflict { one: "-z", other: "--stages", remedy: Remedy::StagesHaveTimes })
            }
            (None, Some(Stages::Rate(stages))) => Ok(stages.clone()),
            (None, _) => Ok(Vec::new()),
        }
    }
}

/// The time in which a rate makes exactly `count` starts.
fn time_for(count: u64, thousandths_per_hour: u64) -> Duration {
    let nanos = (u128::from(count) * 1_000 * HOUR_NS).div_ceil(u128::from(thousandths_per_hour));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
