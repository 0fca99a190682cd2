use std::sync::OnceLock;

use plan::{Flags, PlanError, Schema};

/// Any text after -d: a call or an error with a position, and no panic.
pub fn grpc_json(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    // A value with this prefix names a file.
    if text.starts_with('@') {
        return;
    }
    for method in ["Show", "ShowAll", "Only"] {
        let flags = Flags {
            url: Some(format!("grpc://a:1/zoo.Mirror/{method}")),
            data: Some(text.to_owned()),
            ..Flags::default()
        };
        match flags.plan_with(Some(schema())) {
            Ok(plan) => assert!(plan.scenarios[0].steps[0].call.is_some()),
            Err(PlanError::Json { line, column, .. }) => {
                let lines = text.split('\n').count();
                assert!(line >= 1 && line <= lines && column <= text.len() + 1, "{line}:{column} of {lines} lines");
            }
            Err(PlanError::OneMessage { .. } | PlanError::DataIsTime { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
}

fn schema() -> &'static Schema {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/peers/grpc/proto/zoo.proto");
        Schema::from_protos(&[file.to_owned()], &[]).expect("a good file")
    })
}
