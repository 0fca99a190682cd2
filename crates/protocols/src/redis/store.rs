//! The data of the small server.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::resp::{number, write_bulk, write_count};

/// Databases of a server: as many as Redis has by default.
pub(super) const DATABASES: usize = 16;
/// Maximum bytes of all data, so that a load cannot fill the machine.
const DATA_BYTES_MAX: usize = 64 << 20;
/// What an entry needs beside its bytes, at least.
const ENTRY_BYTES: usize = 64;

const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";
const NO_INTEGER: &str = "ERR value is not an integer or out of range";

/// Replies to a client.
pub(super) struct Out<'a> {
    pub(super) bytes: &'a mut Vec<u8>,
    pub(super) is_resp3: bool,
}

impl Out<'_> {
    fn line(&mut self, kind: u8, text: &str) {
        self.bytes.push(kind);
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.extend_from_slice(b"\r\n");
    }

    pub(super) fn simple(&mut self, text: &str) {
        self.line(b'+', text);
    }

    pub(super) fn error(&mut self, text: &str) {
        self.line(b'-', text);
    }

    pub(super) fn integer(&mut self, number: i64) {
        self.line(b':', &number.to_string());
    }

    pub(super) fn count(&mut self, count: usize) {
        write_count(b':', count, self.bytes);
    }

    pub(super) fn bulk(&mut self, bytes: &[u8]) {
        write_bulk(bytes, self.bytes);
    }

    pub(super) fn null(&mut self) {
        self.bytes.extend_from_slice(if self.is_resp3 { b"_\r\n" } else { b"$-1\r\n" });
    }

    pub(super) fn array(&mut self, count: usize) {
        write_count(b'*', count, self.bytes);
    }

    pub(super) fn map(&mut self, count: usize) {
        let (kind, count) = if self.is_resp3 { (b'%', count) } else { (b'*', 2 * count) };
        write_count(kind, count, self.bytes);
    }
}

enum Value {
    Text(Vec<u8>),
    List(VecDeque<Vec<u8>>),
    Hash(BTreeMap<Vec<u8>, Vec<u8>>),
}

impl Value {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::List(list) => list.iter().map(|item| item.len() + ENTRY_BYTES).sum(),
            Self::Hash(hash) => hash.iter().map(|(field, value)| field.len() + value.len() + ENTRY_BYTES).sum(),
        }
    }
}

/// All databases.
#[derive(Default)]
pub(super) struct Store {
    databases: [HashMap<Vec<u8>, Value>; DATABASES],
    bytes: usize,
}

impl Store {
    /// Executes a command on a database. `None` if there is no such command with this number of arguments.
    pub(super) fn execute(&mut self, at: usize, name: &str, args: &[&[u8]], out: &mut Out<'_>) -> Option<()> {
        let added: usize = args.iter().map(|arg| arg.len() + ENTRY_BYTES).sum();
        if matches!(name, "SET" | "MSET" | "LPUSH" | "HSET" | "INCR" | "INCRBY") && self.bytes + added > DATA_BYTES_MAX
        {
            out.error("OOM command not allowed when used memory > 'maxmemory'.");
            return Some(());
        }
        match (name, args) {
            ("SET", [key, value]) => {
                self.put(at, key, Value::Text(value.to_vec()));
                out.simple("OK");
            }
            ("SET", [_, _, _, ..]) => out.error("ERR syntax error"),
            ("GET", [key]) => match self.databases[at].get(*key) {
                Some(Value::Text(text)) => out.bulk(text),
                Some(_) => out.error(WRONG_TYPE),
                None => out.null(),
            },
            ("DEL", [_, ..]) => out.count(args.iter().filter(|key| self.remove(at, key)).count()),
            ("EXISTS", [_, ..]) => out.count(args.iter().filter(|key| self.databases[at].contains_key(**key)).count()),
            ("INCR", [key]) => self.add(at, key, 1, out),
            ("INCRBY", [key, by]) => match number(by) {
                Some(by) => self.add(at, key, by, out),
                None => out.error(NO_INTEGER),
            },
            ("MSET", [_, _, ..]) if args.len().is_multiple_of(2) => {
                args.chunks(2).for_each(|pair| self.put(at, pair[0], Value::Text(pair[1].to_vec())));
                out.simple("OK");
            }
            ("MGET", [_, ..]) => {
                out.array(args.len());
                args.iter().for_each(|key| match self.databases[at].get(*key) {
                    Some(Value::Text(text)) => out.bulk(text),
                    _ => out.null(),
                });
            }
            ("LPUSH", [key, items @ ..]) if !items.is_empty() => self.push(at, key, items, out),
            ("LRANGE", [key, first, last]) => self.range(at, key, (first, last), out),
            ("HSET", [key, pairs @ ..]) if !pairs.is_empty() && pairs.len().is_multiple_of(2) => {
                self.set_fields(at, key, pairs, out);
            }
            ("HGETALL", [key]) => match self.databases[at].get(*key) {
                Some(Value::Hash(hash)) => {
                    out.map(hash.len());
                    hash.iter().flat_map(|(field, value)| [field, value]).for_each(|bytes| out.bulk(bytes));
                }
                Some(_) => out.error(WRONG_TYPE),
                None => out.map(0),
            },
            ("FLUSHALL", _) => {
                *self = Self::default();
                out.simple("OK");
            }
            ("DBSIZE", []) => out.count(self.databases[at].len()),
            _ => return None,
        }
        Some(())
    }

