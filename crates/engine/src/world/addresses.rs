//! Measurements by address, where a name has several: of each connection, and of each attempt on it.

use driver::{Peer, Socket};
use metrics::{AddressSlots, Class, Outcome};

use super::ScenarioRuntime;
use super::connections::{LAST_ENDPOINT, NO_SLOT};
use super::exchanges::Attempt;

/// The addresses that are counted apart.
#[derive(Default)]
pub(super) struct AddressCounts {
    pub(super) are_counted: bool,
    slots: AddressSlots,
}

impl ScenarioRuntime {
    /// The slot of the address of a connection that is opened; it is counted there.
    pub(super) fn slot_of_address(&mut self, origin: usize, to: &Peer) -> u8 {
        let is_one = self.pool.origins[origin].turns.is_one();
        let Some(address) = to.ip().filter(|_| self.pool.addresses.are_counted || !is_one) else { return NO_SLOT };
        self.pool.addresses.are_counted = true;
        let slots: &mut AddressSlots = &mut self.pool.addresses.slots;
        let slot = slots.slot(address);
        self.seen.by_address.at(slot, slots).tried += 1;
        slot
    }

    /// The slot of the address of a connection.
    pub(super) fn slot_of(&mut self, socket: Socket) -> u8 {
        let Some(connection) = self.pool.connections.find(socket) else { return NO_SLOT };
        let (origin, endpoint) = (usize::from(connection.origin), connection.endpoint);
        let address = self.pool.origins[origin].turns.endpoint(endpoint.into()).filter(|_| endpoint < LAST_ENDPOINT);
        address.map_or(NO_SLOT, |address| self.pool.addresses.slots.slot(address))
    }

    /// A connection is established.
    #[inline]
    pub(super) fn count_established(&mut self, socket: Socket) {
        if self.pool.addresses.are_counted {
            self.count_established_at_address(socket);
        }
    }

    #[cold]
    fn count_established_at_address(&mut self, socket: Socket) {
        let slot = self.slot_of(socket);
        if slot != NO_SLOT {
            self.seen.by_address.at(slot, &self.pool.addresses.slots).established += 1;
        }
    }

    /// A measured exchange ended on this attempt.
    #[inline(never)]
    pub(super) fn count_address(&mut self, attempt: Option<&Attempt>, outcome: Outcome, response_ns: u64) {
        let Some(attempt) = attempt.filter(|attempt| attempt.slot != NO_SLOT) else { return };
        let tally = self.seen.by_address.at(attempt.slot, &self.pool.addresses.slots);
        let is_answered = matches!(Class::from_outcome(outcome), Class::Succeeded | Class::FailedAnswered);
        tally.sent += u64::from(attempt.was_sent());
        tally.answered += u64::from(is_answered);
        tally.failed += u64::from(outcome != Outcome::Succeeded);
        tally.response.record(response_ns);
    }

    /// A measured attempt ended, and its exchange did not, or is incomplete.
    #[cold]
    pub(super) fn count_sent_to_address(&mut self, attempt: &Attempt) {
        if attempt.slot != NO_SLOT && attempt.was_sent() {
            self.seen.by_address.at(attempt.slot, &self.pool.addresses.slots).sent += 1;
        }
    }
}
