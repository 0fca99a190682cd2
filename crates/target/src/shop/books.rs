//! Books: the requests of each user and of each session, by path, so that a client can compare them with its own counts
//! to the last one. Sessions stay in the books after their end.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::{Display, Write};
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::reply::text_of_json;
use super::sessions::SessionId;
use crate::paths::CountedPath;

/// Maximum number of users, and of sessions, with a page of their own.
pub(crate) const BOOK_PAGES_MAX: usize = 16_384;
/// Number of locks over the pages of a book.
const STRIPES: usize = 16;

/// Requests by path.
#[derive(Debug, Default)]
struct BookPage(Vec<(CountedPath, u64)>);

impl BookPage {
    fn count(&mut self, path: CountedPath) {
        match self.0.iter_mut().find(|(known, _)| *known == path) {
            Some((_, count)) => *count += 1,
            None => self.0.push((path, 1)),
        }
    }

    fn push_json(&self, json: &mut String) {
        let requests: u64 = self.0.iter().map(|(_, count)| count).sum();
        write!(json, "{{\"requests\":{requests},\"paths\":{{").expect("writing to a string does not fail");
        let mut paths: Vec<_> = self.0.iter().collect();
        paths.sort_unstable_by_key(|(path, _)| path.index());
        for (number, (path, count)) in paths.into_iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            write!(json, "{comma}\"{path}\":{count}").expect("writing to a string does not fail");
        }
        json.push_str("}}");
    }
}

struct BookStripe<K> {
    pages: HashMap<K, BookPage>,
    /// Requests of those without a page.
    rest: u64,
}

/// The pages of all users, or of all sessions.
struct Book<K> {
    stripes: [Mutex<BookStripe<K>>; STRIPES],
    hasher: RandomState,
    /// Number of pages.
    known: AtomicUsize,
}

impl<K> Default for Book<K> {
    fn default() -> Self {
        let stripe = |_| Mutex::new(BookStripe { pages: HashMap::new(), rest: 0 });
        Self { stripes: std::array::from_fn(stripe), hasher: RandomState::new(), known: AtomicUsize::new(0) }
    }
}

impl<K: Hash + Eq + Ord + Clone + Display> Book<K> {
    /// Counts a request; `own` makes the key of a new page.
    fn count<Q: Hash + Eq + ?Sized>(&self, key: &Q, path: CountedPath, own: impl FnOnce() -> K)
    where
        K: Borrow<Q>,
    {
        let stripe = self.hasher.hash_one(key) as usize % STRIPES;
        let mut stripe = lock(&self.stripes[stripe]);
        if let Some(page) = stripe.pages.get_mut(key) {
            return page.count(path);
        }
        let one_more = |known: usize| (known < BOOK_PAGES_MAX).then_some(known + 1);
        if self.known.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_err() {
            stripe.rest += 1;
            return;
        }
        stripe.pages.entry(own()).or_default().count(path);
    }

    /// Appends the pages in the order of their keys, and the rest.
    fn push_json(&self, name: &str, json: &mut String) {
        let (mut pages, mut rest) = (BTreeMap::new(), 0);
        for stripe in &self.stripes {
            let stripe = lock(stripe);
            rest += stripe.rest;
            for (key, page) in &stripe.pages {
                let mut text = String::new();
                page.push_json(&mut text);
                pages.insert(key.clone(), text);
            }
        }
        write!(json, "\"{name}\":{{").expect("writing to a string does not fail");
        for (number, (key, page)) in pages.into_iter().enumerate() {
            let (comma, key) = (if number > 0 { "," } else { "" }, text_of_json(&key.to_string()));
            write!(json, "{comma}{key}:{page}").expect("writing to a string does not fail");
        }
        write!(json, "}},\"{name}_rest\":{rest}").expect("writing to a string does not fail");
    }
}

fn lock<K>(stripe: &Mutex<BookStripe<K>>) -> MutexGuard<'_, BookStripe<K>> {
    stripe.lock().expect("no holder of the lock panics")
}

/// The books of a server.
#[derive(Default)]
pub(crate) struct Books {
    users: Book<Box<str>>,
    sessions: Book<SessionId>,
}

impl Books {
    /// Counts a request of a session, and of its user, if it has one.
    pub(super) fn count(&self, session: SessionId, user: &str, path: CountedPath) {
        self.sessions.count(&session, path, || session);
        self.count_user(user, path);
    }

    /// Counts the request by which a session got its user.
    pub(super) fn count_user(&self, user: &str, path: CountedPath) {
        if !user.is_empty() {
            self.users.count(user, path, || user.into());
        }
    }

    /// Appends both books as members of an object.
    pub(crate) fn push_json(&self, json: &mut String) {
        self.users.push_json("users", json);
        json.push(',');
        self.sessions.push_json("sessions", json);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(book: &Book<Box<str>>) -> serde_json::Value {
        let mut json = "{".to_owned();
        book.push_json("users", &mut json);
        json.push('}');
        serde_json::from_str(&json).expect("JSON")
    }

    #[test]
    fn each_request_stands_on_its_page() {
        let book = Book::default();
        let (get, post) = (CountedPath::new("GET", 0), CountedPath::new("POST", 5));
        for (user, path) in [("b", post), ("a\"", get), ("b", get), ("b", post)] {
            book.count(user, path, || user.into());
        }
        let expect = serde_json::json!({"users": {"a\"": {"requests": 1, "paths": {"GET /": 1}},
            "b": {"requests": 3, "paths": {"GET /": 1, "POST /echo": 2}}}, "users_rest": 0});
        assert_eq!(users(&book), expect);
    }

    #[test]
    fn who_comes_late_is_counted_in_the_rest() {
        let (book, path) = (Book::default(), CountedPath::new("GET", 0));
        for round in 0..2 {
            for user in 0..BOOK_PAGES_MAX + 7 {
                let user = user.to_string();
                book.count(user.as_str(), path, || user.as_str().into());
            }
            let json = users(&book);
            let pages = json["users"].as_object().expect("pages");
            assert!(pages.len() == BOOK_PAGES_MAX && pages.values().all(|page| page["requests"] == round + 1));
            assert_eq!(json["users_rest"], 7 * (round + 1));
        }
    }
}
