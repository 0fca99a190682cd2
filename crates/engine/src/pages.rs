//! Values at small indices that others choose, like those of sockets. Memory grows page by page: a vector that doubles
//! leaves its halves behind, and a million values would pay for two.

/// Values of a page.
const PAGE: usize = 512;

/// A paged vector; see the module.
#[derive(Debug)]
pub struct Pages<T>(Vec<Box<[Option<T>]>>);

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Pages<T> {
    /// The entry of an index, with or without a value.
    #[inline]
    pub fn place(&mut self, index: u32) -> Option<&mut Option<T>> {
        self.0.get_mut(index as usize / PAGE)?.get_mut(index as usize % PAGE)
    }

    /// Stores a value at an index.
    pub fn put(&mut self, index: u32, value: T) {
        let page = index as usize / PAGE;
        while self.0.len() <= page {
            self.0.push(std::iter::repeat_with(|| None).take(PAGE).collect());
        }
        self.0[page][index as usize % PAGE] = Some(value);
    }

    /// All values, in order of their indices.
    pub fn iter(&self) -> impl Iterator<Item = &T> + '_ {
        self.0.iter().flat_map(|page| page.iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_where_they_were_put() {
        let mut pages = Pages::default();
        for index in [0, 511, 512, 5_000] {
            pages.put(index, index);
        }
        assert_eq!(pages.iter().copied().collect::<Vec<u32>>(), [0, 511, 512, 5_000]);
        assert_eq!(pages.place(512).and_then(Option::take), Some(512));
        assert_eq!(pages.place(512), Some(&mut None));
        assert_eq!(pages.place(513), Some(&mut None));
        assert_eq!(pages.place(1_000_000), None);
    }
}