    fn remove(&mut self, at: usize, key: &[u8]) -> bool {
        let removed = self.databases[at].remove(key);
        self.bytes -= removed.as_ref().map_or(0, |value| key.len() + ENTRY_BYTES + value.bytes());
        removed.is_some()
    }

    fn put(&mut self, at: usize, key: &[u8], value: Value) {
        self.remove(at, key);
        self.bytes += key.len() + ENTRY_BYTES + value.bytes();
        self.databases[at].insert(key.to_vec(), value);
    }

    /// The value of a key, which is this one if there is none.
    fn value_or(&mut self, at: usize, key: &[u8], empty: Value) -> &mut Value {
        if !self.databases[at].contains_key(key) {
            self.put(at, key, empty);
        }
        self.databases[at].get_mut(key).expect("it is there now")
    }

    fn add(&mut self, at: usize, key: &[u8], by: i64, out: &mut Out<'_>) {
        let before = match self.databases[at].get(key) {
            None => Some(0),
            Some(Value::Text(text)) => number(text),
            Some(_) => return out.error(WRONG_TYPE),
        };
        match before.map(|before| before.checked_add(by)) {
            None => out.error(NO_INTEGER),
            Some(None) => out.error("ERR increment or decrement would overflow"),
            Some(Some(sum)) => {
                self.put(at, key, Value::Text(sum.to_string().into_bytes()));
                out.integer(sum);
            }
        }
    }

    fn push(&mut self, at: usize, key: &[u8], items: &[&[u8]], out: &mut Out<'_>) {
        let Value::List(list) = self.value_or(at, key, Value::List(VecDeque::new())) else {
            return out.error(WRONG_TYPE);
        };
        items.iter().for_each(|item| list.push_front(item.to_vec()));
        out.count(list.len());
        self.bytes += items.iter().map(|item| item.len() + ENTRY_BYTES).sum::<usize>();
    }

    fn range(&self, at: usize, key: &[u8], (first, last): (&[u8], &[u8]), out: &mut Out<'_>) {
        let (Some(first), Some(last)) = (number(first), number(last)) else { return out.error(NO_INTEGER) };
        let list = match self.databases[at].get(key) {
            Some(Value::List(list)) => list,
            Some(_) => return out.error(WRONG_TYPE),
            None => return out.array(0),
        };
        let length = list.len() as i64;
        let from_end = |index: i64| if index < 0 { index.saturating_add(length) } else { index };
        let (first, last) = (from_end(first).max(0), from_end(last).min(length - 1));
        let count = usize::try_from(last.saturating_sub(first).saturating_add(1)).unwrap_or(0);
        out.array(count);
        list.iter().skip(first as usize).take(count).for_each(|item| out.bulk(item));
    }

    fn set_fields(&mut self, at: usize, key: &[u8], pairs: &[&[u8]], out: &mut Out<'_>) {
        let Value::Hash(hash) = self.value_or(at, key, Value::Hash(BTreeMap::new())) else {
            return out.error(WRONG_TYPE);
        };
        let (mut added, mut new, mut replaced) = (0, 0, 0);
        for pair in pairs.chunks(2) {
            added += pair[0].len() + pair[1].len() + ENTRY_BYTES;
            match hash.insert(pair[0].to_vec(), pair[1].to_vec()) {
                Some(old) => replaced += pair[0].len() + old.len() + ENTRY_BYTES,
                None => new += 1,
            }
        }
        out.count(new);
        self.bytes = self.bytes + added - replaced;
    }
}
