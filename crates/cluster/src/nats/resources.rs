//! The resources of a cluster on a NATS server, and the operations on them.

use std::cell::{Cell, RefCell};
use std::error::Error as _;
use std::rc::Rc;
use std::time::Duration;

use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::kv::{self, CreateErrorKind, Operation, UpdateErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::object_store::{GetErrorKind, InfoErrorKind, ObjectStore};
use async_nats::jetstream::stream::{DirectGetErrorKind, Stream};
use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{Client, Request, RequestErrorKind};
use futures_util::StreamExt;
use tokio::io::AsyncReadExt;
use tokio::task::{AbortHandle, spawn_local};

use super::Role;
use super::stores::{RESPONSE_MAX, Reason, Stores, news_of};
use crate::bus::{BusCommand, BusEvent, Bytes, Inbox, LEADER, Refused};
use crate::protocol::Lease;

/// The piece size for reading large objects.
const PIECE_BYTES: usize = 64 << 10;
/// The delay before an interrupted read is restarted.
const AGAIN_AFTER: Duration = Duration::from_millis(500);

/// The resources of a cluster, as one client sees them.
pub(super) struct NatsResources(Rc<OwnKeys>);

struct OwnKeys {
    role: Role,
    client: Client,
    context: Context,
    /// The subject prefix of worker reports.
    news: String,
    /// The subject on which workers learn of the leader: with many, not of each renewal.
    leads: String,
    /// The epoch and written revision last published there.
    said: Cell<(u64, u64)>,
    keys: kv::Store,
    stream: Stream,
    objects: ObjectStore,
    inbox: Inbox,
    is_left: Cell<bool>,
    watcher: RefCell<Option<AbortHandle>>,
    /// The task that reads the stream, and the next position that it reads.
    reader: RefCell<Option<AbortHandle>>,
    next: Cell<u64>,
}

impl NatsResources {
    /// A client with the stores of the cluster and its subscriptions.
    pub(super) async fn furnished(
        (client, role): (Client, Role),
        name: &str,
        stores: Stores,
        subjects: Vec<String>,
        inbox: Inbox,
    ) -> Result<Self, Reason> {
        let Stores { context, keys, stream, objects } = stores;
        let (news, leads) = (news_of(name), format!("onrush.{name}.leads"));
        let own = Rc::new(OwnKeys {
            role,
            client,
            context,
            news,
            leads,
            said: Cell::new((0, 0)),
            keys,
            stream,
            objects,
            inbox,
            is_left: Cell::new(false),
            watcher: RefCell::new(None),
            reader: RefCell::new(None),
            next: Cell::new(0),
        });
        if role == Role::Works {
            own.listen_who_leads().await?;
        }
        for subject in subjects {
            let mut messages = own.client.subscribe(subject).await?;
            let own = own.clone();
            spawn_local(async move {
                while let Some(message) = messages.next().await {
                    own.handle(BusEvent::Message {
                        subject: message.subject.to_string(),
                        payload: message.payload.as_ref().into(),
                        response_to: message.reply.map(|reply| reply.to_string()),
                    });
                }
            });
        }
        own.client.flush().await?;
        Ok(Self(own))
    }

    /// Restarts all reads after the server is connected, or connected again.
    pub(super) fn begin(&self) {
        self.0.handle(BusEvent::Connected);
        end(&self.0.reader);
        let own = self.0.clone();
        let task = match own.role {
            Role::Leads => spawn_local(own.watch()),
            Role::Works => spawn_local(async move {
                own.report_value(LEADER).await;
            }),
        };
        if let Some(earlier) = self.0.watcher.replace(Some(task.abort_handle())) {
            earlier.abort();
        }
    }

    pub(super) fn handle(&self, received: BusEvent) {
        self.0.handle(received);
    }

    /// Whether no more events are wanted.
    pub(super) fn is_left(&self) -> bool {
        self.0.is_left.get()
    }

    /// Publishes an empty message that only a leader may publish; receivers ignore it.
    pub(super) async fn say_nothing(&self) {
        let _ = self.0.client.publish(self.0.leads.clone(), bytes::Bytes::new()).await;
        self.flush().await;
    }

    pub(super) async fn flush(&self) {
        // A server that cannot be reached receives nothing.
        let _ = self.0.client.flush().await;
    }

    /// Carries out a command, concurrently.
    pub(super) fn ask(&self, verb: BusCommand) {
        if let BusCommand::Follow { from } = verb {
            return self.follow(from);
        }
        let own = self.0.clone();
        spawn_local(async move {
            if let Some(received) = own.done(verb).await {
                own.handle(received);
            }
        });
    }

    fn follow(&self, from: u64) {
        let is_read = self.0.reader.borrow().as_ref().is_some_and(|reader| !reader.is_finished());
        // The stream is already being read from there: a restart would only disturb it.
        if is_read && self.0.next.get() == from {
            return self.0.handle(BusEvent::Follows { from });
        }
        end(&self.0.reader);
        self.0.next.set(from);
        let task = spawn_local(self.0.clone().read());
        *self.0.reader.borrow_mut() = Some(task.abort_handle());
    }
}

fn end(task: &RefCell<Option<AbortHandle>>) {
    if let Some(task) = task.take() {
        task.abort();
    }
}

impl OwnKeys {
    fn handle(&self, received: BusEvent) {
        if !(self.inbox)(received) {
            self.is_left.set(true);
        }
    }

    /// Subscribes to the leader's announcements, with its last write; the content is requested from the leader.
    async fn listen_who_leads(self: &Rc<Self>) -> Result<(), Reason> {
        let (own, mut messages) = (self.clone(), self.client.subscribe(self.leads.clone()).await?);
        spawn_local(async move {
            while let Some(message) = messages.next().await {
                let (key, value) = (LEADER.to_owned(), message.payload.as_ref().into());
                own.handle(BusEvent::Changed { key, revision: 0, value });
            }
        });
        Ok(())
    }

    /// Reports the value of a key.
    async fn report_value(&self, key: &str) {
        if let Ok(Some(entry)) = self.keys.entry(key).await
            && entry.operation == Operation::Put
        {
            let (key, revision) = (key.to_owned(), entry.revision);
            self.handle(BusEvent::Changed { key, revision, value: entry.value.as_ref().into() });
        }
    }

    /// Reports the value of each key, now and whenever it changes.
    async fn watch(self: Rc<Self>) {
        loop {
            if let Ok(mut entries) = self.keys.watch_with_history(">").await {
                while let Some(Ok(entry)) = entries.next().await {
                    if entry.operation == Operation::Put {
                        let (key, revision) = (entry.key, entry.revision);
                        self.handle(BusEvent::Changed { key, revision, value: entry.value.as_ref().into() });
                    }
                }
            }
            tokio::time::sleep(AGAIN_AFTER).await;
        }
    }

    /// Reports the entries of the stream, from the next on.
    async fn read(self: Rc<Self>) {
        loop {
            // An interrupted read is resumed where it was.
            let _ = self.read_on().await;
            tokio::time::sleep(AGAIN_AFTER).await;
        }
    }

    async fn read_on(&self) -> Result<(), Reason> {
        let first = self.stream.get_info().await?.state.first_sequence;
        let from = self.next.get().max(first).max(1);
        self.next.set(from);
        self.handle(BusEvent::Follows { from });
        let consumer = self
            .stream
            .create_consumer(pull::OrderedConfig {
                deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: from },
                ..pull::OrderedConfig::default()
            })
            .await?;
        let mut entries = consumer.messages().await?;
        while let Some(entry) = entries.next().await {
            let entry = entry?;
            let place = entry.info()?.stream_sequence;
            self.next.set(place + 1);
            self.handle(BusEvent::Entry { place, payload: entry.payload.as_ref().into() });
        }
        Ok(())
    }

    /// The event that completes a command; `None` when it is lost, or there is none.
    async fn done(&self, verb: BusCommand) -> Option<BusEvent> {
        match verb {
            BusCommand::Publish { subject, payload } => {
                self.client.publish(subject, owned(&payload)).await.ok()?;
                None
            }
            BusCommand::Reply { to, payload } => {
                self.client.publish(to, owned(&payload)).await.ok()?;
                None
            }
            BusCommand::Request { token, subject, payload } => {
                let request = Request::new().payload(owned(&payload)).timeout(Some(RESPONSE_MAX));
                let response = match self.client.send_request(subject, request).await {
                    Ok(message) => Ok(message.payload.as_ref().into()),
                    Err(error) if error.kind() == RequestErrorKind::NoResponders => Err(Refused::Nobody),
                    Err(_) => return None,
                };
                Some(BusEvent::Answered { token, response })
            }
            BusCommand::Get { token, key } => {
                let entry = self.keys.entry(key.clone()).await.ok()?;
                let value = entry.filter(|entry| entry.operation == Operation::Put);
                let value = value.map(|entry| (entry.revision, entry.value.as_ref().into()));
                Some(BusEvent::Got { token, key, value })
            }
            BusCommand::Put { token, key, revision, value } => {
                let result = self.put(&key, revision, owned(&value)).await?;
                if key == LEADER && result.is_ok() {
                    self.say_who_leads(&value).await;
                }
                Some(BusEvent::Written { token, result })
            }
            BusCommand::Append { token, name, payload } => {
                let result = self.append(&name, owned(&payload)).await?;
                Some(BusEvent::Appended { token, result })
            }
            // Handled by the caller.
            BusCommand::Follow { .. } => None,
            BusCommand::Forget { upto } => {
                // What is not purged now is purged with the next call.
                let _ = self.stream.purge().sequence(upto + 1).await;
                None
            }
            BusCommand::Store { token, name, object } => {
                let stored = self.objects.put(name.as_str(), &mut &object[..]).await;
                let result = stored.map(drop).map_err(|error| Refused::Other(error.to_string()));
                Some(BusEvent::Stored { token, result })
            }
            BusCommand::Drop { name } => {
                // What is not deleted now is deleted with the rest.
                let _ = self.objects.delete(&name).await;
                None
            }
            BusCommand::Fetch { token, name } => Some(BusEvent::Fetched { token, object: self.fetched(&name).await? }),
        }
    }

    /// Fetches a large object; `Some(None)`: it does not exist. It is requested chunk by chunk, which needs no consumer
    /// on the server: many workers request it at the same time.
    async fn fetched(&self, name: &str) -> Option<Option<Bytes>> {
        match self.objects.info(name).await {
            Ok(info) if info.chunks > 0 && !info.deleted => {
                let stream = self.context.get_stream_no_info(format!("OBJ_{}", info.bucket)).await.ok()?;
                let chunk = format!("$O.{}.C.{}", info.bucket, info.nuid);
                let (mut bytes, mut after) = (Vec::with_capacity(info.size), 0);
                for number in 1..=info.chunks {
                    match stream.direct_get_next_for_subject(chunk.as_str(), Some(after + 1)).await {
                        Ok(message) => {
                            after = message.sequence;
                            bytes.extend_from_slice(&message.payload);
                        }
                        // The object was replaced meanwhile.
                        Err(error) if error.kind() == DirectGetErrorKind::NotFound => break,
                        Err(_) => return None,
                    }
                    if number == info.chunks {
                        return Some(Some(bytes.into()));
                    }
                }
            }
            Ok(_) => {}
            Err(error) if error.kind() == InfoErrorKind::NotFound => return Some(None),
            Err(_) => return None,
        }
        let mut object = match self.objects.get(name).await {
            Ok(object) => object,
            Err(error) if error.kind() == GetErrorKind::NotFound => return Some(None),
            Err(_) => return None,
        };
        let (mut bytes, mut piece) = (Vec::new(), vec![0; PIECE_BYTES]);
        loop {
            match object.read(&mut piece).await {
                Ok(0) => break Some(Some(bytes.into())),
                Ok(count) => bytes.extend_from_slice(&piece[..count]),
                // A damaged object is as good as a missing one.
                Err(_) => break Some(None),
            }
        }
    }

    async fn put(&self, key: &str, revision: Option<u64>, value: bytes::Bytes) -> Option<Result<u64, Refused>> {
        let other = |reason: String| Err(Refused::Other(reason));
        Some(match revision {
            None => self.keys.put(key, value).await.or_else(|error| other(error.to_string())),
            Some(0) => match self.keys.create(key, value).await {
                Ok(revision) => Ok(revision),
                Err(error) if error.kind() == CreateErrorKind::AlreadyExists => Err(Refused::Conflict),
                Err(error) => other(error.to_string()),
            },
            Some(known) => match self.keys.update(key, value, known).await {
                Ok(revision) => Ok(revision),
                Err(error) => match error.kind() {
                    UpdateErrorKind::WrongLastRevision => Err(Refused::Conflict),
                    // It is unknown whether it was written.
                    UpdateErrorKind::TimedOut => return None,
                    _ => other(error.to_string()),
                },
            },
        })
    }

    /// Publishes the lease to workers when the leader changes, or a newer state is written.
    async fn say_who_leads(&self, value: &Bytes) {
        let Some(lease) = Lease::read(value) else { return };
        let says = (lease.epoch, lease.written);
        if self.said.replace(says) != says {
            // A worker that misses it reads the key.
            let _ = self.client.publish(self.leads.clone(), owned(value)).await;
        }
    }

    async fn append(&self, name: &str, payload: bytes::Bytes) -> Option<Result<u64, Refused>> {
        // A name consists of the run, the worker, its incarnation, and the number of the batch.
        let who = name.split('.').nth(1).unwrap_or("nobody");
        let subject = format!("{}.{who}", self.news);
        let message = PublishMessage::build().payload(payload).message_id(name);
        let stored = match self.context.send_publish(subject, message).await {
            Ok(sent) => tokio::time::timeout(RESPONSE_MAX, sent.into_future()).await.ok()?,
            Err(error) => Err(error),
        };
        match stored {
            Ok(stored) => Some(Ok(stored.sequence)),
            Err(error) if error.kind() == PublishErrorKind::TimedOut => None,
            Err(error) => Some(Err(refused(&error))),
        }
    }
}

fn refused(error: &PublishError) -> Refused {
    let source = error.source().and_then(|source| source.downcast_ref::<jetstream::Error>());
    match source {
        Some(source) if source.error_code() == ErrorCode::STREAM_STORE_FAILED => Refused::Full,
        _ => Refused::Other(error.to_string()),
    }
}

fn owned(bytes: &Bytes) -> bytes::Bytes {
    bytes::Bytes::copy_from_slice(bytes)
}
