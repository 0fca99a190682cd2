//! Marks: placeholders for slots while a step is made like one without slots.

use plan::{Pattern, PatternPart, Slot, SlotContext};

/// The suffix of marks. Letters and digits stay unchanged in URLs, headers and texts.
const BEHIND: &str = "q7z";

/// The prefix of marks for a file: one that no text of it contains.
pub(crate) fn beginning(is_used: impl Fn(&str) -> bool) -> String {
    (7u32..).map(|number| format!("zq{number}slot")).find(|text| !is_used(text)).unwrap_or_default()
}

/// Slots, by the numbers of their marks.
#[derive(Debug)]
pub(crate) struct Marks {
    before: String,
    slots: Vec<Slot>,
}

impl Marks {
    /// `before`: the result of [`beginning`].
    pub(crate) fn new(before: &str) -> Self {
        Self { before: before.to_owned(), slots: Vec::new() }
    }

    /// A text with its marks replaced by the source of the slots; `None` without marks.
    pub(crate) fn shown(&self, text: &str) -> Option<String> {
        self.pattern(text, |_| None).map(|pattern| pattern.to_string())
    }

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
        format!("{}{}{BEHIND}", self.before, self.slots.len() - 1)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The pattern of the result made from a marked text; `None` when it contains no mark. `place` may
    /// return another place for a slot.
    pub(crate) fn pattern(&self, text: &str, place: impl Fn(&Slot) -> Option<SlotContext>) -> Option<Pattern> {
        let (mut parts, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some(at) = rest.find(&self.before) {
            let behind = &rest[at + self.before.len()..];
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
                    plain.push_str(&rest[..at + self.before.len()]);
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
    use plan::TextContext;

    use super::*;

    #[test]
    fn what_is_marked_is_found_again() {
        for text in ["/a/${b}/c?d=${e}&f", "${a}", "${a}${b}", "plain", "zq7slot${a}q7zzq7slot1q7", ""] {
            let pattern = Pattern::parse(text, TextContext::Url).expect("a pattern");
            let mut marks = Marks::new(&beginning(|mark| text.contains(mark)));
            let marked = marks.text(&pattern);
            let again = marks.pattern(&marked, |_| None);
            let has_slots = !marks.is_empty();
            assert_eq!(marks.shown(&marked), has_slots.then(|| text.to_owned()), "{text}");
            assert_eq!(again, has_slots.then_some(pattern), "{text}");
        }
    }

    #[test]
    fn marks_are_no_text_of_the_file() {
        for (text, expect) in [("", "zq7slot"), ("a zq7slot0q7z b", "zq8slot"), ("zq7slot zq8slot", "zq9slot")] {
            assert_eq!(beginning(|mark| text.contains(mark)), expect, "{text}");
        }
    }
}
