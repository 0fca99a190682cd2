//! The stores of a cluster on a NATS server: keys, a stream of worker reports, and large objects.

use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::context::GetStreamErrorKind;
use async_nats::jetstream::kv;
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{self, DiscardPolicy, StorageType, Stream};
use async_nats::jetstream::{self, Context, ErrorCode};

/// The time after which a request without a response is lost.
pub(super) const RESPONSE_MAX: Duration = Duration::from_secs(5);
/// How long worker reports and packets are kept: longer than a run takes.
const KEPT_FOR: Duration = Duration::from_hours(7 * 24);
/// The most bytes of worker reports that are kept: with a thousand workers, more than ten minutes.
const STREAM_BYTES_MAX: i64 = 1 << 30;
/// An entry with a known name counts once within this time; readers count each once in any case.
const NAMES_KNOWN_FOR: Duration = Duration::from_mins(2);

pub(super) type Reason = Box<dyn std::error::Error + Send + Sync>;

/// The stores of a cluster.
pub(super) struct Stores {
    pub(super) context: Context,
    pub(super) keys: kv::Store,
    pub(super) stream: Stream,
    pub(super) objects: ObjectStore,
}

impl Stores {
    /// Opens existing stores.
    pub(super) async fn found(client: &Client, name: &str) -> Result<Self, Reason> {
        let mut context = jetstream::new(client.clone());
        context.set_timeout(RESPONSE_MAX);
        let keys = context.get_key_value(keys_of(name)).await?;
        let stream = context.get_stream(stream_of(name)).await?;
        let objects = context.get_object_store(packets_of(name)).await?;
        Ok(Self { context, keys, stream, objects })
    }

    /// Opens the stores and creates missing ones; the first client does. Each is stored by `replicas` servers.
    pub(super) async fn open(client: &Client, name: &str, replicas: usize) -> Result<Self, Reason> {
        let mut context = jetstream::new(client.clone());
        context.set_timeout(RESPONSE_MAX);
        let bucket = keys_of(name);
        let keys = match context.get_key_value(&bucket).await {
            Ok(keys) => keys,
            Err(_) => {
                let config = kv::Config {
                    bucket,
                    history: 1,
                    storage: StorageType::File,
                    num_replicas: replicas,
                    ..kv::Config::default()
                };
                context.create_key_value(config).await?
            }
        };
        let stream = context
            .get_or_create_stream(stream::Config {
                name: stream_of(name),
                subjects: vec![format!("{}.*", news_of(name))],
                discard: DiscardPolicy::New,
                max_bytes: STREAM_BYTES_MAX,
                max_age: KEPT_FOR,
                storage: StorageType::File,
                duplicate_window: NAMES_KNOWN_FOR,
                num_replicas: replicas,
                ..stream::Config::default()
            })
            .await?;
        let bucket = packets_of(name);
        let objects = match context.get_object_store(&bucket).await {
            Ok(objects) => objects,
            Err(_) => {
                let config = object_store::Config {
                    bucket,
                    max_age: KEPT_FOR,
                    storage: StorageType::File,
                    num_replicas: replicas,
                    ..object_store::Config::default()
                };
                context.create_object_store(config).await?
            }
        };
        Ok(Self { context, keys, stream, objects })
    }
}

/// Whether the last store of a cluster does not exist yet, as far as can be seen.
async fn is_missing(client: &Client, name: &str) -> bool {
    let context = jetstream::new(client.clone());
    let packets = context.get_stream(format!("OBJ_{}", packets_of(name))).await;
    let is_unknown = |error: &jetstream::Error| error.error_code() == ErrorCode::STREAM_NOT_FOUND;
    packets.is_err_and(|error| matches!(error.kind(), GetStreamErrorKind::JetStream(reason) if is_unknown(&reason)))
}

/// Waits until the stores exist.
pub(super) async fn wait_for(client: &Client, name: &str, often: Duration) {
    while is_missing(client, name).await {
        tokio::time::sleep(often).await;
    }
}

/// Removes the stores of a cluster.
pub(super) async fn forget(client: &Client, name: &str) {
    let context = jetstream::new(client.clone());
    for stream in [format!("KV_{}", keys_of(name)), stream_of(name), format!("OBJ_{}", packets_of(name))] {
        let _ = context.delete_stream(stream).await;
    }
}

/// The bucket of the keys of a cluster, the stream of worker reports, and the bucket of packets.
fn keys_of(name: &str) -> String {
    format!("onrush_{name}")
}

fn stream_of(name: &str) -> String {
    format!("onrush_{name}_news")
}

fn packets_of(name: &str) -> String {
    format!("onrush_{name}_packets")
}

/// The subject prefix of worker reports.
pub(super) fn news_of(name: &str) -> String {
    format!("onrush.{name}.news")
}
