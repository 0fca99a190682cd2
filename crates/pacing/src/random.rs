//! A small seeded generator, so that the same seed gives the same numbers in every version of the program.

/// SplitMix64: one addition and one mix for each number.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator whose numbers are a function of the seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One of many generators of a seed, independent of the others.
    pub fn for_stream(seed: u64, stream: u64) -> Self {
        let mut mixer = Self(seed);
        let offset = mixer.next_u64();
        let mut mixer = Self(offset ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93));
        Self(mixer.next_u64())
    }

    /// A number from 0, inclusive, to 1, exclusive, in 2^53 steps.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 when the bound is 0. The bias is below `bound` / 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `least` to `most`, both inclusive.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below((most - least).saturating_add(1))
    }

    /// True with a probability of `per_million` in a million.
    pub fn chance(&mut self, per_million: u32) -> bool {
        self.below(1_000_000) < u64::from(per_million)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_its_authors_published() {
        // The first outputs for the seed 1234567.
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn bounds_hold() {
        let mut random = Random::new(7);
        assert_eq!(random.below(0), 0);
        assert!((0..1_000).all(|_| (3..=5).contains(&random.between(3, 5))));
        let hits = (0..100_000).filter(|_| random.chance(250_000)).count();
        assert!((24_000..26_000).contains(&hits), "{hits} of 100,000 at a quarter");
        assert!((0..1_000).all(|_| !random.chance(0)));
        assert!((0..1_000).all(|_| random.chance(1_000_000)));
    }
}
