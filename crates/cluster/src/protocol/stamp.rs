//! Who says something, before what it says: whoever is of another build can read this much of it, and say so.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Ask, Hello, PROTOCOL, Reply, can_be, read};
use crate::bus::Bytes;

/// Who says something. Its shape stays as it is, whatever else changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// Of what follows.
    pub(crate) protocol: u32,
    /// The version of onrush.
    pub(crate) version: String,
    /// Who it is, and what it is called.
    pub(crate) id: u64,
    pub(crate) name: String,
}

/// Something that was said.
#[derive(Debug)]
pub(crate) enum Stamped<T> {
    /// By one of the same build.
    Ours(Stamp, T),
    /// By one whose words are others.
    Foreign(Stamp),
}

fn stamped<T: Serialize>(stamp: &Stamp, value: &T) -> Bytes {
    let mut bytes = postcard::to_stdvec(stamp).expect("it has nothing that cannot be written");
    bytes.extend_from_slice(&super::written(value));
    bytes.into()
}

fn said<T: DeserializeOwned>(bytes: &[u8]) -> Option<Stamped<T>> {
    let (stamp, rest) = postcard::take_from_bytes::<Stamp>(bytes).ok()?;
    if stamp.protocol != PROTOCOL {
        return Some(Stamped::Foreign(stamp));
    }
    read(rest).map(|value| Stamped::Ours(stamp, value))
}

impl Ask {
    /// As bytes, of who says this.
    pub(crate) fn written(&self, who: &Hello) -> Bytes {
        let (version, name) = (who.version.clone(), who.name.clone());
        stamped(&Stamp { protocol: who.protocol, version, id: who.id, name }, self)
    }

    /// Read back.
    pub(crate) fn read(bytes: &[u8]) -> Option<Stamped<Self>> {
        let mut said: Stamped<Self> = said(bytes)?;
        if let Stamped::Ours(stamp, Self::Hello(hello)) = &mut said {
            (hello.protocol, hello.id) = (stamp.protocol, stamp.id);
            (hello.version, hello.name) = (stamp.version.clone(), stamp.name.clone());
        }
        Some(said)
    }
}

impl Reply {
    /// As bytes, of who leads with this version.
    pub(crate) fn written(&self, who: u64, version: &str) -> Bytes {
        let version = version.to_owned();
        stamped(&Stamp { protocol: PROTOCOL, version, id: who, name: String::new() }, self)
    }

    /// Read back.
    pub(crate) fn read(bytes: &[u8]) -> Option<Stamped<Self>> {
        said(bytes).filter(|said: &Stamped<Self>| match said {
            Stamped::Ours(_, response) => [response.epoch, response.revision, response.now.0].into_iter().all(can_be),
            Stamped::Foreign(_) => true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_another_build_is_known_by_its_stamp() {
        let hello = Hello::new(7, "one".to_owned(), "9.9".to_owned(), 3);
        let ours = Ask::Hello(hello.clone()).written(&hello);
        let Some(Stamped::Ours(_, Ask::Hello(read))) = Ask::read(&ours) else { panic!("it is ours") };
        assert_eq!(read, hello);
        let later = Hello { protocol: PROTOCOL + 1, ..hello };
        let mut bytes = Ask::Time.written(&later).to_vec();
        bytes.extend([200, 201, 202]);
        let Some(Stamped::Foreign(stamp)) = Ask::read(&bytes) else { panic!("it is foreign") };
        assert_eq!((stamp.id, stamp.name.as_str(), stamp.version.as_str()), (7, "one", "9.9"));
        for length in 0..ours.len() {
            assert!(Ask::read(&ours[..length]).is_none(), "{length}");
        }
    }
}
