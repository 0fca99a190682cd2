//! What a scenario has of its own, over what the file has for all.

use std::borrow::Cow;
use std::time::Duration;

use plan::{Absent, Flags};

use super::{CarriedState, Defaults, Expect, File, Load, Name, Scenario, Step};
use crate::source::Span;

impl Scenario {
    /// One user who does these steps once.
    pub(crate) fn once(name: &str, steps: &[Step]) -> Self {
        Self {
            name: Name { text: name.to_owned(), at: Span::default() },
            load: Load::default(),
            begin: Duration::ZERO,
            every: None,
            connections: None,
            carried: CarriedState { is_all: true, ..CarriedState::default() },
            target: None,
            origins: None,
            vars: Vec::new(),
            defaults: None,
            network: Flags::default(),
            start: Vec::new(),
            steps: steps.to_vec(),
            stop: Vec::new(),
        }
    }

    /// Whether it has settings of its own.
    fn has_own(&self) -> bool {
        self.target.is_some() || self.origins.is_some() || !self.vars.is_empty() || self.defaults.is_some()
    }
}

impl File {
    /// The file as a scenario sees it: with the target, the variables and the defaults of that, and without scenarios.
    pub(crate) fn as_seen_by(&self, scenario: &Scenario) -> Cow<'_, Self> {
        if !scenario.has_own() {
            return Cow::Borrowed(self);
        }
        let is_own = |name: &str| scenario.vars.iter().any(|own| own.name.text == name);
        let usual = self.vars.iter().filter(|variable| !is_own(&variable.name.text));
        Cow::Owned(Self {
            name: self.name.clone(),
            target: scenario.target.clone().or_else(|| self.target.clone()),
            origins: scenario.origins.clone().unwrap_or_else(|| self.origins.clone()),
            vars: usual.chain(&scenario.vars).cloned().collect(),
            secrets: self.secrets.clone(),
            data: self.data.clone(),
            defaults: scenario.defaults.as_ref().map_or_else(|| self.defaults.clone(), |own| own.over(&self.defaults)),
            figures: self.figures.clone(),
            run: self.run.clone(),
            ..Self::default()
        })
    }
}

impl Defaults {
    /// Whether cookies are kept for each user, as browsers do.
    pub fn keeps_cookies(&self) -> bool {
        self.cookies.unwrap_or(true)
    }

    /// These over others: headers and settings by their names, and expectations one by one.
    pub(crate) fn over(&self, base: &Self) -> Self {
        let is_own = |name: &str| self.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let usual = base.headers.iter().filter(|(name, _)| !is_own(name));
        let typed = self.typed.over(&base.typed.without(|flag| self.off.contains(&flag)));
        Self {
            headers: usual.chain(&self.headers).cloned().collect(),
            cookies: self.cookies.or(base.cookies),
            expect: self.expect.over(&base.expect),
            on_failure: self.on_failure.clone().or_else(|| base.on_failure.clone()),
            max_redirs_at: self.max_redirs_at.or(base.max_redirs_at),
            flags: typed.draft().unwrap_or_default(),
            typed,
            off: Vec::new(),
        }
    }
}

impl Expect {
    /// The status of these or the others, and the checks of both.
    fn over(&self, base: &Self) -> Self {
        let own_or = |own: &[String], base: &[String]| if own.is_empty() { base.to_vec() } else { own.to_vec() };
        Self {
            status: self.status.clone().or_else(|| base.status.clone()),
            status_words: own_or(&self.status_words, &base.status_words),
            bodies: both(&self.bodies, &base.bodies),
            headers: both(&self.headers, &base.headers),
            json: both(&self.json, &base.json),
            time: both(&self.time, &base.time),
            size: both(&self.size, &base.size),
            absent: Absent {
                bodies: both(&self.absent.bodies, &base.absent.bodies),
                headers: both(&self.absent.headers, &base.absent.headers),
                json: both(&self.absent.json, &base.absent.json),
            },
            dynamic: both(&self.dynamic, &base.dynamic),
        }
    }
}

fn both<T: Clone>(own: &[T], base: &[T]) -> Vec<T> {
    base.iter().chain(own).cloned().collect()
}
