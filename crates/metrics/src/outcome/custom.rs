//! Failures of custom protocols. A program registers them once, so each has a number in this process; snapshots and
//! reports contain their names.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::{CUSTOM_FIRST, Class, Failure, Stage};

/// The most custom protocols of a program.
const CUSTOM_PROTOCOLS_MAX: usize = 16;
/// The most failures of one custom protocol.
pub const CUSTOM_FAILURES_EACH: usize = 16;
/// The number of counters for them.
pub(super) const CUSTOM_COUNT: usize = CUSTOM_PROTOCOLS_MAX * CUSTOM_FAILURES_EACH;
/// The longest name of a failure, in bytes.
const NAME_BYTES_MAX: usize = 64;

static TABLE: OnceLock<Vec<Vec<CustomFailure>>> = OnceLock::new();

/// A failure of a custom protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomFailure {
    /// Its name in reports: lower-case letters, digits and `-`; no other failure has it.
    pub name: &'static str,
    /// Its class.
    pub class: Class,
    /// How far the exchange had come.
    pub stage: Stage,
}

/// What is known of a failure that nobody registered.
const UNKNOWN: CustomFailure =
    CustomFailure { name: "protocol", class: Class::FailedUnanswered, stage: Stage::Exchanging };

/// Registers the failures of each custom protocol of this program. The same table may be registered again.
///
/// # Panics
/// Another table is registered already; there are more than 16 protocols, or one has more than
/// [`CUSTOM_FAILURES_EACH`] failures; or a name is not valid, or taken.
pub fn register_failures(table: Vec<Vec<CustomFailure>>) {
    check(&table);
    let known = TABLE.get_or_init(|| table.clone());
    assert_eq!(*known, table, "the failures of custom protocols are registered once");
}

fn check(table: &[Vec<CustomFailure>]) {
    assert!(table.len() <= CUSTOM_PROTOCOLS_MAX, "at most {CUSTOM_PROTOCOLS_MAX} custom protocols");
    let mut names: BTreeSet<&str> = (0..CUSTOM_FIRST).filter_map(Failure::from_index).map(Failure::name).collect();
    for failures in table {
        assert!(failures.len() <= CUSTOM_FAILURES_EACH, "at most {CUSTOM_FAILURES_EACH} failures of a custom protocol");
        for CustomFailure { name, .. } in failures {
            assert!(is_custom_name(name), "the name of a failure has lower-case letters, digits and -: '{name}'");
            assert!(names.insert(name), "two failures have the name '{name}'");
        }
    }
}

/// Whether a failure of a custom protocol can have this name.
pub(crate) fn is_custom_name(name: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_valid)
}

/// The row of a number.
pub(super) fn registered(number: u8) -> Option<&'static CustomFailure> {
    let (protocol, own) = (usize::from(number) / CUSTOM_FAILURES_EACH, usize::from(number) % CUSTOM_FAILURES_EACH);
    TABLE.get()?.get(protocol)?.get(own)
}

/// The same; that of a number without a row says the least.
pub(super) fn row(number: u8) -> &'static CustomFailure {
    registered(number).unwrap_or(&UNKNOWN)
}

impl Failure {
    /// The failure of a custom protocol, by the position of the protocol and its own among those of the protocol;
    /// `None` where nothing is registered there.
    pub fn custom(protocol: u8, own: u8) -> Option<Self> {
        let number = usize::from(protocol) * CUSTOM_FAILURES_EACH + usize::from(own);
        let is_own = usize::from(own) < CUSTOM_FAILURES_EACH;
        let number = u8::try_from(number).ok().filter(|number| is_own && registered(*number).is_some())?;
        Some(Self::Custom(number))
    }

