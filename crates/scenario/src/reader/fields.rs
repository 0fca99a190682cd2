//! The keys of one map, by the table.

use plan::nearest;

use super::{Read, Reader};
use crate::mistake::{Fault, Wanted, shortened};
use crate::shape::Object;
use crate::source::Span;
use crate::tree::{Key, Node, Value};

/// The keys of one map. Each key of the table is asked for, so that nothing is accepted and ignored.
pub(crate) struct Fields<'n> {
    object: &'static Object,
    /// Whom to blame for what is missing.
    pub(crate) at: Span,
    pairs: &'n [(Key, Node)],
    asked: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    /// The keys of a map that is one of these; unknown ones are told.
    pub(crate) fn open(reader: &mut Reader<'_>, node: &'n Node, object: &'static Object) -> Read<Self> {
        let Value::Map(pairs) = &node.value else { return reader.wrong(node, Wanted::Map) };
        for (key, _) in pairs.iter().filter(|(key, _)| !key.is_broken && object.field(&key.name).is_none()) {
            let near = nearest(&key.name, object.fields.iter().map(|field| field.name)).map(str::to_owned);
            let (key_text, known) = (shortened(&key.name), object.known());
            reader.found.add(key.at, Fault::UnknownKey { key: key_text, object, near, known });
        }
        let at = pairs.first().map_or(node.at, |(key, _)| key.at);
        Some(Self { object, at, pairs, asked: Vec::new() })
    }

    /// What stands behind a key, if it is there.
    pub(crate) fn get(&mut self, name: &'static str) -> Option<&'n Node> {
        debug_assert!(self.object.field(name).is_some(), "{name} is not in the table of {}", self.object.title);
        self.asked.push(name);
        self.pairs.iter().find(|(key, _)| key.name == name).map(|(_, node)| node)
    }

    /// The same of one that must be there.
    pub(crate) fn need(&mut self, reader: &mut Reader<'_>, name: &'static str) -> Read<&'n Node> {
        debug_assert!(self.object.field(name).is_none_or(|field| field.is_needed), "{name} is needed");
        let found = self.get(name);
        if found.is_none() && !self.pairs.iter().any(|(key, _)| self.is_near(&key.name, name)) {
            reader.found.add(self.at, Fault::MissingKey { object: self.object, key: name });
        }
        found
    }

    /// An unknown key was probably meant as this one: then that was told, and this is not missing.
    fn is_near(&self, key: &str, name: &str) -> bool {
        self.object.field(key).is_none()
            && nearest(key, self.object.fields.iter().map(|field| field.name)) == Some(name)
    }

    /// The first of these keys that are there.
    pub(crate) fn given(&self, names: &[&'static str]) -> Vec<&'static str> {
        names.iter().copied().filter(|name| self.pairs.iter().any(|(key, _)| key.name == *name)).collect()
    }

    /// Where a key stands.
    pub(crate) fn place(&self, name: &str) -> Span {
        self.pairs.iter().find(|(key, _)| key.name == name).map_or(self.at, |(key, _)| key.at)
    }

    /// At most one of these is there; a second is told.
    pub(crate) fn at_most_one(&self, reader: &mut Reader<'_>, names: &[&'static str]) {
        if let [one, other, ..] = self.given(names)[..] {
            reader.found.add(self.place(other), Fault::Conflict { one, other });
        }
    }

    /// All is read.
    pub(crate) fn close(self) {
        let missed = self.object.fields.iter().find(|field| !self.asked.contains(&field.name));
        debug_assert!(
            missed.is_none(),
            "{} of {} is never read",
            missed.map_or("", |field| field.name),
            self.object.title
        );
    }
}
