//! A row, and its columns.

use std::ops::Index;
use std::sync::Arc;

use plan::Value;

/// A row: its values, in the order of the columns. A clone shares them.
#[derive(Clone, Debug, PartialEq)]
pub struct Row(Arc<[Value]>);

impl Row {
    /// Moves the values out of `cells`.
    pub(crate) fn new(cells: &mut Vec<Value>) -> Self {
        Self(cells.drain(..).collect())
    }

    /// All values.
    pub fn values(&self) -> &[Value] {
        &self.0
    }

    /// A copy of the values in memory of their own.
    pub(crate) fn copied(&self) -> Self {
        Self(self.0.iter().cloned().collect())
    }
}

/// Panics for a column of another file.
impl Index<Column> for Row {
    type Output = Value;

    fn index(&self, column: Column) -> &Value {
        &self.0[column.0]
    }
}

/// Approximate memory of a row with these values: the row itself, and the allocator's overhead per piece.
pub(crate) fn row_bytes(cells: &[Value]) -> usize {
    const PIECE: usize = 16;
    let texts = cells.iter().map(Value::heap_bytes).filter(|bytes| *bytes > 0);
    size_of::<Row>() + 2 * PIECE + size_of_val(cells) + texts.map(|bytes| bytes + PIECE).sum::<usize>()
}

/// A column, looked up once by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column(pub(crate) usize);
