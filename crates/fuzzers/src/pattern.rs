use plan::{Pattern, TextContext};

/// Any text as a pattern with slots: it means the same when it is written again, and an error has a position in it.
pub fn pattern(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else { return };
    for context in [TextContext::Url, TextContext::Header, TextContext::Form, TextContext::Json, TextContext::Text] {
        match Pattern::parse(input, context) {
            Ok(pattern) => {
                assert!(pattern.slots().all(|slot| input[slot.at.clone()] == slot.text));
                let again = Pattern::parse(&pattern.to_string(), context).expect("its own text");
                assert_eq!(again.to_string(), pattern.to_string());
                let of = |pattern: &Pattern| {
                    pattern.slots().map(|slot| (slot.filling.clone(), slot.place)).collect::<Vec<_>>()
                };
                assert_eq!(of(&again), of(&pattern));
            }
            Err(error) => {
                assert!(input.get(error.at.clone()).is_some());
                assert!(!error.to_string().is_empty());
            }
        }
    }
}
