//! What can be typed, and where it comes from.

pub(crate) mod args;
pub(crate) mod fail_if;
pub(crate) mod flags;
pub(crate) mod foreign_args;
pub(crate) mod parse_addr;
pub(crate) mod usage;
