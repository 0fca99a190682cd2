//! Messages on held connections: when each is sent, and what.

use driver::{Outgoing, Sockets};
use metrics::HeldCounter;
use pacing::Nanos;
use plan::{HoldWork, Protocol};
use wire::connection::{ALONE, ExchangeStart, Payload, ProtocolConnection};

use super::runtime::{HoldRuntime, Phase, Wake};
use crate::messaging::Expects;

/// A message sent later than this was delayed by the generator; a scheduler's hiccups are below.
const LATENESS_MAX: Nanos = Nanos::from_millis(10);
/// Messages sent between two polls of the sockets.
const SPEAK_BATCH: u64 = 256;

impl HoldRuntime {
    /// When the `turn`-th message of this shard is due: each connection has its turn once in the time, and the turns
    /// are spread evenly.
    fn turn_at(&self, turn: u64) -> Nanos {
        let HoldWork::Every(every) = self.job.work else { return Nanos::NEVER };
        let (round, own) = (turn / u64::from(self.count), turn % u64::from(self.count));
        let every = every.as_nanos();
        let place = every * u128::from(self.segment.nth(own)) / u128::from(self.job.connections);
        self.started + Nanos((every * u128::from(round) + place) as u64)
    }

    pub(super) fn next_speak(&self) -> Nanos {
        self.turn_at(self.turns)
    }

    /// Sends the messages whose turn it is.
    pub(super) fn speak_some(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        for _ in 0..SPEAK_BATCH {
            let intended = self.turn_at(self.turns);
            if intended > now {
                return;
            }
            self.take_turn(intended, now, sockets);
        }
    }

    /// Takes all turns up to `end` now: the loop may have been late.
    pub(super) fn speak_until(&mut self, end: Nanos, now: Nanos, sockets: &mut dyn Sockets) {
        while self.turn_at(self.turns) <= end {
            let intended = self.turn_at(self.turns);
            self.take_turn(intended, now, sockets);
        }
    }

    fn take_turn(&mut self, intended: Nanos, now: Nanos, sockets: &mut dyn Sockets) {
        let number = (self.turns % u64::from(self.count)) as u32;
        self.turns += 1;
        match self.connections.get(number as usize) {
            Some(connection) if connection.is_established() => self.due(number, intended, now, sockets),
            Some(connection) if connection.was_established => self.unreported.counts[HeldCounter::Missed] += 1,
            _ => {}
        }
    }

    /// Messages that a connection still owes are not sent any more.
    pub(super) fn give_up_owed(&mut self, number: u32, now: Nanos) {
        while let Some(intended) = self.next_owed(number) {
            self.unreported.counts[HeldCounter::Unsent] += 1;
            self.unreported.incomplete.record(now.since(intended).0);
        }
    }

    /// A message is due: it is sent now, or when the response to the last one has come.
    pub(super) fn due(&mut self, number: u32, intended: Nanos, now: Nanos, sockets: &mut dyn Sockets) {
        self.count_due(intended, now);
        let connection = self.get(number);
        if connection.phase == Phase::Idle {
            return self.speak(number, intended, now, sockets);
        }
        connection.owed = connection.owed.saturating_add(1);
        self.owed += 1;
    }

    fn count_due(&mut self, intended: Nanos, now: Nanos) {
        self.unreported.counts[HeldCounter::Due] += 1;
        self.unreported.counts[HeldCounter::Late] += u64::from(now > intended + LATENESS_MAX);
    }

    /// The earliest of the messages that a connection owes.
    fn next_owed(&mut self, number: u32) -> Option<Nanos> {
        let count = u64::from(self.count);
        let connection = self.get(number);
        let owed = u64::from(connection.owed);
        if owed == 0 {
            return None;
        }
        connection.owed -= 1;
        self.owed -= 1;
        // Its last turn that was taken, and those owed before it.
        let back = (self.turns + count - 1 - u64::from(number)) % count + 1;
        Some(self.turn_at(self.turns - back - (owed - 1) * count))
    }

