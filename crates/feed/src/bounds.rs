//! Limits of data files.

/// The longest row of a file, and the longest line.
pub const ROW_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The most columns of a file.
pub const COLUMNS_MAX: usize = 4_096;
