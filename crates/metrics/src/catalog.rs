//! Which series a run has: what each of them is, its name, and whose it is.
//!
//! A scenario's whole is a [`Snapshot`](crate::Snapshot) of its own. Its steps, transactions and custom values are series in it. They
//! are numbered over all scenarios of the run, so that snapshots of scenarios merge without mixing them.

/// Series of one kind that a run has; what is behind them shares the last.
pub const SERIES_MAX: u32 = 64;

/// What a series is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SeriesKind {
    /// The exchanges of a step.
    Step,
    /// Several exchanges that are timed as one.
    Transaction,
    /// Values that a script measures.
    Custom,
}

impl SeriesKind {
    /// All of them, in the order of their series.
    pub const ALL: [Self; 3] = [Self::Step, Self::Transaction, Self::Custom];

    /// A stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Transaction => "transaction",
            Self::Custom => "custom",
        }
    }
}

/// A series of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesId(u16);

impl SeriesId {
    /// How many there can be.
    pub(crate) const COUNT: usize = SeriesKind::ALL.len() * SERIES_MAX as usize;

    /// The series of a kind with this number, counted over all scenarios; those behind the last share it.
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

    /// All of a kind that a run can have.
    pub fn all(kind: SeriesKind) -> impl Iterator<Item = Self> {
        (0..SERIES_MAX).map(move |place| Self::new(kind, place))
    }

    /// What it is.
    pub fn kind(self) -> SeriesKind {
        SeriesKind::ALL[self.index() / SERIES_MAX as usize]
    }

    /// Its place among those of its kind, below [`SERIES_MAX`].
    pub fn place(self) -> u32 {
        u32::from(self.0) % SERIES_MAX
    }

    /// Its place among all.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// The series at a place among all; `None` behind the last.
    pub(crate) fn of_index(index: usize) -> Option<Self> {
        (index < Self::COUNT).then_some(Self(index as u16))
    }
}

/// A series as one scenario knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Where it is recorded.
    pub id: SeriesId,
    /// Its name; that of the first, where several share it.
    pub name: String,
    /// The unit of its values; nothing where they are times.
    pub unit: String,
    /// Others of the scenario that are recorded here too, because no series was left for them.
    pub shared_by: u32,
}

/// All series of a run. It is made before the run, and nothing is added while it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    scenarios: Vec<OfScenario>,
    /// How many of each kind were added, over all scenarios.
    added: [u32; SeriesKind::ALL.len()],
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct OfScenario {
    name: String,
    /// What the first of each kind is among those of all scenarios.
    first: [u32; SeriesKind::ALL.len()],
    series: Vec<Series>,
    /// The name of each that was added, and where it is recorded.
    names: Vec<(String, SeriesId)>,
}

/// What a name means in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// All of this scenario.
    Scenario(usize),
    /// Each step, or else each transaction, that is called so, in whichever scenario.
    Series {
        /// What they are.
        kind: SeriesKind,
        /// Where they are recorded, by scenario; each place once.
        places: Vec<(usize, SeriesId)>,
        /// Nothing of another name is recorded there.
        has_own: bool,
    },
}

impl Catalog {
    /// The series of scenarios: of each its name, its steps and its transactions.
    pub fn of_scenarios<'a, S, T>(scenarios: impl Iterator<Item = (&'a str, S, T)>) -> Self
    where
        S: Iterator<Item = &'a str>,
        T: Iterator<Item = &'a str>,
    {
        let mut catalog = Self::default();
        for (name, steps, transactions) in scenarios {
            catalog.add_scenario(name);
            steps.for_each(|step| _ = catalog.add(SeriesKind::Step, step));
            transactions.for_each(|transaction| _ = catalog.add(SeriesKind::Transaction, transaction));
        }
        catalog
    }

    /// All names in their order: of each scenario its own, those of its transactions and those of its steps.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.scenarios.iter().flat_map(|scenario| {
            let of = |kind| scenario.names.iter().filter(move |(_, id)| id.kind() == kind).map(|(name, _)| &**name);
            let series = of(SeriesKind::Transaction).chain(of(SeriesKind::Step));
            std::iter::once(&*scenario.name).chain(series)
        })
    }

    /// What is called so: a scenario before transactions, these before steps.
    pub fn named(&self, name: &str) -> Option<Named> {
        if let Some(scenario) = self.scenarios.iter().position(|scenario| scenario.name == name) {
            return Some(Named::Scenario(scenario));
        }
        [SeriesKind::Transaction, SeriesKind::Step].into_iter().find_map(|kind| self.series_named(kind, name))
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

    /// A further scenario. What is added next is its own.
    pub fn add_scenario(&mut self, name: &str) {
        self.scenarios.push(OfScenario {
            name: name.to_owned(),
            first: self.added,
            series: Vec::new(),
            names: Vec::new(),
        });
    }

    /// A further series of times of the last scenario.
    ///
    /// # Panics
    /// When there is no scenario yet.
    pub fn add(&mut self, kind: SeriesKind, name: &str) -> SeriesId {
        self.add_with_unit(kind, name, "")
    }

    /// A further series of values of a unit.
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

    /// How many scenarios there are.
    pub fn scenarios(&self) -> usize {
        self.scenarios.len()
    }

    /// The name of a scenario.
    pub fn name(&self, scenario: usize) -> Option<&str> {
        Some(&*self.scenarios.get(scenario)?.name)
    }

    /// What the first of a kind of a scenario is among those of all scenarios.
    ///
    /// # Panics
    /// When there is no such scenario.
    pub fn first(&self, scenario: usize, kind: SeriesKind) -> u32 {
        self.scenarios[scenario].first[kind as usize]
    }

    /// The series of a kind that a scenario records into, in their order.
    pub fn of(&self, scenario: usize, kind: SeriesKind) -> impl Iterator<Item = &Series> {
        let all = self.scenarios.get(scenario).into_iter().flat_map(|scenario| &scenario.series);
        all.filter(move |series| series.id.kind() == kind)
    }
}

#[cfg(test)]
mod tests;
