//! Fictional names, mail addresses and telephone numbers.

use super::Scope;

const FIRST: [&str; 24] = [
    "Ada", "Ben", "Chen", "Dora", "Emil", "Fang", "Gita", "Hugo", "Ines", "Jun", "Karl", "Lina", "Mei", "Nora", "Omar",
    "Petra", "Qing", "Rosa", "Sven", "Tara", "Uma", "Vera", "Wei", "Yara",
];
const LAST: [&str; 24] = [
    "Alder", "Birch", "Cedar", "Dale", "Elm", "Field", "Grove", "Hill", "Isle", "Juniper", "Knoll", "Lake", "Marsh",
    "North", "Oak", "Pine", "Quarry", "Ridge", "Stone", "Thorn", "Upland", "Vale", "Wood", "Yew",
];

fn pick<'a>(all: &[&'a str], scope: &mut impl Scope) -> &'a str {
    all[scope.draw(all.len() as u64) as usize % all.len()]
}

/// A first and a last name.
pub(super) fn name(scope: &mut impl Scope) -> String {
    let first = pick(&FIRST, scope);
    format!("{first} {}", pick(&LAST, scope))
}

/// A mail address at a domain that is reserved for examples (RFC 2606).
pub(super) fn email(scope: &mut impl Scope) -> String {
    let (first, last) = (pick(&FIRST, scope), pick(&LAST, scope));
    let number = scope.draw(1_000_000);
    format!("{}.{}{number}@example.com", first.to_lowercase(), last.to_lowercase())
}

/// A telephone number of the range that North America reserves for fiction.
pub(super) fn phone(scope: &mut impl Scope) -> String {
    let (area, line) = (200 + scope.draw(800), scope.draw(100));
    format!("+1{area}55501{line:02}")
}