    pub(super) fn speak(&mut self, number: u32, intended: Nanos, now: Nanos, sockets: &mut dyn Sockets) {
        let job = self.job.clone();
        let turn = self.frame_turn;
        self.frame_turn = turn.wrapping_add(1);
        let connection = &mut self.connections[number as usize];
        let socket = connection.socket;
        let is_sealed = connection.more.as_ref().is_some_and(|more| more.tls.is_some());
        let frame = job.messaging.as_ref().and_then(|messaging| messaging.frame(connection.parked.deflate, turn));
        let frame_bytes = frame.map(|(bytes, _)| bytes);
        let Some(bytes) = frame_bytes.or(self.request.is_some().then(|| job.step.request_bytes())) else { return };
        let expects = job.messaging.as_ref().map_or(&Expects::Message, |messaging| &messaging.expects);
        let is_awaited = !matches!(expects, Expects::Nothing);
        if self.request.is_some() {
            connection.more().line = Some(job.asking());
        }
        connection.phase = if is_awaited { Phase::Asks } else { Phase::Says };
        (connection.since, connection.intended) = (now, intended);
        self.unreported.counts[HeldCounter::Sent] += 1;
        if is_awaited {
            self.response_deadlines.push(number, now);
        }
        if self.job.protocol == Protocol::Custom {
            let start = ExchangeStart { what: Payload::Rendered(bytes), response: expects.awaited() };
            return self.speak_custom(number, start, sockets);
        }
        if is_sealed {
            let mut copy = self.buffer();
            copy.extend_from_slice(bytes);
            self.send_own(number, copy, sockets);
            return;
        }
        self.unreported.counts[HeldCounter::BytesQueued] += bytes.len() as u64;
        let template = frame.map_or(self.request, |(_, number)| self.templates.get(number?).copied());
        match template {
            Some(template) if is_awaited => sockets.send(socket, Outgoing::Template(template, 0..bytes.len())),
            // A message without a response is over when the kernel has taken it, which is reported for these.
            _ => sockets.send(socket, Outgoing::Shared(bytes.clone(), 0..bytes.len())),
        }
    }

    /// Sends a request of a custom protocol, as its connection writes it.
    fn speak_custom(&mut self, number: u32, start: ExchangeStart<'_>, sockets: &mut dyn Sockets) {
        let (job, mask, mut frame) = (self.job.clone(), self.mask(), self.buffer());
        let connection = self.get(number);
        let parked = connection.parked;
        let line = connection.more().line.get_or_insert_with(|| job.unparked(parked));
        line.begin(ALONE, start, mask, &mut frame);
        self.send_own(number, frame, sockets);
    }

    /// A response is complete, and was checked.
    pub(super) fn answered(&mut self, number: u32, is_good: bool, at: Nanos, sockets: &mut dyn Sockets) {
        let connection = &mut self.connections[number as usize];
        self.unreported.response.record(at.since(connection.intended).0);
        self.unreported.service.record(at.since(connection.since).0);
        self.unreported.counts[HeldCounter::Answered] += 1;
        self.unreported.counts[HeldCounter::Refused] += u64::from(!is_good);
        self.spoken(number, at, sockets);
    }

    /// Nothing is awaited any more.
    pub(super) fn spoken(&mut self, number: u32, at: Nanos, sockets: &mut dyn Sockets) {
        let connection = self.get(number);
        (connection.phase, connection.since) = (Phase::Idle, Nanos::NEVER);
        if connection.is_ending {
            connection.is_ending = false;
            return self.close_one(number, at, sockets);
        }
        match self.job.work {
            HoldWork::Pause { .. } => self.pause(number, at),
            HoldWork::Every(_) => {
                if let Some(intended) = self.next_owed(number) {
                    self.speak(number, intended, sockets.now(), sockets);
                }
            }
            HoldWork::Nothing | HoldWork::Once => {}
        }
    }

    pub(super) fn pause(&mut self, number: u32, now: Nanos) {
        let HoldWork::Pause { least, most } = self.job.work else { return };
        let (least, most) = (least.as_nanos() as u64, most.as_nanos() as u64);
        let until = now + Nanos(least + self.random.below(most - least + 1));
        // This instant identifies the pause that a timer ends.
        self.get(number).intended = until;
        self.timers.insert(until, Wake::Speak(number, until));
    }

    pub(super) fn pause_over(&mut self, number: u32, until: Nanos, now: Nanos, sockets: &mut dyn Sockets) {
        let connection = self.get(number);
        if connection.phase == Phase::Idle && connection.intended == until && !self.is_closing() {
            self.count_due(until, now);
            self.speak(number, until, now, sockets);
        }
    }
}
