//! The catalog of a run's series: their kinds, their names, and their scenarios.
//!
//! The totals of a scenario are a [`Snapshot`](crate::Snapshot) of its own. Its steps, transactions, checks and custom
//! values are series in it. They are numbered over all scenarios of the run, so that snapshots of scenarios merge without
//! mixing them.

/// The most series of one kind in a run; further ones share the last.
pub const SERIES_MAX: u32 = 64;

/// The kinds of series that a name can mean, in order of precedence.
const NAMED_KINDS: [SeriesKind; 3] = [SeriesKind::Transaction, SeriesKind::Step, SeriesKind::Check];

/// The kind of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SeriesKind {
    /// The exchanges of a step.
    Step,
    /// Several exchanges that are timed as one.
    Transaction,
    /// Values measured by a script.
    Custom,
    /// The evaluations of a condition that should be true: counts alone, without times.
    Check,
}

impl SeriesKind {
    /// All kinds, in the order of their series.
    pub const ALL: [Self; 4] = [Self::Step, Self::Transaction, Self::Custom, Self::Check];

    /// A stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Transaction => "transaction",
            Self::Custom => "custom",
            Self::Check => "check",
        }
    }
}

/// The identifier of a series of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesId(u16);

impl SeriesId {
    /// The number of all possible series.
    pub(crate) const COUNT: usize = SeriesKind::ALL.len() * SERIES_MAX as usize;

    /// The series of a kind with this number, counted over all scenarios; those after the last share it.
    pub const fn new(kind: SeriesKind, number: u32) -> Self {
        let place = if number < SERIES_MAX { number } else { SERIES_MAX - 1 };
        Self((kind as u32 * SERIES_MAX + place) as u16)
    }

    /// The series of a step.
    pub const fn step(number: u32) -> Self {
        Self::new(SeriesKind::Step, number)
    }

    /// The series of a transaction.
    pub const fn transaction(number: u32) -> Self {
        Self::new(SeriesKind::Transaction, number)
    }

    /// The series of a check.
    pub const fn check(number: u32) -> Self {
        Self::new(SeriesKind::Check, number)
    }

    /// All series of a kind that a run can have.
    pub fn all(kind: SeriesKind) -> impl Iterator<Item = Self> {
        (0..SERIES_MAX).map(move |place| Self::new(kind, place))
    }

    /// The kind of the series.
    pub fn kind(self) -> SeriesKind {
        SeriesKind::ALL[self.index() / SERIES_MAX as usize]
    }

    /// The index among the series of its kind, below [`SERIES_MAX`].
    pub fn place(self) -> u32 {
        u32::from(self.0) % SERIES_MAX
    }

    /// The index among all series.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// The series with an index among all; `None` after the last.
    pub(crate) fn from_index(index: usize) -> Option<Self> {
        (index < Self::COUNT).then_some(Self(index as u16))
    }
}

/// A series of one scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// The series that it is recorded into.
    pub id: SeriesId,
    /// Its name; that of the first, where several share it.
    pub name: String,
    /// The unit of its values; empty for times.
    pub unit: String,
    /// Further series of the scenario that are recorded here too, because no series was left for them.
    pub shared_by: u32,
}

/// All series of a run. The catalog is made before the run, and nothing is added while it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    scenarios: Vec<OfScenario>,
    /// The number of added series of each kind, over all scenarios.
    added: [u32; SeriesKind::ALL.len()],
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct OfScenario {
    name: String,
    /// The number of the first series of each kind, counted over all scenarios.
    first: [u32; SeriesKind::ALL.len()],
    series: Vec<Series>,
    /// The name of each added series, and the series that it is recorded into.
    names: Vec<(String, SeriesId)>,
    /// Tags of steps, with the series that each is recorded into.
    tags: Vec<(String, SeriesId)>,
}

/// The meaning of a name in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// All of this scenario.
    Scenario(usize),
    /// Each transaction, or else each step, or else each check, of this name, or else each step with this tag, in any
    /// scenario.
    Series {
        /// Their kind.
        kind: SeriesKind,
        /// Their series, by scenario; each once.
        places: Vec<(usize, SeriesId)>,
        /// Whether no other name is recorded there.
        has_own: bool,
    },
}

