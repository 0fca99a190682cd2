//! The bytes of a body. Large ones are in memory once, and all senders share them.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// From this size on all copies share the bytes. Smaller bodies are sent in one piece with their head.
pub const SHARED_BYTES_MIN: usize = 64 * 1024;

/// What a request carries.
#[derive(Clone, Debug)]
pub struct BodyBytes(Storage);

#[derive(Clone, Debug)]
enum Storage {
    Own(Vec<u8>),
    Shared(Arc<Vec<u8>>),
}

impl BodyBytes {
    /// The bytes that all copies share, of a large body.
    #[inline]
    pub fn shared(&self) -> Option<&Arc<Vec<u8>>> {
        match &self.0 {
            Storage::Own(_) => None,
            Storage::Shared(bytes) => Some(bytes),
        }
    }

    /// Room for other bytes in the place of these.
    #[inline]
    pub fn anew(&mut self) -> &mut Vec<u8> {
        if matches!(self.0, Storage::Shared(_)) {
            self.0 = Storage::Own(Vec::new());
        }
        match &mut self.0 {
            Storage::Own(bytes) => {
                bytes.clear();
                bytes
            }
            Storage::Shared(_) => unreachable!("it was replaced"),
        }
    }

    /// The bytes alone; a copy of them only where others have them too.
    pub fn into_vec(self) -> Vec<u8> {
        match self.0 {
            Storage::Own(bytes) => bytes,
            Storage::Shared(bytes) => Arc::unwrap_or_clone(bytes),
        }
    }
}

impl From<Vec<u8>> for BodyBytes {
    #[inline]
    fn from(bytes: Vec<u8>) -> Self {
        let is_large = bytes.len() >= SHARED_BYTES_MIN;
        Self(if is_large { Storage::Shared(Arc::new(bytes)) } else { Storage::Own(bytes) })
    }
}

impl Default for BodyBytes {
    #[inline]
    fn default() -> Self {
        Self(Storage::Own(Vec::new()))
    }
}

impl Deref for BodyBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Storage::Own(bytes) => bytes,
            Storage::Shared(bytes) => bytes,
        }
    }
}

impl PartialEq for BodyBytes {
    fn eq(&self, other: &Self) -> bool {
        let is_same = match (self.shared(), other.shared()) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        is_same || **self == **other
    }
}

impl Eq for BodyBytes {}

impl Serialize for BodyBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for BodyBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

/// Bytes behind others, without a second copy of the longer ones.
pub(crate) fn joined(mut front: Vec<u8>, mut back: Vec<u8>) -> Vec<u8> {
    if front.len() < back.len() {
        back.splice(0..0, front);
        return back;
    }
    front.append(&mut back);
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_body_is_there_once() {
        let small = BodyBytes::from(vec![7; SHARED_BYTES_MIN - 1]);
        assert!(small.shared().is_none() && small.clone() == small);
        let large = BodyBytes::from(vec![7; SHARED_BYTES_MIN]);
        let copy = large.clone();
        let (one, other) = (large.shared().expect("it is large"), copy.shared().expect("it is large"));
        assert!(Arc::ptr_eq(one, other) && copy == large && small != large);
        assert_eq!(Arc::strong_count(one), 2);
        let mut other = copy;
        other.anew().extend_from_slice(b"ab");
        assert_eq!((&*other, large.len()), (&b"ab"[..], SHARED_BYTES_MIN), "what is made anew is nobody else's");
        assert_eq!(Arc::strong_count(large.shared().expect("it is large")), 1);
        let place = large.as_ptr();
        let moved = large.into_vec();
        assert_eq!(moved.as_ptr(), place, "it is moved");
    }

    #[test]
    fn bytes_are_joined_in_the_room_of_the_longer() {
        for (front, back) in [(b"a".to_vec(), vec![1; 1000]), (vec![1; 1000], b"a".to_vec()), (Vec::new(), Vec::new())]
        {
            let expect = [&front[..], &back].concat();
            assert_eq!(joined(front, back), expect);
        }
    }

    #[test]
    fn it_is_written_and_read_as_bytes() {
        for count in [0, 3, SHARED_BYTES_MIN] {
            let bytes = vec![200; count];
            let text = serde_json::to_string(&BodyBytes::from(bytes.clone())).expect("it is written");
            assert_eq!(text, serde_json::to_string(&bytes).expect("it is written"));
            assert_eq!(serde_json::from_str::<BodyBytes>(&text).expect("it is read"), bytes.into());
        }
    }
}
