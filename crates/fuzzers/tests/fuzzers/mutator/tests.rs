use super::*;

const REQUEST: &[u8] = b"GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\n";
const OTHER: &[u8] = b"PUT /b HTTP/1.0\r\nCookie: c=d\r\n\r\n";

fn text() -> Mutator {
    Mutator::new(vec![REQUEST.to_vec(), OTHER.to_vec()])
}

fn inputs(mutator: &Mutator, sequence: u64) -> Vec<Vec<u8>> {
    (0..5_000).map(|number| mutator.input(sequence, number)).collect()
}

#[test]
fn seeds_come_first_and_unchanged() {
    for sequence in [0, 1, u64::MAX] {
        assert_eq!(text().input(sequence, 0), REQUEST);
        assert_eq!(text().input(sequence, 1), OTHER);
    }
}

#[test]
fn an_input_depends_on_its_sequence_and_its_number_alone() {
    let all = inputs(&text(), 7);
    let again = text();
    for number in (0..5_000).rev() {
        assert_eq!(again.input(7, number), all[number]);
    }
    let same = inputs(&again, 8).iter().zip(&all).filter(|(one, other)| one == other).count();
    assert!(same < 100, "{same} of 5000 inputs of two sequences are alike");
    let different: BTreeSet<&Vec<u8>> = all.iter().collect();
    assert!(different.len() > 4_000, "only {} of 5000 inputs differ", different.len());
}

#[test]
fn inputs_have_a_bound() {
    let near = Mutator::new(vec![vec![0xff; INPUT_BYTES_MAX - 1]]);
    let longest = inputs(&near, 1).iter().map(Vec::len).max();
    assert_eq!(longest, Some(INPUT_BYTES_MAX));
    // A longer seed would otherwise be truncated to something that its parser rejects.
    let above = Mutator::new(vec![vec![0xff; INPUT_BYTES_MAX + 100]]);
    let longest = inputs(&above, 1).iter().map(Vec::len).max();
    assert_eq!(longest, Some(INPUT_BYTES_MAX + 100));
}

#[test]
fn what_begins_empty_grows() {
    let all = inputs(&Mutator::new(vec![Vec::new()]), 1);
    let grown = all.iter().filter(|input| !input.is_empty()).count();
    assert!(grown > 2_000, "{grown} of 5000");
}

#[test]
fn text_mostly_stays_text() {
    let count = |seeds: Vec<Vec<u8>>| {
        inputs(&Mutator::new(seeds), 1).iter().filter(|input| std::str::from_utf8(input).is_ok()).count()
    };
    let of_text = count(vec![REQUEST.to_vec(), "größe: 负载".as_bytes().to_vec()]);
    assert!((4_300..5_000).contains(&of_text), "{of_text} of 5000");
    let of_bytes = count(vec![REQUEST.to_vec(), vec![0xff; 20]]);
    assert!(of_bytes < 4_000, "{of_bytes} of 5000");
}

#[test]
fn integers_of_seven_bits_a_byte() {
    assert_eq!(varint(0), [0]);
    assert_eq!(varint(0x7f), [0x7f]);
    assert_eq!(varint(0x80), [0x80, 1]);
    assert_eq!(varint(300), [0xac, 2]);
    assert_eq!(varint(u64::MAX), [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
}

#[test]
fn each_kind_of_change_is_made() {
    type Look = fn(&[u8]) -> bool;
    fn count(input: &[u8], part: &[u8]) -> usize {
        input.windows(part.len()).filter(|window| *window == part).count()
    }
    fn bits_between(one: &[u8], other: &[u8]) -> u32 {
        one.iter().zip(other).map(|(one, other)| (one ^ other).count_ones()).sum()
    }
    let looks: [(&str, Look); 11] = [
        ("one bit", |input| input.len() == REQUEST.len() && bits_between(input, REQUEST) == 1),
        ("a byte that is no text", |input| input.contains(&0xff)),
        ("a block that is gone", |input| input.starts_with(b"GET") && input.len() < 30),
        ("a byte many times", |input| count(input, b"aaaaaaaaaaaaaaaa") > 0),
        ("an integer in bytes", |input| count(input, b"\xff\xff\xff\x7f") + count(input, b"\x7f\xff\xff\xff") > 0),
        ("an integer of seven bits a byte", |input| count(input, b"\xff\xff\xff\xff\x0f") > 0),
        ("an integer in digits", |input| count(input, b"Content-Length: 4294967295\r\n") > 0),
        ("a negative number", |input| count(input, b"Content-Length: -") > 0),
        ("a copy of a block", |input| count(input, b"Content-Length: 12\r\n") > 1),
        ("two seeds in one", |input| input.starts_with(b"GET /a") && input.ends_with(b"Cookie: c=d\r\n\r\n")),
        ("a word for another", |input| input.ends_with(&REQUEST[3..]) && input.starts_with(b"Cookie")),
    ];
    let all: Vec<Vec<u8>> = (1..=10).flat_map(|sequence| inputs(&text(), sequence).split_off(2)).collect();
    for (what, is_seen) in looks {
        assert!(all.iter().any(|input| is_seen(input)), "{what}: never");
    }
}
