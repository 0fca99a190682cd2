//! The elements of a list that an expression names: those in normal form are taken as they lie.

use plan::{JsonScan, Value};

use super::json::written;
use super::normal::NormalForm;
use super::operand::Stop;

/// The elements of a list, as they are in its normal form.
pub(super) fn items(json: &str) -> Result<Vec<Value>, Stop> {
    let mut scan = JsonScan::list(json).ok_or(Stop::Unsure)?;
    let mut form = NormalForm::new(json);
    let mut all = Vec::new();
    while let Some(at) = scan.next_at()? {
        all.push(match form.element_end(at) {
            Some(end) => {
                scan.pass(end);
                item(json.get(at..end).ok_or(Stop::Unsure)?)
            }
            None => Value::from_element(&written(scan.take()?, 1)?),
        });
    }
    Ok(all)
}

/// The value of an element in normal form.
fn item(json: &str) -> Value {
    match json.as_bytes() {
        [b'{' | b'[', ..] => Value::Json(json.into()),
        [b'"', .., b'"'] => match json.get(1..json.len() - 1) {
            // It has no escapes: those are in doubt, and written anew.
            Some(inside) => Value::text(inside),
            None => Value::from_element(json),
        },
        _ => json.parse().map_or_else(|_| Value::from_element(json), Value::Int),
    }
}

#[cfg(test)]
mod tests {
    use pacing::Random;

    use super::super::normal::{DEPTH_MAX, FIELDS_MAX, is_normal};
    use super::*;

    /// Lists of a long run, and the parts that ordinary runs play.
    const LISTS: u64 = 100_000;
    const PARTS: u64 = 25;

    const SCALARS: [&str; 34] = [
        "0",
        "-0",
        "7",
        "-12345",
        "01",
        "1.0",
        "9.5",
        "-0.25",
        "2.50",
        "1e3",
        "1.5E-7",
        "0.000001",
        "0.0000015",
        "0.00000015",
        "123456789012345",
        "1234567890123456",
        "123456789.012345",
        "9007199254740993",
        "12345678901234567890",
        "1e400",
        "true",
        "false",
        "null",
        "nul",
        "\"\"",
        "\"a\"",
        "\"a lamp on a table\"",
        "\"a\\n\"",
        "\"\\u0041\"",
        "\"\\ud800\"",
        "\"a\tb\"",
        "\"a \\\"b\\\"\"",
        "\"价格\"",
        "\"\u{7f}\u{2028}\"",
    ];
    const KEYS: [&str; 9] = ["a", "b", "price", "created_at", "created_by", "1", "__proto__", "a\\u0062", "价"];

    fn value(random: &mut Random, depth: u64) -> String {
        let one = |random: &mut Random, of: &[&str]| of[random.below(of.len() as u64) as usize].to_owned();
        // Most values are ordinary.
        let kind = if depth == 0 { 0 } else { random.below(4) };
        let space = if random.below(20) == 0 { " " } else { "" };
        let count = random.below(4);
        match kind {
            0 | 1 if random.below(8) == 0 => one(random, &SCALARS),
            0 | 1 => one(random, &["7", "9.5", "\"a lamp\"", "true", "null"]),
            2 => {
                let all: Vec<String> = (0..count).map(|_| value(random, depth - 1)).collect();
                format!("[{space}{}]", all.join(","))
            }
            _ => {
                let keys = if random.below(4) == 0 { &KEYS[..] } else { &KEYS[..5] };
                let mut field = |_| format!("\"{}\":{space}{}", one(random, keys), value(random, depth - 1));
                format!("{{{}}}", (0..count).map(&mut field).collect::<Vec<_>>().join(","))
            }
        }
    }

    /// What is taken as it lies is what would be written.
    #[test]
    fn elements_are_those_of_the_list_as_it_is_written() {
        let (mut normal, mut lists, mut doubts) = (0, 0, 0);
        let seeds = claims::seeds::for_this_run(LISTS, PARTS);
        for seed in &seeds {
            let mut random = Random::for_stream(*seed, 2);
            let all: Vec<String> = (0..random.below(4)).map(|_| value(&mut random, 3)).collect();
            let json = format!("[{}]", all.join(if random.below(4) == 0 { " , " } else { "," }));
            let expect = written(&json, 0).ok();
            if is_normal(&json) {
                normal += 1;
                assert_eq!(expect.as_deref(), Some(&*json), "seed {seed}");
            }
            let expect = expect.map(|text| Value::Json(text.into()).items().expect("a list"));
            let seen = items(&json).ok();
            assert_eq!(seen, expect, "seed {seed}: {json}");
            (lists, doubts) = (lists + u64::from(seen.is_some()), doubts + u64::from(seen.is_none()));
        }
        let count = seeds.len() as u64;
        assert!(
            normal * 4 > count && lists > normal && doubts * 20 > count,
            "of {count}: {normal} normal, {lists} lists, {doubts} in doubt"
        );
    }

    #[test]
    fn what_is_in_doubt_is_not_normal() {
        for json in [
            "[]",
            "{}",
            "[1,-2,0.5,\"a\",true,false,null]",
            "{\"a\":{\"a\":1,\"b\":[{}]},\"b\":\"价\"}",
            "[0.000001,123456789.012345,-0.5,999999999999999]",
        ] {
            assert!(is_normal(json), "{json}");
            assert_eq!(written(json, 0).as_deref(), Ok(json));
        }
        for json in [
            "",
            "[",
            "[1,]",
            "[,1]",
            "[1 ]",
            " []",
            "[]]",
            "[1.0]",
            "[1.]",
            "[.5]",
            "[-]",
            "[-0]",
            "[00]",
            "[1e3]",
            "[0.0000001]",
            "[1234567890123456]",
            "[tru]",
            "[\"a]",
            "[\"\\n\"]",
            "{\"a\":1,\"a\":2}",
            "{\"1\":1}",
            "{\"__proto__\":1}",
            "{\"\\u0061\":1}",
            "{\"a\" :1}",
            "{\"a\"}",
            "{a:1}",
        ] {
            assert!(!is_normal(json), "{json}");
        }
        let fields = |count: usize| {
            let all: Vec<String> = (0..count).map(|number| format!("\"k{number}\":1")).collect();
            format!("{{{}}}", all.join(","))
        };
        assert!(is_normal(&fields(FIELDS_MAX)) && !is_normal(&fields(FIELDS_MAX + 1)));
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(is_normal(&deep(DEPTH_MAX)) && !is_normal(&deep(100_000)));
        assert_eq!(items(&deep(100_000)), Err(Stop::Unsure));
    }
}
