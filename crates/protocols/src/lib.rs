//! The custom protocols of this program: for each a folder, and a name in `rooms!`. What such a protocol consists of
//! stands in the crate `protocol`.

#[cfg(test)]
#[macro_use]
extern crate claims;

// Not in the macro: rustfmt finds the files of modules only outside of macros.
mod dns;
mod radius;
mod redis;

/// Makes the table of all protocols, and its registration.
macro_rules! rooms {
    ($($room:ident),*) => {
        /// All protocols. New ones are added at the end.
        pub static ROOMS: &[&dyn protocol::Protocol] = &[$(&$room::PROTOCOL),*];

        /// Registers all protocols of this program; before anything else is done.
        pub fn register() {
            protocol::register(ROOMS);
        }
    };
}

rooms! { redis, dns, radius }
