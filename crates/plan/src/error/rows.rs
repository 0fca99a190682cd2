//! Errors as rows: what happened, and its text in both languages.

/// Makes an error from its rows: variant, text in English, text in Chinese. Behind a text stand the values that are no
/// field. The English text is that of `Display`, the other one that of `chinese`.
#[macro_export]
macro_rules! errors {
    (
        $(#[$about:meta])* $vis:vis enum $name:ident;
        $(
            $(#[$doc:meta])* $variant:ident $(($($inner:ident: $of:ty),+))? $({ $($field:ident: $kind:ty),+ })?;
            $english:literal $([$($english_value:expr),+])?,
            $chinese:literal $([$($chinese_value:expr),+])?;
        )+
    ) => {
        $(#[$about])*
        $vis enum $name {
            $($(#[$doc])* $variant $(($($of),+))? $({ $($field: $kind),+ })?,)+
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Self::$variant $(($($inner),+))? $({ $($field),+ })? => {
                        $crate::unused!($($($inner)+)? $($($field)+)?);
                        write!(formatter, $english $(, $($english_value),+)?)
                    })+
                }
            }
        }

        impl std::error::Error for $name {}

        impl $name {
            /// The text in Chinese.
            pub fn chinese(&self) -> String {
                match self {
                    $(Self::$variant $(($($inner),+))? $({ $($field),+ })? => {
                        $crate::unused!($($($inner)+)? $($($field)+)?);
                        format!($chinese $(, $($chinese_value),+)?)
                    })+
                }
            }
        }
    };
}

/// Fields that a text may leave out.
#[doc(hidden)]
#[macro_export]
macro_rules! unused {
    ($($field:ident)*) => {
        $(let _: &_ = $field;)*
    };
}

/// Names in a Chinese sentence.
pub fn listed(names: &str) -> String {
    names.replace(", ", "、")
}
