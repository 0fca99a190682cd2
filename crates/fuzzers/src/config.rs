use plan::parse_config;

/// Any text as a configuration file: valid flag names, and values that mean the same when they are quoted; or an error
/// with an existing line.
pub fn config(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else { return };
    match parse_config(input) {
        Ok(settings) => {
            for setting in settings {
                assert!(setting.line >= 1 && setting.line <= input.lines().count());
                assert!(!setting.name.is_empty() && !setting.name.contains(['=', '_', ' ']));
                let quoted = |value: &String| {
                    let value =
                        value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\r', "\\r");
                    format!("\"{value}\"")
                };
                let values: Vec<String> = setting.values.iter().map(quoted).collect();
                let again =
                    parse_config(&format!("{} = [{}]", setting.name, values.join(", "))).expect("its own values");
                assert_eq!((&again[0].name, &again[0].values), (&setting.name, &setting.values));
            }
        }
        Err(error) => {
            assert!(error.line >= 1 && error.line <= input.lines().count());
            assert!(!error.to_string().is_empty());
        }
    }
}
