//! One row for each failure: everything that is known of it by its kind alone.

/// The numbers of gRPC statuses that failures have.
pub(super) mod status {
    pub(in crate::outcome) const UNKNOWN: u8 = 2;
    pub(in crate::outcome) const DEADLINE_EXCEEDED: u8 = 4;
    pub(in crate::outcome) const RESOURCE_EXHAUSTED: u8 = 8;
    pub(in crate::outcome) const UNIMPLEMENTED: u8 = 12;
    pub(in crate::outcome) const INTERNAL: u8 = 13;
    pub(in crate::outcome) const UNAVAILABLE: u8 = 14;
}

/// How far an exchange had come when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nothing was sent.
    Connecting,
    /// No complete response had come, or none that can be used.
    Exchanging,
    /// The response was complete.
    Answered,
}

/// Makes an enum of faults from its rows: name of the variant, number, name in reports, status of a gRPC call.
///
/// Numbers are those of counters in encoded snapshots: they never change, and a new row takes a free one.
macro_rules! faults {
    ($(#[$about:meta])* $fault:ident; $($variant:ident = $number:literal, $name:literal, $status:ident;)+) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "each is named by `name`, and described where the protocol machine says it")]
        #[repr(u8)]
        pub enum $fault {
            $($variant = $number,)+
        }

        impl $fault {
            /// All faults, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// A stable name for reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The status of a gRPC call that ended with it.
            pub(super) fn grpc_status(self) -> u8 {
                match self {
                    $(Self::$variant => status::$status,)+
                }
            }

            /// The fault with this number.
            pub(super) fn from_number(number: usize) -> Option<Self> {
                Self::ALL.iter().copied().find(|fault| *fault as usize == number)
            }
        }
    };
}

/// Makes [`Failure`] from its rows. Plain ones: variant, number of the counter, name in reports, class, stage, and the
/// status of a gRPC call, if the call has no status of its own. Then those with a detail: variant, name, class, stage.
/// What is known of a registered one is in the table of `custom`.
///
/// Numbers are those of counters in encoded snapshots: they never change, and a new row takes a free one.
macro_rules! failures {
    (
        $(#[$about:meta])* $failure:ident;
        $($(#[doc = $doc:literal])+ $plain:ident = $number:literal, $name:literal, $class:ident, $stage:ident, $status:expr;)+
        detailed:
        $($(#[doc = $doc_of:literal])+ $family:ident($detail:ty), $name_of:literal, $class_of:ident, $stage_of:ident;)+
        registered:
        $(#[doc = $doc_own:literal])+ $own:ident($number_of:ty);
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $failure {
            $($(#[doc = $doc])+ $plain,)+
            $($(#[doc = $doc_of])+ $family($detail),)+
            $(#[doc = $doc_own])+ $own($number_of),
        }

        impl $failure {
            /// The plain failures, with the numbers of their counters.
            const PLAIN: &[(usize, Self)] = &[$(($number, Self::$plain),)+];

            /// A stable name for reports; [`Failure::detail`] adds the detail.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$plain => $name,)+
                    $(Self::$family(_) => $name_of,)+
                    Self::$own(number) => custom::row(number).name,
                }
            }

            /// How far the exchange had come.
            pub fn stage(self) -> Stage {
                match self {
                    $(Self::$plain => Stage::$stage,)+
                    $(Self::$family(_) => Stage::$stage_of,)+
                    Self::$own(number) => custom::row(number).stage,
                }
            }

            /// The class by its kind alone.
            fn class(self) -> Class {
                match self {
                    $(Self::$plain => Class::$class,)+
                    $(Self::$family(_) => Class::$class_of,)+
                    Self::$own(number) => custom::row(number).class,
                }
            }

            /// The number of the counter of a plain failure.
            fn plain_number(self) -> Option<usize> {
                match self {
                    $(Self::$plain => Some($number),)+
                    $(Self::$family(_) => None,)+
                    Self::$own(_) => None,
                }
            }

            /// The status of a gRPC call that ended with a plain failure.
            fn plain_status(self) -> Option<u8> {
                match self {
                    $(Self::$plain => $status,)+
                    $(Self::$family(_) => None,)+
                    Self::$own(_) => None,
                }
            }
        }
    };
}

pub(super) use {failures, faults};
