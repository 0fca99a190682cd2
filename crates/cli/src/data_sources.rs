//! What users of scenarios read and reckon with.

use engine::DataSources;

/// Whatever this build has. A plan that wants more is refused before it begins.
pub(crate) fn supplies() -> DataSources {
    DataSources {
        #[cfg(feature = "script")]
        interpreters: Some(std::sync::Arc::new(script::JavaScript)),
        ..DataSources::default()
    }
}
