//! What users of scenarios read and reckon with.

use engine::Supplies;

/// Whatever this build has. A plan that wants more is refused before it begins.
pub(crate) fn supplies() -> Supplies {
    Supplies {
        #[cfg(feature = "script")]
        interpreters: Some(std::sync::Arc::new(script::JavaScript)),
        ..Supplies::default()
    }
}
