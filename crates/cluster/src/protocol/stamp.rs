//! The stamp of the sender before each message: another build can read this much of it, and report it.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Ask, Hello, PROTOCOL, Reply, can_be, read};
use crate::bus::Bytes;

/// The stamp of a sender. Its format never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// The protocol version of the message.
    pub(crate) protocol: u32,
    /// The version of onrush.
    pub(crate) version: String,
    /// The id and the name of the sender.
    pub(crate) id: u64,
    pub(crate) name: String,
}

/// A stamped message.
#[derive(Debug)]
pub(crate) enum Stamped<T> {
    /// From a sender of the same build.
    Ours(Stamp, T),
    /// From a sender with another protocol.
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
    /// Encodes it with the stamp of its sender.
    pub(crate) fn written(&self, who: &Hello) -> Bytes {
        let (version, name) = (who.version.clone(), who.name.clone());
        stamped(&Stamp { protocol: who.protocol, version, id: who.id, name }, self)
    }

    /// Decodes it.
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
    /// Encodes it with the stamp of a leader of this version.
    pub(crate) fn written(&self, who: u64, version: &str) -> Bytes {
        let version = version.to_owned();
        stamped(&Stamp { protocol: PROTOCOL, version, id: who, name: String::new() }, self)
    }

    /// Decodes it.
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
