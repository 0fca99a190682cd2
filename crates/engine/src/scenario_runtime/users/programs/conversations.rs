//! Conversations that have their own connection, which is closed in order at their end, or when the iteration ends
//! inside them. A message for which the step does not wait is skipped (`messaging/skipped_messages.rs`): the exchange keeps
//! waiting until its time is over.

use driver::Sockets;

use crate::program::OpenConversation;
use crate::scenario_runtime::ScenarioRuntime;

impl ScenarioRuntime {
    /// A conversation begins: a connection that has served other exchanges before it is closed. One that was only
    /// opened is as good as new.
    pub(super) fn enter_conversation(&mut self, user: u32, target: u16, sockets: &mut dyn Sockets) {
        self.leave_used(user, target, sockets);
        if let Some(place) = self.users.programs.place(user) {
            place.conversations.push(OpenConversation { target, was_there: false });
        }
    }

    /// A conversation ends.
    pub(super) fn leave_conversation(&mut self, user: u32, target: u16, sockets: &mut dyn Sockets) {
        if let Some(place) = self.users.programs.place(user) {
            place.conversations.pop();
        }
        self.leave_unless_over(user, target, sockets);
    }

    /// The connection of the innermost conversation of a user is established.
    pub(in crate::scenario_runtime) fn conversation_is_open(&mut self, user: u32) {
        if let Some(messaging) = self.users.programs.place(user).and_then(|place| place.conversations.last_mut()) {
            messaging.was_there = true;
        }
    }

    /// The conversation that a step belongs to has lost its connection. A step that is retried may open another one.
    pub(in crate::scenario_runtime) fn conversation_is_lost(&mut self, user: u32, origin: u16) -> bool {
        let Some(place) = self.users.programs.place(user).filter(|place| place.tries == 0) else { return false };
        let was_there =
            place.conversations.last().is_some_and(|messaging| messaging.target == origin && messaging.was_there);
        was_there && !self.has_own(user, origin)
    }

    /// What is tried again in a conversation whose connection is lost opens another one.
    pub(super) fn forget_lost_conversation(&mut self, user: u32) {
        let innermost = self.users.programs.place(user).and_then(|place| place.conversations.last().copied());
        let Some(lost) = innermost.filter(|one| !self.has_own(user, one.target)) else { return };
        if let Some(one) = self.users.programs.place(user).and_then(|place| place.conversations.last_mut()) {
            debug_assert!(one.target == lost.target, "it is the same one");
            one.was_there = false;
        }
    }

    /// The iteration ends within conversations.
    pub(super) fn leave_conversations(&mut self, user: u32, sockets: &mut dyn Sockets) {
        self.leave_inner_conversations(user, usize::MAX, sockets);
    }

    /// Leaves this many of the innermost conversations.
    pub(super) fn leave_inner_conversations(&mut self, user: u32, count: usize, sockets: &mut dyn Sockets) {
        for _ in 0..count {
            let innermost = self.users.programs.place(user).and_then(|place| place.conversations.pop());
            let Some(messaging) = innermost else { return };
            self.leave_unless_over(user, messaging.target, sockets);
        }
    }

    /// A conversation has ended. At the end of a run all peers are notified together; a start that waited for its user
    /// may still begin another one there.
    fn leave_unless_over(&mut self, user: u32, target: u16, sockets: &mut dyn Sockets) {
        if !self.users.budget.is_over {
            self.leave_used(user, target, sockets);
        }
    }

    /// Closes the connections of a user to a target with a handshake.
    fn leave_used(&mut self, user: u32, target: u16, sockets: &mut dyn Sockets) {
        if self.is_shared_by_all(target) {
            return;
        }
        let mut new = Vec::new();
        while let Some(socket) = self.take_own(user, target) {
            if self.pool.connections.find(socket).is_some_and(|connection| connection.is_reused) {
                self.close_unneeded(socket, sockets);
            } else {
                new.push(socket);
            }
        }
        new.into_iter().for_each(|socket| self.keep_own(user, target, socket));
    }
}
