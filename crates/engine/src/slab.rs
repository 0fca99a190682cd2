//! Storage with stable keys: an index that is reused, and a generation that distinguishes its owners.

/// The key of a value in a [`Slab`], valid while the value lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Position; the most recently freed is reused first, since it is warm.
    pub index: u32,
    generation: u32,
}

impl Key {
    /// The key as one number, for storage outside.
    pub fn to_bits(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    /// The key made by [`Key::to_bits`].
    pub fn from_bits(bits: u64) -> Self {
        Self { index: bits as u32, generation: (bits >> 32) as u32 }
    }
}

/// A slab: values with keys.
#[derive(Debug)]
pub struct Slab<T> {
    entries: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a value.
    pub fn insert(&mut self, value: T) -> Key {
        if let Some(index) = self.free.pop() {
            let (generation, place) = &mut self.entries[index as usize];
            *place = Some(value);
            return Key { index, generation: *generation };
        }
        let index = u32::try_from(self.entries.len()).expect("fewer than 2^32 values");
        self.entries.push((0, Some(value)));
        Key { index, generation: 0 }
    }

    /// The value of a key; `None` when it is gone.
    #[inline]
    pub fn find(&mut self, key: Key) -> Option<&mut T> {
        match self.entries.get_mut(key.index as usize) {
            Some((generation, value)) if *generation == key.generation => value.as_mut(),
            _ => None,
        }
    }

    /// The value at a position, and its key; `None` when there is none.
    pub fn at_index(&mut self, index: u32) -> Option<(Key, &mut T)> {
        let (generation, value) = self.entries.get_mut(index as usize)?;
        Some((Key { index, generation: *generation }, value.as_mut()?))
    }

    /// Removes a value; `None` when it is gone.
    pub fn remove(&mut self, key: Key) -> Option<T> {
        let (generation, place) = self.entries.get_mut(key.index as usize)?;
        if *generation != key.generation {
            return None;
        }
        let value = place.take()?;
        *generation = generation.wrapping_add(1);
        self.free.push(key.index);
        Some(value)
    }

    /// All values.
    pub fn values(&self) -> impl Iterator<Item = &T> + '_ {
        self.entries.iter().filter_map(|(_, value)| value.as_ref())
    }

    /// The keys of all values.
    pub fn keys(&self) -> impl Iterator<Item = Key> + '_ {
        self.entries
            .iter()
            .enumerate()
            .filter(|(_, (_, value))| value.is_some())
            .map(|(index, (generation, _))| Key { index: index as u32, generation: *generation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_finds_its_own_value_only() {
        let mut slab = Slab::default();
        let first = slab.insert("first");
        assert_eq!(slab.remove(first), Some("first"));
        let second = slab.insert("second");
        assert_eq!((first.index, slab.len()), (second.index, 1));
        assert_eq!(slab.find(first), None);
        assert_eq!(slab.remove(first), None);
        assert_eq!(slab.find(second), Some(&mut "second"));
        assert_eq!(slab.keys().collect::<Vec<_>>(), [second]);
    }
}
