//! The custom protocols of this program: for each a folder, and a name in `rooms!`. The crate
//! `protocol` describes what a protocol consists of.

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

#[cfg(test)]
mod tests {
    use plan::{Credential, FlagDialect, SecretValues, credential};

    use super::register;

    #[test]
    fn flags_of_secret_keys_hide_their_values() {
        register();
        for (word, found) in [
            ("--radius-secret", Some(Credential::Next)),
            ("--radius-secret=abc", Some(Credential::From(16))),
            ("--radius-password", Some(Credential::Next)),
            ("--radius-user", None),
            ("--radius-secrets", None),
            ("--dns-name", None),
            ("--http-secret", None),
        ] {
            assert_eq!(credential(word, FlagDialect::Onrush), found, "{word}");
        }
        let known = SecretValues::from_words(["sweep", "--radius-secret", "k:ey5", "--radius-password=-pw7"]);
        assert_eq!(known.hide("k:ey5 and -pw7 of k:ey"), "*** and *** of k:ey");
    }
}
