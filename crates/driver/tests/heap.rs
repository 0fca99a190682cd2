//! Memory of a process after large allocations were freed. Alone in its process, since the setting is process-wide.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

#[macro_use]
extern crate claims;

const LARGE_BYTES: usize = 600 * 1024;
const COUNT: usize = 64;

/// Resident memory of this process in bytes.
fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("this process");
    let pages: usize = text.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number of pages");
    pages * 4_096
}

/// Many large allocations, with a small one kept after each: only the small ones remain when the large are freed.
#[test]
fn large_memory_goes_back_though_small_memory_stays() {
    driver::give_large_memory_back();
    // Freeing the first large allocation is what would change the allocator's threshold.
    drop(vec![1_u8; LARGE_BYTES]);
    let before = resident_bytes();
    let mut stays = Vec::new();
    for round in 0..5 {
        let large: Vec<Vec<u8>> = (0..COUNT)
            .map(|_| {
                let one = vec![1_u8; LARGE_BYTES + round * 16 * 1024];
                stays.push(vec![2_u8; 700]);
                one
            })
            .collect();
        assert!(resident_bytes() >= before + COUNT * LARGE_BYTES / 2, "it is used");
        drop(large);
        let grown = resident_bytes().saturating_sub(before);
        assert!(grown < COUNT * LARGE_BYTES / 10, "{grown} bytes in round {round}");
    }
    assert_eq!(stays.iter().map(Vec::len).sum::<usize>(), 5 * COUNT * 700);
}
