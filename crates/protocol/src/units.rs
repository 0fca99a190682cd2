//! Units of a known length out of a stream of bytes that may be cut anywhere.

use wire::connection::Fault;

/// Collects the bytes of a unit, such as a frame, that arrived in pieces. What arrives in one piece is not copied.
#[derive(Debug, Default)]
pub struct Units {
    begun: Vec<u8>,
}

impl Units {
    /// Takes the next unit from the input: the number of bytes that were taken, and the unit if it is complete.
    /// `length` says how long a unit is that begins with these bytes, once it is known. `lent` is working memory for a
    /// unit that came in pieces.
    ///
    /// # Errors
    /// That of `length`.
    pub fn next<'a>(
        &mut self,
        input: &'a [u8],
        lent: &'a mut Vec<u8>,
        length: impl FnOnce(&[u8]) -> Result<Option<usize>, Fault>,
    ) -> Result<(usize, Option<&'a [u8]>), Fault> {
        if input.is_empty() {
            return Ok((0, None));
        }
        if self.begun.is_empty() {
            if let Some(unit) = length(input)?.and_then(|length| input.get(..length)) {
                return Ok((unit.len(), Some(unit)));
            }
            self.begun.extend_from_slice(input);
            return Ok((input.len(), None));
        }
        let before = self.begun.len();
        self.begun.extend_from_slice(input);
        match length(&self.begun)?.filter(|length| *length <= self.begun.len()) {
            None => Ok((input.len(), None)),
            Some(length) => {
                self.begun.truncate(length);
                lent.clear();
                std::mem::swap(lent, &mut self.begun);
                Ok((length.saturating_sub(before), Some(lent)))
            }
        }
    }

    /// The bytes of a unit that is not complete.
    pub fn begun(&self) -> &[u8] {
        &self.begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A byte, and as many as it says.
    fn length(bytes: &[u8]) -> Result<Option<usize>, Fault> {
        match bytes.first() {
            Some(255) => Err(Fault::Custom(3)),
            first => Ok(first.map(|count| 1 + usize::from(*count))),
        }
    }

    fn units(pieces: &[&[u8]]) -> Result<(Vec<Vec<u8>>, Vec<u8>), Fault> {
        let (mut units, mut lent, mut found) = (Units::default(), Vec::new(), Vec::new());
        for piece in pieces {
            let mut from = 0;
            loop {
                let (taken, unit) = units.next(&piece[from..], &mut lent, length)?;
                from += taken;
                match unit {
                    Some(unit) => found.push(unit.to_vec()),
                    None => break,
                }
            }
            assert_eq!(from, piece.len());
        }
        Ok((found, units.begun().to_vec()))
    }

    #[test]
    fn units_are_the_same_however_the_bytes_are_cut() {
        let bytes = [2, 7, 7, 0, 1, 9, 3, 1, 2];
        let whole = units(&[&bytes]).expect("good bytes");
        assert_eq!(whole, (vec![vec![2, 7, 7], vec![0], vec![1, 9]], vec![3, 1, 2]));
        for cut in 0..=bytes.len() {
            assert_eq!(units(&[&bytes[..cut], &bytes[cut..]]).expect("good bytes"), whole, "cut at {cut}");
        }
        assert_eq!(units(&bytes.chunks(1).collect::<Vec<_>>()).expect("good bytes"), whole);
        assert_eq!(units(&[&[1, 1], &[255, 1]]), Err(Fault::Custom(3)));
    }
}