    /// The failure of a custom protocol with this name.
    pub(crate) fn custom_named(name: &str) -> Option<Self> {
        let named = |number: &u8| registered(*number).is_some_and(|row| row.name == name);
        (0..=u8::MAX).find(named).map(Self::Custom)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const fn row_of(name: &'static str, class: Class, stage: Stage) -> CustomFailure {
        CustomFailure { name, class, stage }
    }

    /// The protocols of all tests of this crate: the second one has no failures. In the order of the numbers, the names
    /// are not sorted.
    pub(crate) fn register() -> [Failure; 3] {
        register_failures(vec![
            vec![
                row_of("redis-reply", Class::FailedUnanswered, Stage::Exchanging),
                row_of("redis-login", Class::FailedAnswered, Stage::Connecting),
            ],
            vec![],
            vec![row_of("dns-silence", Class::TimedOut, Stage::Exchanging)],
        ]);
        [0, 1, 32].map(Failure::Custom)
    }

    #[test]
    fn a_failure_is_what_its_protocol_registered() {
        let [reply, login, silence] = register();
        assert_eq!(register(), [reply, login, silence], "the same table again");
        assert_eq!([reply, login, silence].map(Failure::name), ["redis-reply", "redis-login", "dns-silence"]);
        assert_eq!([reply, login, silence].map(Failure::detail), [None, None, None]);
        assert_eq!([reply, login, silence].map(Failure::grpc_status), [None, None, None]);
        assert_eq!((login.stage(), silence.stage()), (Stage::Connecting, Stage::Exchanging));
        let class = |failure| Class::from_outcome(crate::Outcome::Failed(failure));
        let classes = [Class::FailedUnanswered, Class::FailedAnswered, Class::TimedOut];
        assert_eq!([reply, login, silence].map(class), classes);
        assert_eq!(
            [(0, 0), (0, 1), (2, 0)].map(|(protocol, own)| Failure::custom(protocol, own)),
            [Some(reply), Some(login), Some(silence)]
        );
        for (protocol, own) in [(0, 2), (0, 32), (1, 0), (2, 1), (3, 0), (16, 0), (255, 255)] {
            assert_eq!(Failure::custom(protocol, own), None, "{protocol} {own}");
        }
        assert!([0, 1, 32].iter().all(|at| Failure::from_index(CUSTOM_FIRST + at) == Some(Failure::Custom(*at as u8))));
        assert!([2, 16, 33, 255].iter().all(|at| Failure::from_index(CUSTOM_FIRST + at).is_none()));
        assert_eq!(Failure::all().filter(|failure| matches!(failure, Failure::Custom(_))).count(), 3);
        assert_eq!((Failure::custom_named("redis-login"), Failure::custom_named("redis")), (Some(login), None));
    }

    #[test]
    #[should_panic(expected = "registered once")]
    fn another_table_is_refused() {
        register();
        register_failures(vec![vec![row_of("redis-reply", Class::FailedUnanswered, Stage::Exchanging)]]);
    }

    /// The refused tables, each with what is wrong.
    #[test]
    fn tables_that_break_a_bound_are_refused() {
        let name = |number: usize| -> &'static str { Box::leak(format!("own-{number}").into_boxed_str()) };
        let many = |first: usize, count: usize| {
            (first..first + count).map(|at| row_of(name(at), Class::TimedOut, Stage::Answered)).collect::<Vec<_>>()
        };
        let named = |name: &'static str| vec![vec![row_of(name, Class::TimedOut, Stage::Answered)]];
        let is_refused = |table: Vec<Vec<CustomFailure>>| std::panic::catch_unwind(move || check(&table)).is_err();
        let full: Vec<_> = (0..CUSTOM_PROTOCOLS_MAX).map(|at| many(at * 16, CUSTOM_FAILURES_EACH)).collect();
        assert!(!is_refused(full.clone()));
        assert!(is_refused([full, vec![vec![]]].concat()), "a protocol too many");
        assert!(is_refused(vec![many(0, CUSTOM_FAILURES_EACH + 1)]), "a failure too many");
        assert!(is_refused(vec![many(0, 2), many(1, 2)]), "the same name twice");
        for taken in ["timeout", "status", "websocket-close", "", "Redis", "redis_login", "redis login"] {
            assert!(is_refused(named(taken)), "'{taken}'");
        }
        assert!(is_refused(named(Box::leak("x".repeat(NAME_BYTES_MAX + 1).into_boxed_str()))), "a long name");
        assert!(!is_refused(named("redis-3")));
    }
}
