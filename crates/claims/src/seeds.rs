//! The seeds of a simulated world that a test run plays. There are more than one run of the suite has time for, so each
//! commit plays a part of them, selected by its hash; the long suite plays all.

use std::env;

/// Environment variable with the part of this run, as any number. `cargo xtask test` derives it from the commit.
pub const PART_VARIABLE: &str = "XTASK_PART";
/// Environment variable that selects all seeds and inputs.
pub const LONG_VARIABLE: &str = "XTASK_LONG";
/// Environment variable with a count: the first seeds are played, as many as it says.
const COUNT_VARIABLE: &str = "ONRUSH_SEEDS";

/// Whether tests run in their longest variants.
pub fn is_long() -> bool {
    env::var_os(LONG_VARIABLE).is_some()
}

/// The seeds of this run, out of `0..pool` in `parts` parts.
pub fn for_this_run(pool: u64, parts: u64) -> Vec<u64> {
    let number = |name: &str| {
        let text = env::var(name).ok()?;
        Some(text.parse().unwrap_or_else(|_| panic!("{name} is a number, not {text:?}")))
    };
    if let Some(count) = number(COUNT_VARIABLE) {
        return (0..count).collect();
    }
    if is_long() {
        return (0..pool).collect();
    }
    part(pool, parts, number(PART_VARIABLE).unwrap_or_default())
}

fn part(pool: u64, parts: u64, part: u64) -> Vec<u64> {
    // Adjacent seeds differ in properties drawn by their number, so a part is a contiguous range and has some of each
    // kind.
    let which = part % parts;
    (pool * which / parts..pool * (which + 1) / parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_whole() {
        for parts in [7, 16] {
            let all: Vec<u64> = (0..parts).flat_map(|number| part(70, parts, number)).collect();
            assert_eq!(all, (0..70).collect::<Vec<_>>(), "{parts}");
        }
        assert_eq!(part(70, 7, 8), part(70, 7, 1));
    }
}
