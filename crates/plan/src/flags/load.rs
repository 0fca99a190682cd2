//! The flags that say how much load.

use std::time::Duration;

use super::{Flags, MILLI, or_default, span};
use crate::{
    Arrivals, ConnectionCount, Load, Need, OPEN_CONNECTIONS_MAX, PlanError, RateStage, Remedy, USERS_MAX, UserShape,
    parse_count, parse_rate, parse_stages, parse_user_stages,
};

const CONNECTIONS_DEFAULT: u64 = 50;
const DURATION_DEFAULT: Duration = Duration::from_secs(10);
/// Random starts are the same in each run, so that two runs can be compared.
const ARRIVALS_SEED: u64 = 1;
const HOUR_NS: u128 = 3_600_000_000_000;

/// The flags that more than one kind of load reads.
struct Common {
    connections: Option<u64>,
    requests: Option<u64>,
    duration: Option<Duration>,
}

impl Flags {
    pub(super) fn load(&self, timeout: Duration) -> Result<Load, PlanError> {
        let common = Common {
            connections: self.connections.as_deref().map(|text| parse_count("-c", text, 1, USERS_MAX)).transpose()?,
            requests: self.requests.as_deref().map(|text| parse_count("-n", text, 1, u64::MAX >> 1)).transpose()?,
            duration: self.duration.as_deref().map(|text| span("-z", text, MILLI, "1ms")).transpose()?,
        };
        if self.stages_of.is_some() && self.stages.is_none() {
            return Err(PlanError::Needs { flag: "--stages-of", needed: Need::Stages });
        }
        match (self.stages_of.as_deref(), &self.stages) {
            (Some("users"), Some(text)) => self.staged_users(text, &common),
            (None | Some("rate"), _) if self.rate.is_some() || self.stages.is_some() => self.open(&common, timeout),
            (None, None) => self.closed(&common),
            (other, _) => Err(PlanError::Choice {
                flag: "--stages-of",
                value: other.unwrap_or_default().to_owned(),
                choices: "rate, users",
            }),
        }
    }

    /// What belongs to the open model is not given.
    fn refuse_open_flags(&self) -> Result<(), PlanError> {
        let given = [("--arrivals", self.arrivals.is_some()), ("--max-lateness", self.max_lateness.is_some())];
        given
            .iter()
            .find(|(_, is_given)| *is_given)
            .map_or(Ok(()), |(flag, _)| Err(PlanError::Needs { flag, needed: Need::Rate }))
    }

    /// Users that are kept busy.
    fn closed(&self, common: &Common) -> Result<Load, PlanError> {
        self.refuse_open_flags()?;
        let users = common.connections.unwrap_or(CONNECTIONS_DEFAULT);
        let shape = match self.ramp.as_deref() {
            Some(_) if self.rendezvous => {
                let (one, other, remedy) = ("--rendezvous", "--ramp", Remedy::RendezvousIsConstant);
                return Err(PlanError::Conflict { one, other, remedy });
            }
            Some(text) => UserShape::Ramp(time_for(users, parse_rate("--ramp", text)?)),
            None if self.rendezvous => UserShape::Rendezvous,
            None => UserShape::AtOnce,
        };
        let duration = common.duration.or(common.requests.is_none().then_some(DURATION_DEFAULT));
        Ok(Load::Closed { users, shape, requests: common.requests, duration })
    }

