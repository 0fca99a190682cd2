//! The cells of a sweep: all combinations of the varied values, several times, in random order.

use pacing::Random;

/// The most runs of a sweep, repetitions included.
pub const CELLS_MAX: usize = 1_000;
/// The most repetitions of a cell.
pub const REPEAT_MAX: u64 = 100;

/// A varied flag or variable, and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vary {
    /// A flag, or a variable of a file.
    pub name: String,
    /// At least one value, without duplicates.
    pub values: Vec<String>,
}

/// Why a grid is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// There is no name, or no value.
    #[error("'{text}' varies nothing; write a flag and its values, like connections=10,100,1000")]
    NoValues {
        /// The text as given.
        text: String,
    },
    /// A duplicate value.
    #[error("'{name}' has the value '{value}' twice; give it once, and --repeat for several runs of each")]
    Twice {
        /// The name.
        name: String,
        /// The value.
        value: String,
    },
    /// A duplicate name.
    #[error("'{name}' is varied twice; give all its values in one --vary")]
    Again {
        /// The name.
        name: String,
    },
    /// Nothing is varied.
    #[error("nothing is varied; say what with --vary, like --vary connections=10,100,1000")]
    Nothing,
    /// There are too many cells.
    #[error("{cells} runs are more than {CELLS_MAX}; give fewer values, or a smaller --repeat")]
    TooMany {
        /// The number of cells.
        cells: usize,
    },
}

impl Vary {
    /// Parses `connections=10,100,1000`. A comma within a value has a backslash before it.
    ///
    /// # Errors
    /// There is no name, or no value, or a duplicate.
    pub fn parse(text: &str) -> Result<Self, GridError> {
        let none = || GridError::NoValues { text: text.to_owned() };
        let (name, list) = text.split_once('=').ok_or_else(none)?;
        let (name, mut values) = (name.trim().trim_start_matches('-'), vec![String::new()]);
        let mut signs = list.chars();
        while let Some(sign) = signs.next() {
            let last = values.last_mut().expect("there is one");
            match sign {
                '\\' => last.extend(signs.next()),
                ',' | '，' => values.push(String::new()),
                other => last.push(other),
            }
        }
        let values: Vec<String> = values.iter().map(|value| value.trim().to_owned()).collect();
        if name.is_empty() || values.iter().any(String::is_empty) {
            return Err(none());
        }
        let twice = values.iter().enumerate().find(|(at, value)| values[..*at].contains(value));
        if let Some((_, value)) = twice {
            return Err(GridError::Twice { name: name.to_owned(), value: value.clone() });
        }
        Ok(Self { name: name.to_owned(), values })
    }
}

/// A run of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its index among the cells; the last name changes first.
    pub place: usize,
    /// The values, in the order of the names.
    pub values: Vec<String>,
    /// The number of the repetition; the first is 1.
    pub round: u64,
}

/// All that is varied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// In the given order.
    pub vary: Vec<Vary>,
    /// The number of repetitions of each cell.
    pub repeat: u64,
}

impl Grid {
    /// A grid.
    ///
    /// # Errors
    /// Nothing is varied, there is a duplicate name, or there are too many cells.
    pub fn new(vary: Vec<Vary>, repeat: u64) -> Result<Self, GridError> {
        if vary.is_empty() {
            return Err(GridError::Nothing);
        }
        let again = vary.iter().enumerate().find(|(at, one)| vary[..*at].iter().any(|other| other.name == one.name));
        if let Some((_, one)) = again {
            return Err(GridError::Again { name: one.name.clone() });
        }
        let cells = vary.iter().map(|one| one.values.len()).fold(repeat as usize, usize::saturating_mul);
        if cells > CELLS_MAX {
            return Err(GridError::TooMany { cells });
        }
        Ok(Self { vary, repeat })
    }

    /// The number of cells.
    pub fn cells(&self) -> usize {
        self.vary.iter().map(|one| one.values.len()).product()
    }

    /// The values of a cell.
    pub fn values(&self, place: usize) -> Vec<String> {
        let mut rest = place;
        let mut values: Vec<String> = Vec::new();
        for one in self.vary.iter().rev() {
            values.push(one.values[rest % one.values.len()].clone());
            rest /= one.values.len();
        }
        values.reverse();
        values
    }

    /// All runs: every cell once in random order, then every cell again in another. So a target that changes over time
    /// affects all cells alike.
    pub fn order(&self, seed: u64) -> Vec<Cell> {
        let mut random = Random::new(seed);
        let mut all = Vec::new();
        for round in 1..=self.repeat {
            let mut places: Vec<usize> = (0..self.cells()).collect();
            for at in (1..places.len()).rev() {
                places.swap(at, random.below(at as u64 + 1) as usize);
            }
            all.extend(places.into_iter().map(|place| Cell { place, values: self.values(place), round }));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vary(text: &str) -> Vary {
        Vary::parse(text).expect("it varies")
    }

    #[test]
    fn what_varies_is_read() {
        let one = |name: &str, values: &[&str]| Vary {
            name: name.to_owned(),
            values: values.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(vary("connections=10, 100"), one("connections", &["10", "100"]));
        assert_eq!(vary("--header=a: 1\\,2,b: 3"), one("header", &["a: 1,2", "b: 3"]));
        assert_eq!(vary("url=/a?x=1,/b"), one("url", &["/a?x=1", "/b"]));
        for text in ["", "connections", "=1", "connections=", "connections=1,,2", "connections=1,"] {
            assert_eq!(Vary::parse(text), Err(GridError::NoValues { text: text.to_owned() }));
        }
        assert!(matches!(Vary::parse("threads=1,2,1"), Err(GridError::Twice { .. })));
    }

    #[test]
    fn each_cell_comes_once_a_round() {
        let grid = Grid::new(vec![vary("a=1,2,3"), vary("b=x,y")], 4).expect("a grid");
        let order = grid.order(7);
        assert_eq!((grid.cells(), order.len()), (6, 24));
        for round in 1..=4 {
            let mut places: Vec<usize> =
                order.iter().filter(|cell| cell.round == round).map(|cell| cell.place).collect();
            places.sort_unstable();
            assert_eq!(places, [0, 1, 2, 3, 4, 5]);
        }
        assert_eq!(grid.values(0), ["1", "x"]);
        assert_eq!(grid.values(5), ["3", "y"]);
        assert_ne!(order, grid.order(8), "another order");
        assert_eq!(order, grid.order(7));
    }

    #[test]
    fn what_is_no_grid_is_refused() {
        assert_eq!(Grid::new(Vec::new(), 1), Err(GridError::Nothing));
        assert!(matches!(Grid::new(vec![vary("a=1"), vary("a=2")], 1), Err(GridError::Again { .. })));
        assert_eq!(Grid::new(vec![vary("a=1,2,3,4")], 251), Err(GridError::TooMany { cells: 1_004 }));
    }
}
