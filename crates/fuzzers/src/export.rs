use export::{Export, KINDS};

/// Any words as an export: an existing kind with an address that can be shown, or an error. A password is in neither.
pub fn export(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else { return };
    match Export::parse(input) {
        Ok(export) => {
            assert!(KINDS.contains(&export.kind()) && !export.place().is_empty());
            assert_eq!(Export::parse(input).as_ref(), Ok(&export));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    for kind in ["otlp", "remote-write", "influx"] {
        let text = format!("{kind}=http://user:hunter2hunter2@127.0.0.1:1/?db={}", input.replace("hunter2", ""));
        let said = match Export::parse(&text) {
            Ok(export) => export.place(),
            Err(error) => error.to_string(),
        };
        assert!(!said.contains("hunter2"), "{said}");
    }
}