    /// Users that come and go by a plan.
    fn staged_users(&self, text: &str, common: &Common) -> Result<Load, PlanError> {
        self.refuse_open_flags()?;
        let conflicts = [
            ("-q", self.rate.is_some(), Remedy::StagesSayUsers),
            ("-c", common.connections.is_some(), Remedy::StagesSayUsers),
            ("-z", common.duration.is_some(), Remedy::StagesHaveTimes),
            ("--ramp", self.ramp.is_some(), Remedy::StagesSayUsers),
            ("--rendezvous", self.rendezvous, Remedy::RendezvousIsConstant),
        ];
        if let Some((one, _, remedy)) = conflicts.into_iter().find(|(_, is_given, _)| *is_given) {
            return Err(PlanError::Conflict { one, other: "--stages", remedy });
        }
        let stages = parse_user_stages(text)?;
        let duration: Duration = stages.iter().map(|stage| stage.span).sum();
        let users = stages.iter().filter(|stage| !stage.span.is_zero()).map(|stage| stage.from.max(stage.to)).max();
        match users {
            Some(users) if users > 0 && duration >= MILLI => Ok(Load::Closed {
                users,
                shape: UserShape::Stages(stages),
                requests: common.requests,
                duration: Some(duration),
            }),
            _ => Err(PlanError::NoStarts { flag: "--stages" }),
        }
    }

    /// Starts at a rate.
    fn open(&self, common: &Common, timeout: Duration) -> Result<Load, PlanError> {
        for (one, is_given, remedy) in [
            ("--ramp", self.ramp.is_some(), Remedy::RampIsOfUsers),
            ("--rendezvous", self.rendezvous, Remedy::RendezvousIsConstant),
        ] {
            if is_given {
                let other = if self.rate.is_some() { "-q" } else { "--stages" };
                return Err(PlanError::Conflict { one, other, remedy });
            }
        }
        let arrivals = match self.arrivals.as_deref() {
            None | Some("even") => Arrivals::Even,
            Some("poisson") => Arrivals::Poisson { seed: ARRIVALS_SEED },
            Some(other) => {
                let (flag, choices) = ("--arrivals", "even, poisson");
                return Err(PlanError::Choice { flag, value: other.to_owned(), choices });
            }
        };
        let stages = self.rate_stages(common)?;
        let doubled = stages.iter().map(|stage| u128::from(stage.from + stage.to) * stage.span.as_nanos());
        if doubled.sum::<u128>() < 2 * 1_000 * HOUR_NS {
            return Err(PlanError::NoStarts { flag: if self.rate.is_some() { "-q" } else { "--stages" } });
        }
        if common.requests.is_some() && arrivals != Arrivals::Even {
            let (one, other, remedy) = ("-n", "--arrivals poisson", Remedy::RandomEndsWithTime);
            return Err(PlanError::Conflict { one, other, remedy });
        }
        let connections =
            common.connections.map_or(ConnectionCount::UpTo(OPEN_CONNECTIONS_MAX), ConnectionCount::Exactly);
        let max_lateness = or_default("--max-lateness", &self.max_lateness, timeout, MILLI, "1ms")?;
        Ok(Load::Open { stages, arrivals, requests: common.requests, connections, max_lateness })
    }

    fn rate_stages(&self, common: &Common) -> Result<Vec<RateStage>, PlanError> {
        match (self.rate.as_deref(), self.stages.as_deref()) {
            (Some(_), Some(_)) => {
                Err(PlanError::Conflict { one: "-q", other: "--stages", remedy: Remedy::RateAsStage })
            }
            (Some(text), None) => {
                let rate = parse_rate("-q", text)?;
                let in_time = || common.requests.map_or(DURATION_DEFAULT, |count| time_for(count, rate));
                Ok(vec![RateStage { from: rate, to: rate, span: common.duration.unwrap_or_else(in_time) }])
            }
            (None, Some(_)) if common.duration.is_some() => {
                Err(PlanError::Conflict { one: "-z", other: "--stages", remedy: Remedy::StagesHaveTimes })
            }
            (None, text) => parse_stages(text.unwrap_or_default()),
        }
    }
}

/// A time in which a rate makes `count` starts, and not one more.
fn time_for(count: u64, thousandths_per_hour: u64) -> Duration {
    let nanos = (u128::from(count) * 1_000 * HOUR_NS).div_ceil(u128::from(thousandths_per_hour));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
