//! A request that is sent many times: its fields are compressed once for all connections.

use std::sync::Arc;

use crate::hpack::{ENTRY_OVERHEAD, Encoder, Indexing};

/// A request, ready to be sent on any connection.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its number, unique on a connection.
    pub(super) number: u32,
    /// Its fields for a connection whose table is empty; they enter the table.
    pub(super) first: Vec<u8>,
    /// Its fields for a connection that has sent them before: hardly more than a byte each.
    pub(super) again: Vec<u8>,
    /// Its fields without any table.
    pub(super) plain: Vec<u8>,
    /// The table size that `first` and `again` need.
    pub(super) table_bytes: usize,
    pub(super) body: Arc<Vec<u8>>,
    /// More than `body` may follow.
    pub(super) is_open: bool,
    /// Whether it is a HEAD request, whose response has no content.
    pub(super) is_head: bool,
}

impl Request {
    /// Compresses the fields, pseudo-fields first, names in lower case. Secrets do not enter tables.
    /// Requests that meet on a connection have different numbers.
    /// The body may be shared with others.
    pub fn new<'a>(
        number: u32,
        fields: impl Iterator<Item = (&'a [u8], &'a [u8])> + Clone,
        body: impl Into<Arc<Vec<u8>>>,
    ) -> Self {
        let (mut encoder, mut first, mut again) = (Encoder::default(), Vec::new(), Vec::new());
        let mut write = |out: &mut Vec<u8>| {
            for (name, value) in fields.clone() {
                let indexing = if is_secret(name) { Indexing::Never } else { Indexing::Kept };
                encoder.field(name, value, indexing, out);
            }
        };
        write(&mut first);
        write(&mut again);
        let (mut bare, mut plain) = (Encoder::default(), Vec::new());
        for (name, value) in fields.clone() {
            let indexing = if is_secret(name) { Indexing::Never } else { Indexing::NotKept };
            bare.field(name, value, indexing, &mut plain);
        }
        Self {
            number,
            first,
            again,
            plain,
            table_bytes: fields.clone().map(|(name, value)| name.len() + value.len() + ENTRY_OVERHEAD).sum(),
            body: body.into(),
            is_open: false,
            is_head: fields.clone().any(|field| field == (b":method", b"HEAD")),
        }
    }

    /// The same request, with more to be sent after its body.
    pub fn kept_open(mut self) -> Self {
        self.is_open = true;
        self
    }
}

fn is_secret(name: &[u8]) -> bool {
    matches!(name, b"authorization" | b"proxy-authorization" | b"cookie")
}
