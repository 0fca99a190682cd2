//! The screen on a terminal that is none.
