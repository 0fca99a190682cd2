//! Sockets by index and generation: a stale [`Socket`] finds nothing.

use crate::Socket;

/// Generations fit into the user data of a completion and into the token of a poller, beside what else stands there.
pub(crate) const GENERATION_MASK: u32 = 0x00ff_ffff;

pub(crate) struct Table<T> {
    entries: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T> Table<T> {
    pub(crate) fn insert(&mut self, entry: T) -> Socket {
        if let Some(index) = self.free.pop() {
            let (generation, place) = &mut self.entries[index as usize];
            *place = Some(entry);
            return Socket { index, generation: *generation };
        }
        let index = u32::try_from(self.entries.len()).expect("sockets are fewer than 2^32");
        self.entries.push((0, Some(entry)));
        Socket { index, generation: 0 }
    }

    #[inline]
    pub(crate) fn find(&mut self, socket: Socket) -> Option<&mut T> {
        match self.entries.get_mut(socket.index as usize) {
            Some((generation, entry)) if *generation == socket.generation => entry.as_mut(),
            _ => None,
        }
    }

    pub(crate) fn remove(&mut self, socket: Socket) -> Option<T> {
        self.find(socket)?;
        let (generation, place) = &mut self.entries[socket.index as usize];
        *generation = (*generation + 1) & GENERATION_MASK;
        self.free.push(socket.index);
        place.take()
    }
}