impl Catalog {
    /// The series of scenarios: for each its name, its steps, its transactions and its checks.
    pub fn from_scenarios<'a, S, T, C>(scenarios: impl Iterator<Item = (&'a str, S, T, C)>) -> Self
    where
        S: Iterator<Item = &'a str>,
        T: Iterator<Item = &'a str>,
        C: Iterator<Item = &'a str>,
    {
        let mut catalog = Self::default();
        for (name, steps, transactions, checks) in scenarios {
            catalog.add_scenario(name);
            steps.for_each(|step| _ = catalog.add(SeriesKind::Step, step));
            transactions.for_each(|transaction| _ = catalog.add(SeriesKind::Transaction, transaction));
            checks.for_each(|check| _ = catalog.add(SeriesKind::Check, check));
        }
        catalog
    }

    /// The same with tags of steps: for each the number of its scenario, that of the step in it, and the tag.
    #[must_use]
    pub fn with_tags<'a>(mut self, tags: impl Iterator<Item = (usize, usize, &'a str)>) -> Self {
        for (number, step, tag) in tags {
            let Some(scenario) = self.scenarios.get_mut(number) else { continue };
            let steps = scenario.names.iter().filter(|(_, id)| id.kind() == SeriesKind::Step);
            scenario.tags.extend(steps.map(|(_, id)| (tag.to_owned(), *id)).nth(step));
        }
        self
    }

    /// All names in order: for each scenario its own, those of its transactions, of its steps and of its checks.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.scenarios.iter().flat_map(|scenario| {
            let of = |kind| scenario.names.iter().filter(move |(_, id)| id.kind() == kind).map(|(name, _)| &**name);
            let series = NAMED_KINDS.into_iter().flat_map(of);
            std::iter::once(&*scenario.name).chain(series)
        })
    }

    /// The meaning of a name: a scenario before transactions, these before steps, these before checks, these before tags.
    pub fn named(&self, name: &str) -> Option<Named> {
        if let Some(scenario) = self.scenarios.iter().position(|scenario| scenario.name == name) {
            return Some(Named::Scenario(scenario));
        }
        NAMED_KINDS.into_iter().find_map(|kind| self.series_named(kind, name)).or_else(|| self.tagged(name))
    }

    /// All steps with a tag.
    fn tagged(&self, tag: &str) -> Option<Named> {
        let (mut places, mut has_own) = (Vec::new(), true);
        for (number, scenario) in self.scenarios.iter().enumerate() {
            for (_, id) in scenario.tags.iter().filter(|(known, _)| known == tag) {
                let count = |all: &[(String, SeriesId)], of_tag: bool| {
                    all.iter().filter(|(known, other)| other == id && (!of_tag || known == tag)).count()
                };
                has_own &= count(&scenario.tags, true) == count(&scenario.names, false);
                places.push((number, *id));
            }
        }
        places.dedup();
        (!places.is_empty()).then_some(Named::Series { kind: SeriesKind::Step, places, has_own })
    }

    fn series_named(&self, kind: SeriesKind, name: &str) -> Option<Named> {
        let all = self.scenarios.iter().enumerate();
        let all = all.flat_map(|(number, scenario)| scenario.names.iter().map(move |(name, id)| (number, name, *id)));
        let of_kind = || all.clone().filter(|(_, _, id)| id.kind() == kind);
        let mut places: Vec<_> =
            of_kind().filter(|(_, known, _)| *known == name).map(|(number, _, id)| (number, id)).collect();
        places.dedup();
        let has_own = of_kind().all(|(number, known, id)| known == name || !places.contains(&(number, id)));
        (!places.is_empty()).then_some(Named::Series { kind, places, has_own })
    }

    /// Adds a scenario. What is added next belongs to it.
    pub fn add_scenario(&mut self, name: &str) {
        self.scenarios.push(OfScenario {
            name: name.to_owned(),
            first: self.added,
            series: Vec::new(),
            names: Vec::new(),
            tags: Vec::new(),
        });
    }

    /// Adds a series of times to the last scenario.
    ///
    /// # Panics
    /// When there is no scenario yet.
    pub fn add(&mut self, kind: SeriesKind, name: &str) -> SeriesId {
        self.add_with_unit(kind, name, "")
    }

    /// Adds a series of values with a unit.
    ///
    /// # Panics
    /// When there is no scenario yet.
    pub fn add_with_unit(&mut self, kind: SeriesKind, name: &str, unit: &str) -> SeriesId {
        let number = &mut self.added[kind as usize];
        let id = SeriesId::new(kind, *number);
        *number += 1;
        let scenario = self.scenarios.last_mut().expect("a series belongs to a scenario");
        scenario.names.push((name.to_owned(), id));
        let series = &mut scenario.series;
        match series.iter_mut().rfind(|known| known.id == id) {
            Some(shared) => shared.shared_by += 1,
            None => series.push(Series { id, name: name.to_owned(), unit: unit.to_owned(), shared_by: 0 }),
        }
        id
    }

    /// The number of scenarios.
    pub fn scenarios(&self) -> usize {
        self.scenarios.len()
    }

    /// The name of a scenario.
    pub fn name(&self, scenario: usize) -> Option<&str> {
        Some(&*self.scenarios.get(scenario)?.name)
    }

    /// The number of a scenario's first series of a kind, counted over all scenarios.
    ///
    /// # Panics
    /// When there is no such scenario.
    pub fn first(&self, scenario: usize, kind: SeriesKind) -> u32 {
        self.scenarios[scenario].first[kind as usize]
    }

    /// The series of a kind that a scenario records into, in order.
    pub fn series(&self, scenario: usize, kind: SeriesKind) -> impl Iterator<Item = &Series> {
        let all = self.scenarios.get(scenario).into_iter().flat_map(|scenario| &scenario.series);
        all.filter(move |series| series.id.kind() == kind)
    }
}

#[cfg(test)]
mod tests;
