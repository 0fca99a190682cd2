//! GraphQL: the one question `item(id)`, with the fields `id`, `name` and `price`, and persisted queries. What is asked
//! beyond that gets an error, with the status 200 as from other servers.

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Mutex;

use serde_json::Value;

use super::cart::{Item, Price};
use super::files::sha256;
use super::item_query::{Argument, ItemField, ItemQuery};
use super::reply::{Reply, bad, json, text_of_json};

/// Maximum number of persisted queries; a further one replaces the oldest.
const QUERIES_MAX: usize = 256;

/// Queries by their SHA-256, in hexadecimal digits.
#[derive(Debug, Default)]
pub(crate) struct PersistedQueries(VecDeque<(String, String)>);

impl PersistedQueries {
    fn find(&self, hash: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == hash).map(|(_, query)| query.as_str())
    }

    fn register(&mut self, hash: &str, query: &str) {
        if self.find(hash).is_none() {
            if self.0.len() == QUERIES_MAX {
                self.0.pop_front();
            }
            self.0.push_back((hash.to_owned(), query.to_owned()));
        }
    }
}

/// The response to a request with this JSON.
pub(super) fn response(body: &[u8], queries: &Mutex<PersistedQueries>) -> Reply {
    let Ok(Value::Object(requested)) = serde_json::from_slice(body) else {
        return bad("the body is no JSON object");
    };
    let hash = requested.get("extensions").and_then(|all| all.pointer("/persistedQuery/sha256Hash"));
    let (query, hash) = (requested.get("query").and_then(Value::as_str), hash.and_then(Value::as_str));
    let mut queries = queries.lock().expect("no holder of the lock panics");
    let query = match (query, hash) {
        (Some(query), Some(hash)) if sha256(query.as_bytes()) == hash => {
            queries.register(hash, query);
            query.to_owned()
        }
        (Some(_), Some(_)) => return error("the hash is not that of the query", Some("PERSISTED_QUERY_HASH_MISMATCH")),
        (Some(query), None) => query.to_owned(),
        (None, Some(hash)) => match queries.find(hash) {
            Some(query) => query.to_owned(),
            None => return error("PersistedQueryNotFound", Some("PERSISTED_QUERY_NOT_FOUND")),
        },
        (None, None) => return error("there is no query", None),
    };
    drop(queries);
    match ItemQuery::parse(&query) {
        Ok(query) => item(&query, requested.get("variables")),
        Err(why) => error(&why, Some("GRAPHQL_VALIDATION_FAILED")),
    }
}

fn item(query: &ItemQuery<'_>, variables: Option<&Value>) -> Reply {
    let id = match &query.id {
        Argument::Literal(text) => (*text).to_owned(),
        Argument::Variable(name) => match variables.and_then(|all| all.get(name)) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => return error(&format!("the variable ${name} has no value of the type ID!"), Some("BAD_USER_INPUT")),
        },
    };
    let Some(item) = Item::parse(&id) else { return json(200, "{\"data\":{\"item\":null}}\n".to_owned()) };
    let mut body = "{\"data\":{\"item\":{".to_owned();
    for (number, field) in query.fields.iter().enumerate() {
        body.push_str(if number > 0 { "," } else { "" });
        match field {
            ItemField::Id => write!(body, "\"id\":\"{item}\""),
            ItemField::Name => write!(body, "\"name\":\"item {item}\""),
            ItemField::Price => write!(body, "\"price\":{}", Price(item.cents())),
        }
        .expect("writing to a string does not fail");
    }
    body.push_str("}}}\n");
    json(200, body)
}

fn error(message: &str, code: Option<&str>) -> Reply {
    let code = code.map_or(String::new(), |code| format!(",\"extensions\":{{\"code\":\"{code}\"}}"));
    json(200, format!("{{\"errors\":[{{\"message\":{}{code}}}]}}\n", text_of_json(message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_query_makes_room() {
        let mut queries = PersistedQueries::default();
        for number in 0..=QUERIES_MAX {
            queries.register(&number.to_string(), "{}");
            queries.register(&number.to_string(), "again");
        }
        assert_eq!(queries.0.len(), QUERIES_MAX);
        assert_eq!(["0", "1", "256"].map(|hash| queries.find(hash)), [None, Some("{}"), Some("{}")]);
    }
}
