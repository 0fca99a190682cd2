//! Options as rows: a field of a struct, its type, and the flag whose value it is.

/// The values of flags as typed, by the names of the flags.
pub trait FlagSource {
    /// The value of a flag.
    fn text(&self, flag: &str) -> Option<String>;
    /// The values of a flag that may be repeated.
    fn list(&self, flag: &str) -> Vec<String>;
    /// Whether a flag without a value is there.
    fn has(&self, flag: &str) -> bool;
}

/// An option, or a group of them.
pub trait FromFlag {
    /// The value of a flag; of a group, that of all its flags.
    fn from_flag(source: &impl FlagSource, flag: &str) -> Self;
}

impl FromFlag for Option<String> {
    fn from_flag(source: &impl FlagSource, flag: &str) -> Self {
        source.text(flag)
    }
}

impl FromFlag for String {
    fn from_flag(source: &impl FlagSource, flag: &str) -> Self {
        source.text(flag).unwrap_or_default()
    }
}

impl FromFlag for Vec<String> {
    fn from_flag(source: &impl FlagSource, flag: &str) -> Self {
        source.list(flag)
    }
}

impl FromFlag for bool {
    fn from_flag(source: &impl FlagSource, flag: &str) -> Self {
        source.has(flag)
    }
}

impl<T: FromFlag> FromFlag for Box<T> {
    fn from_flag(source: &impl FlagSource, flag: &str) -> Self {
        Self::new(T::from_flag(source, flag))
    }
}

/// The words of a command: no flag has them.
impl FromFlag for Option<Vec<Vec<u8>>> {
    fn from_flag(_source: &impl FlagSource, _flag: &str) -> Self {
        None
    }
}

/// An option that one layer may leave to another.
pub(super) trait Layered: Clone + Default {
    fn is_given(&self) -> bool;

    fn over(&self, base: &Self) -> Self {
        if self.is_given() { self.clone() } else { base.clone() }
    }
}

impl<T: Clone> Layered for Option<T> {
    fn is_given(&self) -> bool {
        self.is_some()
    }
}

impl Layered for Vec<String> {
    fn is_given(&self) -> bool {
        !self.is_empty()
    }
}

impl Layered for String {
    fn is_given(&self) -> bool {
        !self.is_empty()
    }
}

impl Layered for bool {
    fn is_given(&self) -> bool {
        *self
    }
}

/// Makes a struct of options from its rows: field, type, and flag. A field without a flag is a group of options.
#[macro_export]
macro_rules! options {
    ($(#[$about:meta])* $vis:vis struct $name:ident {
        $($(#[$doc:meta])* $field:ident: $kind:ty $(= $flag:literal)?;)+
    }) => {
        $(#[$about])*
        $vis struct $name {
            $($(#[$doc])* $vis $field: $kind,)+
        }

        impl $crate::FromFlag for $name {
            fn from_flag(source: &impl $crate::FlagSource, _group: &str) -> Self {
                Self { $($field: $crate::FromFlag::from_flag(source, concat!($($flag)?)),)+ }
            }
        }
    };
}

/// The same, for options that are merged from several layers.
macro_rules! layered_options {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$doc:meta])* $field:ident: $kind:ty = $flag:literal;)+ }) => {
        $crate::options! {
            $(#[$about])*
            pub struct $name {
                $($(#[$doc])* $field: $kind = $flag;)+
            }
        }

        impl $name {
            /// These options, with those of `base` where these are not given.
            fn merged(&self, base: &Self) -> Self {
                Self { $($field: Layered::over(&self.$field, &base.$field),)+ }
            }

            /// The flags that are given, in the order of the rows.
            pub fn given(&self) -> Vec<&'static str> {
                let given = [$(Layered::is_given(&self.$field).then_some($flag),)+];
                given.into_iter().flatten().collect()
            }

            /// The options but for those whose flag is left out.
            #[must_use]
            pub fn without(&self, is_left_out: impl Fn(&str) -> bool) -> Self {
                Self { $($field: if is_left_out($flag) { Default::default() } else { self.$field.clone() },)+ }
            }
        }
    };
}

pub(super) use layered_options;
