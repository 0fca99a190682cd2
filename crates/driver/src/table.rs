//! Sockets by index and generation: a stale [`Socket`] finds nothing.

use crate::Socket;

/// Generations fit into the user data of a completion and into the token of a poller, next to the other contents.
pub(crate) const GENERATION_MASK: u32 = 0x00ff_ffff;

/// Entries per page. A table grows page by page: a vector that doubles leaves its halves behind, and a million sockets
/// would pay for two.
const PAGE: usize = 512;

pub(crate) struct SocketTable<T> {
    /// Pages; each but the last is full.
    pages: Vec<Vec<(u32, Option<T>)>>,
    free: Vec<u32>,
}

impl<T> Default for SocketTable<T> {
    fn default() -> Self {
        Self { pages: Vec::new(), free: Vec::new() }
    }
}

impl<T> SocketTable<T> {
    pub(crate) fn insert(&mut self, entry: T) -> Socket {
        if let Some(index) = self.free.pop() {
            let (generation, place) = &mut self.pages[index as usize / PAGE][index as usize % PAGE];
            *place = Some(entry);
            return Socket { index, generation: *generation };
        }
        if self.pages.last().is_none_or(|page| page.len() == PAGE) {
            self.pages.push(Vec::with_capacity(PAGE));
        }
        let full = (self.pages.len() - 1) * PAGE;
        let page = self.pages.last_mut().expect("a page was just seen to");
        let index = u32::try_from(full + page.len()).expect("sockets are fewer than 2^32");
        page.push((0, Some(entry)));
        Socket { index, generation: 0 }
    }

    #[inline]
    fn place(&mut self, index: u32) -> Option<&mut (u32, Option<T>)> {
        self.pages.get_mut(index as usize / PAGE)?.get_mut(index as usize % PAGE)
    }

    #[inline]
    pub(crate) fn find(&mut self, socket: Socket) -> Option<&mut T> {
        match self.place(socket.index) {
            Some((generation, entry)) if *generation == socket.generation => entry.as_mut(),
            _ => None,
        }
    }

    /// The current owner of a position, if its generation has these lower bits.
    pub(crate) fn owner(&mut self, index: u32, generation: u32, mask: u32) -> Option<Socket> {
        let (current, entry) = self.place(index)?;
        let is_it = entry.is_some() && *current & mask == generation & mask;
        is_it.then_some(Socket { index, generation: *current })
    }

    pub(crate) fn remove(&mut self, socket: Socket) -> Option<T> {
        let (generation, place) = self.place(socket.index)?;
        if *generation != socket.generation {
            return None;
        }
        let entry = place.take()?;
        *generation = (*generation + 1) & GENERATION_MASK;
        self.free.push(socket.index);
        Some(entry)
    }
}
