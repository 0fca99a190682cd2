//! The output of forty loads in simulated networks, byte by byte: each view of each load has a digest in `views.tsv`.
//!
//! A change that is meant to change nothing leaves all digests as they are. `ONRUSH_FROZEN=FOLDER` writes each view
//! into the folder, to compare those of two commits, and the digests into `views.tsv`.

mod loads;
mod views;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use driver::sim::Faults;
use pacing::Nanos;

use loads::{KINDS, Load};
use views::Views;

/// Worlds in which each kind of load runs.
const WORLDS: u64 = 2;

/// A network with latency only, or one whose latency varies.
fn faults(world: u64) -> Faults {
    if world == 0 {
        return Faults::none();
    }
    Faults { latency_min: Nanos(20_000), latency_max: Nanos::from_millis(3), ..Faults::none() }
}

/// The digest of each view of each load.
fn digests(folder: Option<&Path>) -> BTreeMap<String, String> {
    let mut digests = BTreeMap::new();
    for (kind, number) in KINDS.iter().zip(0..) {
        for world in 0..WORLDS {
            let seed = number * WORLDS + world;
            let views = Views::new(&Load::new(kind), seed, faults(world));
            for (view, text) in views.texts() {
                let name = format!("{}-{world}.{view}", kind.name.replace(' ', "-"));
                if let Some(folder) = folder {
                    std::fs::write(folder.join(&name), &text).expect("a file");
                }
                let digest = hmac_sha256::Hash::hash(text.as_bytes());
                let digest = digest[..8].iter().fold(String::new(), |mut all, byte| {
                    write!(all, "{byte:02x}").expect("text grows");
                    all
                });
                digests.insert(name, format!("{digest}\t{}", text.len()));
            }
        }
    }
    digests
}

#[test]
fn all_views_are_as_they_were() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/loads/frozen/views.tsv");
    let folder = std::env::var_os("ONRUSH_FROZEN");
    let folder = folder.as_deref().map(Path::new);
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder).expect("a folder");
    }
    let digests = digests(folder);
    let text: String = digests.iter().map(|(name, digest)| format!("{name}\t{digest}\n")).collect();
    if folder.is_some() {
        std::fs::write(&kept, &text).expect("our own file");
    }
    let before = std::fs::read_to_string(&kept).unwrap_or_default();
    let before: Vec<&str> = before.lines().collect();
    let others: Vec<&str> = text.lines().filter(|line| !before.contains(line)).collect();
    let gone = before.iter().filter(|line| !text.lines().any(|now| now == **line)).count();
    assert!(
        others.is_empty() && gone == 0,
        "{} of {} views changed:\n{}\nONRUSH_FROZEN=FOLDER writes them, here and on the commit before",
        others.len(),
        digests.len(),
        others.join("\n")
    );
    assert_eq!(digests.len(), KINDS.len() * WORLDS as usize * views::NAMES.len());
}
