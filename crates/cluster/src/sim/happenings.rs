//! Faults of the nodes of a world: they are killed, stalled, or cut off; and changes of the load.

use pacing::Nanos;
use pacing::change::{Change, ChangeKind};

use super::due::ScheduleDue;
use super::world::{Event, Happens, Node, Who, World};
use crate::broker::Client;

/// A node that is cut off for longer may report too late.
const LATE_MAX: Nanos = Nanos::from_millis(60_000);

impl World {
    pub(super) fn happen(&mut self, happens: &Happens) {
        let now = self.now;
        let leads = self
            .nodes
            .iter()
            .position(|node| matches!(&node.who, Who::Leader(leader, ..) if leader.leads() && !node.is_dead));
        let worker = |place: usize| self.setting.leaders + place;
        match happens {
            Happens::KillWorker(place) => {
                let node = worker(*place);
                self.nodes[node].is_dead = true;
                self.was_killed = true;
                self.put(now + Nanos::from_millis(10), Event::Leaves(node as Client));
            }
            Happens::StallWorker(place, span) => {
                let node = worker(*place);
                self.stall(node, *span);
            }
            Happens::StallParts(place, span) => {
                let node = &mut self.nodes[worker(*place)];
                if let Who::Worker(_, model, _) = &mut node.who {
                    model.stall(now + node.offset + *span);
                    node.stalls.push((now, now + *span));
                }
            }
            Happens::CutWorker(place, span) => {
                let node = worker(*place);
                self.cut(node, *span);
            }
            Happens::KillLeader => {
                if let Some(node) = leads {
                    self.nodes[node].is_dead = true;
                    self.put(now + Nanos::from_millis(10), Event::Leaves(node as Client));
                }
            }
            Happens::CutLeader(span) => {
                if let Some(node) = leads {
                    self.cut(node, *span);
                }
            }
            Happens::StallLeader(span) => {
                if let Some(node) = leads {
                    self.stall(node, *span);
                }
            }
            Happens::CutBus(span) => {
                self.bus_cut_until = self.bus_cut_until.max(now + *span);
                let until = self.bus_cut_until;
                (0..self.nodes.len() as Client).for_each(|client| self.put(until + Nanos(1), Event::Heals(client)));
            }
            Happens::Join => self.add_worker(),
            Happens::Change(what) => self.change(leads, what.clone()),
        }
    }

    /// The leader changes the load, two seconds from now.
    fn change(&mut self, leads: Option<usize>, what: ChangeKind) {
        let now = self.now;
        let Some(Node { who: Who::Leader(leader, ..), offset, .. }) = leads.map(|node| &mut self.nodes[node]) else {
            return;
        };
        let effective_at = (now + *offset).since(leader.state().t0) + Nanos::from_millis(2_000);
        let mut changes = leader.state().changes.clone();
        let change = Change { revision: changes.len() as u32 + 1, scenario: 0, effective_at, what };
        changes.push(change.clone());
        let timeline = ScheduleDue::new(&self.schedule, self.spacing, &changes).timeline();
        leader.change(change, timeline.end().or(Some(Nanos::NEVER)));
    }

    fn stall(&mut self, node: usize, span: Nanos) {
        let (now, node) = (self.now, &mut self.nodes[node]);
        node.stalled_until = node.stalled_until.max(now + span);
        node.stalls.push((now, node.stalled_until));
    }

    fn cut(&mut self, node: usize, span: Nanos) {
        let (now, cut) = (self.now, &mut self.nodes[node]);
        if now >= cut.cut_until {
            cut.cut_since = now;
        }
        let until = cut.cut_until.max(now + span);
        cut.cut_until = until;
        // Its later reports may not be awaited any more.
        self.was_killed |= until.since(cut.cut_since) > LATE_MAX;
        self.put(until + Nanos(1), Event::Heals(node as Client));
    }
}
