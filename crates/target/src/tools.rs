//! Shared resources of a thread's connections: timers, spare buffers, random numbers, and counters.

use std::sync::Arc;

use driver::{Outgoing, Socket, Sockets, Template};
use engine::timers::Timers;
use pacing::{Nanos, Random};
use protocol::Protocol;
use wire::hpack::FieldList;
use wire::websocket::{Deflater, Kind, Scratch};

use crate::Shared;
use crate::behavior::{Agreed, Behavior};
use crate::gates::Gates;
use crate::paths::CountedPath;
use crate::respond::{self, Manner};
use crate::rooms::{RoomDelivery, RoomMember, RoomMessage};
use crate::service::CustomService;
use crate::shop::{Seen, Shop, ShopThread};
use crate::stats::Stats;

/// Maximum number of retained buffers.
const SPARE_MAX: usize = 256;
/// A buffer that grew beyond this for one response is not retained.
const SPARE_BYTES_MAX: usize = 64 * 1024;

/// Shared resources of all connections of a thread.
pub(crate) struct Tools {
    pub(crate) timers: Timers<Socket>,
    pub(crate) block: Arc<[u8]>,
    pub(crate) shared: Arc<Shared>,
    index: usize,
    pub(crate) random: Random,
    /// Accumulated failures of `/fail`, in thousandths of a percent.
    failures_due: u32,
    /// Whether requested freezes are performed: by the thread itself, or by the owner that steps it.
    pub(crate) can_freeze: bool,
    /// Whether the connection being handled has requested a freeze.
    pub(crate) asks_freeze: bool,
    /// Whether it has a thread of its own, which may sleep.
    pub(crate) can_sleep: bool,
    spare: Vec<Vec<u8>>,
    /// The response to a plain GET of `/`, rendered once.
    root: Template,
    pub(crate) root_bytes: Arc<[u8]>,
    /// Decrypted bytes and request fields, for the time of a call.
    pub(crate) plain: Vec<u8>,
    pub(crate) fields: FieldList,
    pub(crate) scratch: Scratch,
    /// The service of a server with a custom protocol.
    pub(crate) custom: Option<CustomService>,
    shop_thread: ShopThread,
    /// One compressor for each window that clients allow.
    deflaters: Vec<(u8, Deflater)>,
}

impl Tools {
    pub(crate) fn new(sockets: &mut dyn Sockets, shared: Arc<Shared>, index: usize) -> Self {
        let mut root = Vec::new();
        let manner = Manner { is_head: false, close: false, is_old: false };
        respond::whole(manner, 200, &respond::Kind::new("text/plain"), respond::ROOT_BODY, &mut root);
        let root_bytes: Arc<[u8]> = root.into();
        Self {
            timers: Timers::default(),
            block: respond::block(),
            random: Random::for_stream(shared.behavior.seed, index as u64),
            shop_thread: ShopThread::new(shared.secret, index),
            custom: shared.protocol.and_then(Protocol::serve).map(CustomService::new),
            shared,
            index,
            failures_due: 0,
            can_freeze: false,
            asks_freeze: false,
            can_sleep: false,
            spare: Vec::new(),
            root: sockets.register(root_bytes.clone()),
            root_bytes,
            plain: Vec::new(),
            fields: FieldList::default(),
            scratch: Scratch::default(),
            deflaters: Vec::new(),
        }
    }

    pub(crate) fn stats(&self) -> &Stats {
        &self.shared.stats[self.index]
    }

    pub(crate) fn stats_json(&self) -> String {
        crate::stats::to_json(&self.shared.stats, &self.shared.shop.sessions)
    }

    pub(crate) fn books_json(&self) -> String {
        crate::stats::books_json(&self.shared.stats, &self.shared.shop.books)
    }

    pub(crate) fn conns_json(&self) -> String {
        crate::stats::conns_json(&self.shared.stats)
    }

    pub(crate) fn agreed(&self) -> &Agreed {
        &self.shared.agreed
    }

    pub(crate) fn gates(&self) -> &Gates {
        &self.shared.gates
    }

    pub(crate) fn behavior(&self) -> &Behavior {
        &self.shared.behavior
    }

    /// The shop, for one request that arrived at the instant `now`.
    pub(crate) fn shop(&mut self, path: CountedPath, now: Nanos) -> Shop<'_> {
        let (is_secure, unix_start) = (self.shared.tls.is_some(), self.shared.unix_start);
        let (shop_thread, state) = (&mut self.shop_thread, &self.shared.shop);
        Shop { shop_thread, state, path, now, unix_start, is_secure, seen: Seen::default() }
    }

    pub(crate) fn enter_room(&self, room: u32, socket: Socket) {
        self.shared.rooms.enter(room, RoomMember { thread: self.index, socket });
    }

    pub(crate) fn leave_room(&self, room: u32, socket: Socket) {
        self.shared.rooms.leave(room, RoomMember { thread: self.index, socket });
    }

    /// Sends a message to all in a room.
    pub(crate) fn send_to_room(&self, room: u32, kind: Kind, bytes: &[u8]) {
        let sent = self.shared.rooms.send(room, self.index, RoomMessage { kind, bytes: bytes.into() });
        self.stats().room_messages_dropped.add(sent.dropped);
        if sent.wakes_others {
            self.wake_all();
        }
    }

    /// Messages in rooms for connections of this thread.
    pub(crate) fn room_deliveries(&self) -> Vec<RoomDelivery> {
        self.shared.rooms.take(self.index)
    }

    /// Wakes every thread of the server.
    pub(crate) fn wake_all(&self) {
        self.shared.wake_all();
    }

    /// Whether the next response fails, so that `share` of 100,000 do, evenly spread.
    pub(crate) fn fails(&mut self, share: u32) -> bool {
        self.failures_due += share;
        let fails = self.failures_due >= 100_000;
        self.failures_due -= if fails { 100_000 } else { 0 };
        fails
    }

    /// The compressor for a window.
    pub(crate) fn deflater(&mut self, bits: u8) -> &mut Deflater {
        let place = self.deflaters.iter().position(|(known, _)| *known == bits).unwrap_or_else(|| {
            self.deflaters.push((bits, Deflater::with_window(bits)));
            self.deflaters.len() - 1
        });
        &mut self.deflaters[place].1
    }

    pub(crate) fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    pub(crate) fn give_back(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < SPARE_MAX && buffer.capacity() <= SPARE_BYTES_MAX {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    pub(crate) fn root(&self) -> Outgoing {
        Outgoing::Template(self.root, 0..self.root_bytes.len())
    }
}
