//! Marks stand for slots while a step is made as one without slots would be.

use plan::{Pattern, PatternPart, Slot, SlotPlace};

/// Letters and digits stay what they are in URLs, headers and texts.
const BEFORE: &str = "zq7slot";
const BEHIND: &str = "q7z";

/// Slots, by the numbers of their marks.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    slots: Vec<Slot>,
}

impl Marks {
    /// A pattern as text, with a mark for each slot.
    pub(crate) fn text(&mut self, pattern: &Pattern) -> String {
        let mut out = String::new();
        for part in &pattern.parts {
            match part {
                PatternPart::Text(text) => out.push_str(text),
                PatternPart::Slot(slot) => out.push_str(&self.mark(slot)),
            }
        }
        out
    }

    /// The mark of a slot.
    pub(crate) fn mark(&mut self, slot: &Slot) -> String {
        self.slots.push(slot.clone());
        format!("{BEFORE}{}{BEHIND}", self.slots.len() - 1)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The pattern of what was made of a text; `None` when no mark is in it. A slot for which `place` says something stands there.
    pub(crate) fn pattern(&self, text: &str, place: impl Fn(&Slot) -> Option<SlotPlace>) -> Option<Pattern> {
        let (mut parts, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some(at) = rest.find(BEFORE) {
            let behind = &rest[at + BEFORE.len()..];
            let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
            let slot = behind[..digits].parse::<usize>().ok().and_then(|number| self.slots.get(number));
            match (slot, behind[digits..].strip_prefix(BEHIND)) {
                (Some(slot), Some(next)) => {
                    plain.push_str(&rest[..at]);
                    if !plain.is_empty() {
                        parts.push(PatternPart::Text(std::mem::take(&mut plain)));
                    }
                    let place = place(slot).unwrap_or(slot.place);
                    parts.push(PatternPart::Slot(Slot { place, ..slot.clone() }));
                    rest = next;
                }
                _ => {
                    plain.push_str(&rest[..at + BEFORE.len()]);
                    rest = behind;
                }
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(PatternPart::Text(plain));
        }
        let has_slots = parts.iter().any(|part| matches!(part, PatternPart::Slot(_)));
        has_slots.then_some(Pattern { parts })
    }
}

#[cfg(test)]
mod tests {
    use plan::Ground;

    use super::*;

    #[test]
    fn what_is_marked_is_found_again() {
        for text in ["/a/${b}/c?d=${e}&f", "${a}", "${a}${b}", "plain", "zq7slot${a}q7zzq7slot1q7", ""] {
            let pattern = Pattern::parse(text, Ground::Url).expect("a pattern");
            let mut marks = Marks::default();
            let marked = marks.text(&pattern);
            let again = marks.pattern(&marked, |_| None);
            let has_slots = !marks.is_empty();
            assert_eq!(again, has_slots.then_some(pattern), "{text}");
        }
    }
}
