//! Names of variables for patterns of tests.

use plan::Names;

/// These variables, by their numbers, and nothing else.
pub(super) struct OnlyVariables(pub(super) &'static [&'static str]);

impl Names for OnlyVariables {
    fn variable(&mut self, name: &str) -> Option<u32> {
        self.0.iter().position(|known| *known == name).map(|number| number as u32)
    }

    fn column(&mut self, _: &str, _: &str) -> Option<u32> {
        None
    }

    fn environment(&mut self, _: &str) -> Option<String> {
        None
    }

    fn counter(&mut self, _: &str) -> u32 {
        0
    }

    fn expression(&mut self, _: &str) -> Option<u32> {
        None
    }
}
