//! A bus in one place: keys with revisions, a stream that accepts each entry once, subjects, and large objects by
//! name. A machine: requests go in, replies come out; the transport is elsewhere. So it is the bus of one machine,
//! and that of the simulator.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use crate::bus::{BusCommand, BusEvent, Bytes, LEADER, Refused};

/// Entries that a stream keeps: with a thousand workers, more than ten minutes.
const ENTRIES_MAX: usize = 1 << 20;
/// Bytes that a stream keeps.
const STREAM_BYTES_MAX: usize = 1 << 30;
/// Entry names kept to recognize duplicates.
const NAMES_MAX: usize = 1 << 20;

/// The number of one connection.
pub type Client = u64;

/// An in-memory bus.
#[derive(Debug, Default)]
pub struct Broker {
    /// Connected clients, with the subjects that they subscribe to.
    clients: BTreeMap<Client, HashSet<String>>,
    keys: BTreeMap<String, (u64, Bytes)>,
    revision: u64,
    entries: VecDeque<Bytes>,
    /// The position of the first entry that is kept.
    first: u64,
    stream_bytes: usize,
    /// Names of entries, with their positions.
    names: HashMap<String, u64>,
    names_in_order: VecDeque<String>,
    /// Clients that follow the stream, and the next position each receives.
    followers: BTreeMap<Client, u64>,
    objects: HashMap<String, Bytes>,
    /// The most entries kept, when fewer than usual.
    pub entries_max: Option<usize>,
    /// The most entry names kept, when fewer than usual.
    pub names_max: Option<usize>,
    /// Clients that only receive the leader key, and no other key.
    pub distant: HashSet<Client>,
    out: VecDeque<(Client, BusEvent)>,
}

impl Broker {
    /// Connects a client that subscribes to these subjects. It receives all keys.
    pub fn join(&mut self, client: Client, subjects: impl IntoIterator<Item = String>) {
        self.clients.insert(client, subjects.into_iter().collect());
        self.report(client, BusEvent::Connected);
        let keys: Vec<_> =
            self.keys.iter().map(|(key, (revision, value))| (key.clone(), *revision, value.clone())).collect();
        for (key, revision, value) in keys {
            self.report(client, BusEvent::Changed { key, revision, value });
        }
    }

    /// Disconnects a client.
    pub fn leave(&mut self, client: Client) {
        self.clients.remove(&client);
        self.followers.remove(&client);
        self.distant.remove(&client);
        self.out.retain(|(to, _)| *to != client);
    }

    fn report(&mut self, client: Client, received: BusEvent) {
        self.out.push_back((client, received));
    }

    /// The value of a key.
    #[cfg(test)]
    pub(crate) fn value(&self, key: &str) -> Option<&Bytes> {
        self.keys.get(key).map(|(_, value)| value)
    }

    /// The next event to deliver, and its client.
    pub fn next_received(&mut self) -> Option<(Client, BusEvent)> {
        self.out.pop_front()
    }

