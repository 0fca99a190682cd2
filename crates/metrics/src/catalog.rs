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
}

impl Catalog {
    /// A further scenario. What is added next is its own.
    pub fn add_scenario(&mut self, name: &str) {
        self.scenarios.push(OfScenario { name: name.to_owned(), first: self.added, series: Vec::new() });
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
        let series = &mut self.scenarios.last_mut().expect("a series belongs to a scenario").series;
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
