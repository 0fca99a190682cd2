//! Measurements by address, where a name has several: of each connection, and of each attempt on it.

use driver::Socket;
use metrics::{AddressSlots, Class, Outcome};

use crate::scenario_runtime::Origin;
use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::exchanges::{Attempt, Exchange, NO_ADDRESS_SLOT};
use crate::slab::Key;

/// The addresses that are counted apart.
#[derive(Default)]
pub(in crate::scenario_runtime) struct AddressCounts {
    /// The connections to some origin have several endpoints, or may get others.
    pub(in crate::scenario_runtime) rotate: bool,
    are_counted: bool,
    slots: AddressSlots,
}

impl AddressCounts {
    pub(in crate::scenario_runtime) fn of(origins: &[Origin]) -> Self {
        Self { rotate: origins.iter().any(|origin| origin.turns.single().is_none()), ..Self::default() }
    }

    /// There is more than one, or was.
    pub(in crate::scenario_runtime) fn are_counted(&self) -> bool {
        self.are_counted
    }
}

impl ScenarioRuntime {
    /// A connection to an endpoint is tried. From the second address of a name on they are counted apart.
    pub(in crate::scenario_runtime) fn count_tried(&mut self, origin: usize, endpoint: u16) {
        let turns = &mut self.pool.origins[origin].turns;
        if !self.pool.addresses.are_counted && turns.is_one() {
            return;
        }
        self.pool.addresses.are_counted = true;
        let slots = &mut self.pool.addresses.slots;
        if let Some(slot) = turns.slot(endpoint, slots) {
            self.unreported.by_address.at(slot, slots).tried += 1;
        }
    }

    /// A connection was opened at the endpoint whose turn it was.
    #[inline(never)]
    pub(in crate::scenario_runtime) fn note_endpoint(&mut self, socket: Socket, origin: u16) {
        let endpoint = self.pool.origins[usize::from(origin)].turns.last();
        if let Some(connection) = self.pool.connections.find(socket) {
            connection.goes_to(endpoint);
        }
    }

    /// An attempt of an exchange is on this connection.
    #[inline(never)]
    pub(in crate::scenario_runtime) fn note_address(&mut self, exchange: Key, socket: Socket) {
        let slot = self.slot_of(socket).unwrap_or(NO_ADDRESS_SLOT);
        if let Some(exchange) = self.in_flight.exchanges.find(exchange) {
            exchange.address_slot = slot;
        }
    }

    /// The slot of the address of a connection.
    fn slot_of(&mut self, socket: Socket) -> Option<u8> {
        if !self.pool.addresses.are_counted {
            return None;
        }
        let (origin, endpoint) = self.pool.connections.find(socket)?.place();
        self.pool.origins[usize::from(origin)].turns.slot(endpoint?, &mut self.pool.addresses.slots)
    }

    /// A connection is established.
    #[inline(never)]
    pub(in crate::scenario_runtime) fn count_established(&mut self, socket: Socket) {
        if let Some(slot) = self.slot_of(socket) {
            self.unreported.by_address.at(slot, &self.pool.addresses.slots).established += 1;
        }
    }

    /// A measured exchange ended.
    #[inline(never)]
    pub(in crate::scenario_runtime) fn count_address(
        &mut self,
        exchange: &Exchange,
        attempt: Option<&Attempt>,
        outcome: Outcome,
        response_ns: u64,
    ) {
        let Some(attempt) = attempt.filter(|_| exchange.address_slot != NO_ADDRESS_SLOT) else { return };
        let tally = self.unreported.by_address.at(exchange.address_slot, &self.pool.addresses.slots);
        let is_answered = matches!(Class::from_outcome(outcome), Class::Succeeded | Class::FailedAnswered);
        tally.sent += u64::from(attempt.was_sent());
        tally.answered += u64::from(is_answered);
        tally.failed += u64::from(outcome != Outcome::Succeeded);
        tally.response.record(response_ns);
    }

    /// A measured attempt on the address of this slot ended, and its exchange did not, or is incomplete.
    #[cold]
    pub(in crate::scenario_runtime) fn count_sent_to_address(&mut self, slot: u8, attempt: &Attempt) {
        if slot != NO_ADDRESS_SLOT && attempt.was_sent() {
            self.unreported.by_address.at(slot, &self.pool.addresses.slots).sent += 1;
        }
    }
}
