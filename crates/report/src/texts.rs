//! Texts as rows: what they are about, in English and in Chinese.

/// Makes a function of texts from its rows: a pattern, the text in English and the text in Chinese. An optional one has
/// none for other values.
#[macro_export]
macro_rules! texts {
    (
        $(#[$about:meta])* $vis:vis optional fn $name:ident($($argument:ident: $kind:ty),+) of $subject:expr;
        $($case:pat $(if $guard:expr)? => $english:literal, $chinese:literal;)+
    ) => {
        $(#[$about])*
        $vis fn $name($($argument: $kind),+) -> Option<(&'static str, &'static str)> {
            match $subject {
                $($case $(if $guard)? => Some(($english, $chinese)),)+
                _ => None,
            }
        }
    };
    (
        $(#[$about:meta])* $vis:vis fn $name:ident($($argument:ident: $kind:ty),+) of $subject:expr $(, else $others:expr)?;
        $($case:pat $(if $guard:expr)? => $english:literal, $chinese:literal;)+
    ) => {
        $(#[$about])*
        $vis fn $name($($argument: $kind),+) -> (&'static str, &'static str) {
            match $subject {
                $($case $(if $guard)? => ($english, $chinese),)+
                $(_ => $others,)?
            }
        }
    };
}