    /// Handles a command of a client.
    pub fn ask(&mut self, client: Client, verb: BusCommand) {
        match verb {
            BusCommand::Publish { subject, payload } => self.publish(&subject, &payload),
            BusCommand::Request { token, subject, payload } => {
                let response_to = format!("{client}/{token}");
                let listens = |(_, subjects): &(&Client, &HashSet<String>)| subjects.contains(&subject);
                match self.clients.iter().find(listens).map(|(one, _)| *one) {
                    Some(one) => {
                        self.report(one, BusEvent::Message { subject, payload, response_to: Some(response_to) });
                    }
                    None => self.report(client, BusEvent::Answered { token, response: Err(Refused::Nobody) }),
                }
            }
            BusCommand::Reply { to, payload } => {
                let address = to.split_once('/').and_then(|(to, token)| Some((to.parse().ok()?, token.parse().ok()?)));
                if let Some((to, token)) = address.filter(|(to, _)| self.clients.contains_key(to)) {
                    self.report(to, BusEvent::Answered { token, response: Ok(payload) });
                }
            }
            BusCommand::Get { token, key } => {
                let value = self.keys.get(&key).cloned();
                self.report(client, BusEvent::Got { token, key, value });
            }
            BusCommand::Put { token, key, revision, value } => {
                let result = self.put(key, revision, value);
                self.report(client, BusEvent::Written { token, result });
            }
            BusCommand::Append { token, name, payload } => {
                let result = self.append(name, payload);
                self.report(client, BusEvent::Appended { token, result });
            }
            BusCommand::Follow { from } => {
                let from = from.max(self.first + 1);
                self.followers.insert(client, from);
                self.report(client, BusEvent::Follows { from });
                self.feed();
            }
            BusCommand::Forget { upto } => {
                while self.first < upto && !self.entries.is_empty() {
                    self.drop_first();
                }
            }
            BusCommand::Store { token, name, object } => {
                self.objects.insert(name, object);
                self.report(client, BusEvent::Stored { token, result: Ok(()) });
            }
            BusCommand::Drop { name } => drop(self.objects.remove(&name)),
            BusCommand::Fetch { token, name } => {
                let object = self.objects.get(&name).cloned();
                self.report(client, BusEvent::Fetched { token, object });
            }
        }
    }

    fn publish(&mut self, subject: &str, payload: &Bytes) {
        let listeners: Vec<Client> =
            self.clients.iter().filter(|(_, subjects)| subjects.contains(subject)).map(|(one, _)| *one).collect();
        for one in listeners {
            let received =
                BusEvent::Message { subject: subject.to_owned(), payload: payload.clone(), response_to: None };
            self.report(one, received);
        }
    }

    fn put(&mut self, key: String, wanted: Option<u64>, value: Bytes) -> Result<u64, Refused> {
        let known = self.keys.get(&key).map_or(0, |(revision, _)| *revision);
        if wanted.is_some_and(|wanted| wanted != known) {
            return Err(Refused::Conflict);
        }
        self.revision += 1;
        let revision = self.revision;
        self.keys.insert(key.clone(), (revision, value.clone()));
        let hears = |one: &&Client| key == LEADER || !self.distant.contains(one);
        let all: Vec<Client> = self.clients.keys().filter(hears).copied().collect();
        for one in all {
            self.report(one, BusEvent::Changed { key: key.clone(), revision, value: value.clone() });
        }
        Ok(revision)
    }

    fn append(&mut self, name: String, payload: Bytes) -> Result<u64, Refused> {
        if let Some(place) = self.names.get(&name) {
            return Ok(*place);
        }
        let is_full = self.entries.len() >= self.entries_max.unwrap_or(ENTRIES_MAX);
        if is_full || self.stream_bytes + payload.len() > STREAM_BYTES_MAX {
            return Err(Refused::Full);
        }
        self.stream_bytes += payload.len();
        self.entries.push_back(payload);
        let place = self.first + self.entries.len() as u64;
        self.names.insert(name.clone(), place);
        self.names_in_order.push_back(name);
        if self.names_in_order.len() > self.names_max.unwrap_or(NAMES_MAX)
            && let Some(oldest) = self.names_in_order.pop_front()
        {
            self.names.remove(&oldest);
        }
        self.feed();
        Ok(place)
    }

    fn drop_first(&mut self) {
        if let Some(entry) = self.entries.pop_front() {
            self.first += 1;
            self.stream_bytes -= entry.len();
        }
    }

    /// Sends new entries to the clients that follow the stream.
    fn feed(&mut self) {
        let last = self.first + self.entries.len() as u64;
        for (client, next) in &mut self.followers {
            while *next <= last {
                if let Some(entry) = next.checked_sub(self.first + 1).and_then(|place| self.entries.get(place as usize))
                {
                    self.out.push_back((*client, BusEvent::Entry { place: *next, payload: entry.clone() }));
                }
                *next += 1;
            }
        }
    }
}
