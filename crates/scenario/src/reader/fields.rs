//! Reading of the keys of one map, by the table.

use super::{Read, Reader, home, meant};
use crate::diagnostic::{Problem, Wanted, shortened};
use crate::keys::Object;
use crate::source::Span;
use crate::tree::{Key, Node, Value, wide_in};

/// The keys of one map. Each key of the table must be read, so that nothing is accepted and ignored.
pub(crate) struct Fields<'n> {
    object: &'static Object,
    /// The position for messages about missing keys.
    pub(crate) at: Span,
    pairs: &'n [(Key, Node)],
    /// For unknown keys, the one that was probably meant: their values are checked all the same.
    meant: Vec<(&'static str, usize)>,
    /// The objects that unknown keys belong to.
    homes: Vec<&'static Object>,
    requested: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    /// The keys of a map that is one of these objects; unknown ones are reported.
    pub(crate) fn open(reader: &mut Reader<'_>, node: &'n Node, object: &'static Object) -> Read<Self> {
        let Value::Map(pairs) = &node.value else { return reader.wrong(node, Wanted::Map) };
        let at = pairs.first().map_or(node.at, |(key, _)| key.at);
        let mut fields = Self { object, at, pairs, meant: Vec::new(), homes: Vec::new(), requested: Vec::new() };
        let names = object.fields.iter().map(|field| field.name);
        let has = |name: &str| pairs.iter().any(|(key, _)| key.name == name);
        for (place, (key, _)) in pairs.iter().enumerate() {
            if key.is_broken || object.field(&key.name).is_some() {
                continue;
            }
            if let Some((from, fault)) = wide_in(&key.name) {
                let length = key.name[from..].chars().next().map_or(1, char::len_utf8);
                reader.found.add(Span::new(key.at.start + from, key.at.start + from + length), Problem::Syntax(fault));
                continue;
            }
            let near = meant(&key.name, names.clone());
            let belongs = if near.is_none() { home(&key.name, object) } else { None };
            fields.homes.extend(belongs);
            if let Some(near) = near.filter(|near| !has(near) && !fields.meant.iter().any(|(known, _)| known == near)) {
                fields.meant.push((near, place));
            }
            let (key_text, known) = (shortened(&key.name), object.known());
            let near = near.map(str::to_owned);
            reader.found.add(key.at, Problem::UnknownKey { key: key_text, object, near, belongs, known });
        }
        Some(fields)
    }

    /// The key of this name, or one that probably means it.
    fn pair(&self, name: &str) -> Option<&'n (Key, Node)> {
        let written = self.pairs.iter().find(|(key, _)| key.name == name);
        written.or_else(|| self.meant.iter().find(|(meant, _)| *meant == name).map(|(_, place)| &self.pairs[*place]))
    }

    /// The value of a key, if there is one.
    pub(crate) fn get(&mut self, name: &'static str) -> Option<&'n Node> {
        debug_assert!(self.object.field(name).is_some(), "{name} is not in the table of {}", self.object.title);
        self.requested.push(name);
        self.pair(name).map(|(_, node)| node)
    }

    /// The value of a required key.
    pub(crate) fn need(&mut self, reader: &mut Reader<'_>, name: &'static str) -> Read<&'n Node> {
        debug_assert!(self.object.field(name).is_none_or(|field| field.is_needed), "{name} is needed");
        let found = self.get(name);
        // Its content is beside it, and that was reported.
        if found.is_none() && !self.homes.iter().any(|home| home.id == name) {
            reader.found.add(self.at, Problem::MissingKey { object: self.object, key: name });
        }
        found
    }

    /// Those of the keys that are there.
    pub(crate) fn given(&self, names: &[&'static str]) -> Vec<&'static str> {
        names.iter().copied().filter(|name| self.pair(name).is_some()).collect()
    }

    /// The position of a key.
    pub(crate) fn place(&self, name: &str) -> Span {
        self.pair(name).map_or(self.at, |(key, _)| key.at)
    }

    /// Checks that at most one of these is there.
    pub(crate) fn at_most_one(&self, reader: &mut Reader<'_>, names: &[&'static str]) {
        if let [one, other, ..] = self.given(names)[..] {
            reader.found.add(self.place(other), Problem::Conflict { one, other });
        }
    }

    /// Ends the reading of the map, after which each key of the table must have been read.
    pub(crate) fn close(self) {
        let missed = self.object.fields.iter().find(|field| !self.requested.contains(&field.name));
        debug_assert!(
            missed.is_none(),
            "{} of {} is never read",
            missed.map_or("", |field| field.name),
            self.object.title
        );
    }
}
