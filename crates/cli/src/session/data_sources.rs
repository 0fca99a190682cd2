//! The data sources of scenarios: feeds and script evaluators.

use engine::DataSources;

/// All sources of this build. A plan that needs more is refused before it begins.
pub(crate) fn supplies() -> DataSources {
    DataSources {
        #[cfg(feature = "script")]
        interpreters: Some(std::sync::Arc::new(script::JavaScript)),
        ..DataSources::default()
    }
}
