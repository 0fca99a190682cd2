use metrics::{Class, DECODED_BYTES_FIXED, DECODED_BYTES_PER_BYTE, Held, Measure, SNAPSHOT_VERSION, Snapshot};

/// Any bytes as a snapshot: either it is written as it was read, takes no more memory than its size justifies and
/// merges, or an error is reported.
pub fn snapshot(input: &[u8]) {
    held(input);
    whole(input);
}

/// The same for snapshots of held connections.
fn held(input: &[u8]) {
    if let Ok(seen) = Held::decode(input) {
        let mut bytes = Vec::new();
        seen.encode(&mut bytes);
        let mut now = input.to_vec();
        now[8] = SNAPSHOT_VERSION as u8;
        assert_eq!(bytes, now);
        let mut both = seen.clone();
        both.add_shard(&seen);
        assert_eq!(both.connect.count(), 2 * seen.connect.count());
    }
}

fn whole(input: &[u8]) {
    match Snapshot::decode(input) {
        Ok(seen) => {
            assert!(seen.series_bytes() <= DECODED_BYTES_FIXED + DECODED_BYTES_PER_BYTE * input.len());
            let mut bytes = Vec::new();
            seen.encode(&mut bytes);
            // A snapshot of an earlier version is written as one of this version: its number stands after the magic
            // bytes.
            let mut now = input.to_vec();
            now[8] = SNAPSHOT_VERSION as u8;
            assert_eq!(bytes, now);
            let mut both = seen.clone();
            both.merge(&seen);
            for class in Class::ALL {
                let (one, two) = (seen.class(class), both.class(class));
                for measure in Measure::ALL {
                    let (one, two) = (one.by_measure(measure), two.by_measure(measure));
                    assert_eq!((2 * one.count(), 2 * one.sum(), one.max()), (two.count(), two.sum(), two.max()));
                    assert_eq!(one.quantile(0.5), two.quantile(0.5));
                }
            }
            let mut merged = Snapshot::default();
            merged.merge(&seen);
            merged.clear();
            assert!(merged == Snapshot::default());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
