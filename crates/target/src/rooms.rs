//! Rooms: what one WebSocket connection on `/room/N` sends goes to all in the room, to itself as well, and to all in the
//! same order.
//!
//! Members of a room may belong to different threads. A message goes into the inbox of each thread that has some, and
//! that thread sends it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use driver::Socket;
use wire::websocket::Kind;

/// Maximum number of deliveries that wait for a thread. A thread that is frozen gets no more.
const INBOX_MAX: usize = 1 << 20;

/// A message that a member has sent.
#[derive(Debug)]
pub(crate) struct RoomMessage {
    pub(crate) kind: Kind,
    pub(crate) bytes: Box<[u8]>,
}

/// A message for one connection of a thread.
#[derive(Debug)]
pub(crate) struct RoomDelivery {
    pub(crate) socket: Socket,
    pub(crate) message: Arc<RoomMessage>,
}

/// A connection of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoomMember {
    /// The index of its thread.
    pub(crate) thread: usize,
    pub(crate) socket: Socket,
}

/// The result of sending a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RoomSent {
    /// Whether other threads have to be woken.
    pub(crate) wakes_others: bool,
    /// Number of members that will not get it.
    pub(crate) dropped: u64,
}

/// What waits for a thread.
#[derive(Default)]
struct Inbox {
    has_any: AtomicBool,
    deliveries: Mutex<Vec<RoomDelivery>>,
}

/// The rooms of a server.
pub(crate) struct Rooms {
    known: Mutex<HashMap<u32, Vec<RoomMember>>>,
    inboxes: Box<[Inbox]>,
}

impl Rooms {
    pub(crate) fn new(threads: usize) -> Self {
        let inboxes = std::iter::repeat_with(Inbox::default).take(threads).collect();
        Self { known: Mutex::default(), inboxes }
    }

    pub(crate) fn enter(&self, room: u32, member: RoomMember) {
        self.lock().entry(room).or_default().push(member);
    }

    pub(crate) fn leave(&self, room: u32, member: RoomMember) {
        let mut known = self.lock();
        if let Some(members) = known.get_mut(&room) {
            members.retain(|known| *known != member);
            if members.is_empty() {
                known.remove(&room);
            }
        }
    }

    /// Sends a message of a thread to all in a room.
    pub(crate) fn send(&self, room: u32, thread: usize, message: RoomMessage) -> RoomSent {
        let (message, mut sent) = (Arc::new(message), RoomSent::default());
        // The lock gives all members the same order.
        let known = self.lock();
        for member in known.get(&room).into_iter().flatten() {
            let inbox = &self.inboxes[member.thread];
            let mut deliveries = inbox.deliveries.lock().expect("no holder of the lock panics");
            if deliveries.len() >= INBOX_MAX {
                sent.dropped += 1;
                continue;
            }
            deliveries.push(RoomDelivery { socket: member.socket, message: message.clone() });
            inbox.has_any.store(true, Ordering::Release);
            sent.wakes_others |= member.thread != thread;
        }
        sent
    }

    /// Takes what waits for a thread.
    #[inline]
    pub(crate) fn take(&self, thread: usize) -> Vec<RoomDelivery> {
        let inbox = &self.inboxes[thread];
        if !inbox.has_any.load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut deliveries = inbox.deliveries.lock().expect("no holder of the lock panics");
        inbox.has_any.store(false, Ordering::Relaxed);
        std::mem::take(&mut deliveries)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u32, Vec<RoomMember>>> {
        self.known.lock().expect("no holder of the lock panics")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(thread: usize, index: u32) -> RoomMember {
        RoomMember { thread, socket: Socket { index, generation: 1 } }
    }

    fn message(text: &str) -> RoomMessage {
        RoomMessage { kind: Kind::Text, bytes: text.as_bytes().into() }
    }

    fn taken(rooms: &Rooms, thread: usize) -> Vec<(u32, Vec<u8>)> {
        let all = rooms.take(thread).into_iter();
        all.map(|delivery| (delivery.socket.index, delivery.message.bytes.to_vec())).collect()
    }

    #[test]
    fn all_in_a_room_get_its_messages_in_one_order() {
        let rooms = Rooms::new(2);
        for (room, member) in [(7, member(0, 1)), (7, member(1, 1)), (7, member(0, 2)), (8, member(1, 2))] {
            rooms.enter(room, member);
        }
        assert_eq!(rooms.send(7, 0, message("a")), RoomSent { wakes_others: true, dropped: 0 });
        assert_eq!(rooms.send(7, 1, message("b")), RoomSent { wakes_others: true, dropped: 0 });
        assert_eq!(rooms.send(8, 1, message("c")), RoomSent { wakes_others: false, dropped: 0 });
        assert_eq!(rooms.send(9, 1, message("d")), RoomSent::default());
        let all = |expected: &[(u32, &str)]| -> Vec<(u32, Vec<u8>)> {
            expected.iter().map(|(index, text)| (*index, text.as_bytes().to_vec())).collect()
        };
        assert_eq!(taken(&rooms, 0), all(&[(1, "a"), (2, "a"), (1, "b"), (2, "b")]));
        assert_eq!(taken(&rooms, 1), all(&[(1, "a"), (1, "b"), (2, "c")]));
        assert_eq!(taken(&rooms, 1), all(&[]));
    }

    #[test]
    fn who_has_left_gets_nothing() {
        let rooms = Rooms::new(1);
        rooms.enter(7, member(0, 1));
        rooms.enter(7, member(0, 2));
        rooms.leave(7, member(0, 1));
        rooms.leave(7, member(0, 3));
        rooms.send(7, 0, message("a"));
        assert_eq!(taken(&rooms, 0), [(2, b"a".to_vec())]);
        rooms.leave(7, member(0, 2));
        assert!(rooms.lock().is_empty());
    }

    #[test]
    fn a_full_inbox_takes_no_more() {
        let rooms = Rooms::new(1);
        rooms.enter(7, member(0, 1));
        let dropped: u64 = (0..INBOX_MAX + 3).map(|_| rooms.send(7, 0, message("")).dropped).sum();
        assert_eq!((dropped, rooms.take(0).len()), (3, INBOX_MAX));
    }
}
