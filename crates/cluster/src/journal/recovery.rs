//! Recovery of a run from the journals of its participants.

use std::collections::{BTreeMap, HashMap};

use pacing::{Nanos, SLOT_COUNT};
use plan::EncodedPlan;

use super::{Head, JournalContents, JournalError, Record};
use crate::protocol::{Batch, Member, News, Packet, SlotGrant, State, Sum, read};

/// The owner of slots that no available journal claims.
const SOMEBODY: Member = Member { id: 0, incarnation: 0 };

/// A finished run, as its journals report it.
#[derive(Debug)]
pub struct Recovery {
    /// The header: the leader's, or that of one of the workers.
    pub head: Head,
    /// When it started, since the Unix epoch.
    pub started_unix: Option<Nanos>,
    /// The last state.
    pub state: State,
    /// The name of each member, and its shortest reported round trip.
    pub names: Vec<(String, Option<Nanos>)>,
    /// The reports of members, in the order of time.
    pub news: Vec<(Nanos, u16, News)>,
    /// Members that were declared lost, or whose reports are incomplete: they may have gone on until then.
    pub losses: Vec<(u16, Nanos)>,
    /// Members with missing reports.
    pub cuts: Vec<Cut>,
}

/// Missing reports of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// There are none of its reports. Without a name it is unknown which member had a part of the load.
    Missing {
        /// Its name.
        name: String,
    },
    /// Its reports end before the last one: it was killed, or its disk was full.
    Short {
        /// Its name.
        name: String,
    },
    /// There is a hole in its reports: the journal is damaged, or a leader had lost some.
    Hole {
        /// Its name.
        name: String,
    },
}

impl Recovery {
    /// The plan, how many of the slowest exchanges are kept, and the thresholds.
    ///
    /// # Errors
    /// The packet is invalid.
    pub fn plan(&self) -> Result<(EncodedPlan, usize, Vec<String>), plan::EncodedPlanError> {
        let none = Packet { plan: Vec::new(), feeds: Vec::new(), slowest: 0, thresholds: Vec::new() };
        let packet: Packet = read(&self.head.packet).unwrap_or(none);
        let slowest = usize::try_from(packet.slowest).unwrap_or(usize::MAX);
        Ok((EncodedPlan::from_bytes(&packet.plan)?, slowest, packet.thresholds))
    }
}

/// The reports of a worker incarnation in one journal.
#[derive(Default)]
struct IncarnationReports {
    /// Reports by number.
    news: BTreeMap<u64, (Nanos, Vec<News>)>,
    /// The compacted reports up to a number.
    before: Option<Sum>,
}

impl IncarnationReports {
    fn put(&mut self, number: u64, at: Nanos, news: Vec<News>) {
        self.news.entry(number).or_insert((at, news));
    }

    /// Adds compacted reports; the longest of several counts.
    fn put_before(&mut self, sum: Sum) {
        if self.before.as_ref().is_none_or(|known| known.upto < sum.upto) {
            self.before = Some(sum);
        }
    }

    /// The prefix of contiguous reports, from this first number. Where the first ones are missing, their sums stand for
    /// them.
    fn until_hole(mut self, first: u64) -> Contiguous {
        let is_there = |before: &Sum| (first..before.upto).all(|number| self.news.contains_key(&number));
        let before = self.before.take().filter(|before| !is_there(before));
        let (mut next, mut at, sums) =
            before.map_or((first, Nanos::ZERO, Vec::new()), |Sum { upto, at, news, .. }| (upto, at, news));
        let mut news: Vec<(Nanos, News)> = sums.into_iter().map(|one| (at, one)).collect();
        let mut rest = self.news.split_off(&next);
        let count = rest.len() as u64;
        let begun = next;
        while let Some((since, own)) = rest.remove(&next) {
            next += 1;
            // Reports of a member keep their order, whatever its clock did.
            at = at.max(since);
            news.extend(own.into_iter().map(|one| (at, one)));
        }
        Contiguous { news, has_hole: next - begun < count }
    }
}

/// The prefix of contiguous reports.
struct Contiguous {
    news: Vec<(Nanos, News)>,
    has_hole: bool,
}

impl Contiguous {
    fn has_gone(&self) -> bool {
        matches!(self.news.last(), Some((_, News::Gone { .. })))
    }

    /// The order of completeness: the larger of two is more complete.
    fn rank(&self) -> (bool, Nanos, usize) {
        let reported_until = self.news.iter().map(|(_, news)| match news {
            News::Row(row) => row.reported_until,
            _ => Nanos::ZERO,
        });
        (self.has_gone(), reported_until.max().unwrap_or_default(), self.news.len())
    }
}

/// What is known of all members.
#[derive(Default)]
struct Facts {
    started: Option<Nanos>,
    states: Vec<State>,
    who: HashMap<Member, (String, Option<Nanos>)>,
    lost: HashMap<Member, Nanos>,
    /// The reports of worker incarnations, as kept by themselves and as received.
    own: HashMap<Member, IncarnationReports>,
    received: HashMap<Member, IncarnationReports>,
}

impl Facts {
    /// Adds a journal. One incarnation may be in several, when its worker wrote several or there were several leaders.
    fn learn(&mut self, kept: JournalContents) {
        let head = kept.head;
        for record in kept.records {
            match record {
                Record::Begins(_) => {}
                Record::Before { is_received, sum } if sum.is_sound() => {
                    let all = if is_received { &mut self.received } else { &mut self.own };
                    all.entry(sum.member).or_default().put_before(sum);
                }
                Record::Before { .. } => {}
                // The leader knows best, and its journal comes first.
                Record::Started(unix) => _ = self.started.get_or_insert(unix),
                Record::News { incarnation, index, at, news } if !head.is_of_leader && news.is_sound() => {
                    let reports = self.own.entry(Member { id: head.id, incarnation }).or_default();
                    reports.put(index, at, vec![news]);
                }
                Record::News { .. } => {}
                Record::Batch { bytes, .. } => {
                    let Some(batch) = Batch::read(&bytes).filter(|batch| batch.run == head.run) else { continue };
                    let reports =
                        self.received.entry(Member { id: batch.id, incarnation: batch.incarnation }).or_default();
                    reports.put(batch.number, batch.sent_at, batch.news);
                }
                Record::State(state) => {
                    if state.is_sound() && (state.run, state.begun_by) == (head.run, head.begun_by) {
                        self.states.push(state);
                    }
                }
                Record::Who { member, name, round_trip } => {
                    let known = self.who.entry(member).or_default();
                    *known = (name, round_trip.or(known.1));
                }
                Record::Lost { member, until } => {
                    let known = self.lost.entry(member).or_default();
                    *known = until.max(*known);
                }
            }
        }
    }

    /// The reports of an incarnation: of those kept and those received, the more complete.
    fn reports_of(&mut self, member: Member) -> Option<Contiguous> {
        let own = self.own.remove(&member).map(|reports| reports.until_hole(0));
        let received = self.received.remove(&member).map(|reports| reports.until_hole(1));
        own.into_iter().chain(received).max_by_key(Contiguous::rank)
    }

    /// The name of a member and its shortest reported round trip; other incarnations have the same name.
    fn who_is(&self, member: Member) -> (String, Option<Nanos>) {
        let other = || {
            let same = self.who.iter().find(|(other, _)| other.id == member.id);
            same.map(|(_, (name, _))| (name.clone(), None))
        };
        self.who.get(&member).cloned().or_else(other).unwrap_or_default()
    }

    /// The state, merged from what each participant saw of it.
    fn state(&mut self) -> Option<State> {
        self.states.sort_by_key(|state| (state.epoch, state.revision));
        let last = self.states.last()?;
        let most = self.states.iter().map(|state| state.slot_grants.len()).max().unwrap_or_default();
        let mut slot_grants = vec![SlotGrant { from: None, moves: Vec::new(), is_granted: false }; most];
        let mut claims = vec![BTreeMap::new(); most];
        let (mut members, mut numbers): (Vec<Member>, HashMap<Member, u16>) = (Vec::new(), HashMap::new());
        for state in &self.states {
            for member in state.members.iter().filter(|member| **member != SOMEBODY) {
                numbers.entry(*member).or_insert_with(|| {
                    members.push(*member);
                    (members.len() - 1) as u16
                });
            }
            for ((slot_grant, all), claims) in state.slot_grants.iter().zip(&mut slot_grants).zip(&mut claims) {
                all.from = slot_grant.from;
                all.is_granted |= slot_grant.is_granted;
                for (slot, to) in &slot_grant.moves {
                    let member = state.members[usize::from(*to)];
                    let known = claims.entry(*slot).or_insert(member);
                    // The member that gets it knows better than those that only know that another one does.
                    if member != SOMEBODY {
                        *known = member;
                    }
                }
            }
        }
        if let Some(first) = claims.first_mut() {
            (0..SLOT_COUNT as u16).for_each(|slot| _ = first.entry(slot).or_insert(SOMEBODY));
        }
        if claims.iter().any(|claims| claims.values().any(|member| *member == SOMEBODY)) {
            numbers.insert(SOMEBODY, members.len() as u16);
            members.push(SOMEBODY);
        }
        for (slot_grant, claims) in slot_grants.iter_mut().zip(claims) {
            slot_grant.moves = claims.into_iter().map(|(slot, member)| (slot, numbers[&member])).collect();
        }
        Some(State { members, slot_grants, ..last.bare() })
    }
}

/// Merges the journals of a run.
///
/// # Errors
/// They are of different runs, or have no state.
pub fn put_together(mut all: Vec<JournalContents>) -> Result<Recovery, JournalError> {
    let mut facts = Facts::default();
    all.sort_by_key(|kept| !kept.head.is_of_leader);
    let first = all.first().ok_or(JournalError::Nothing)?;
    let (head, path) = (first.head.clone(), first.path.clone());
    for kept in all {
        if kept.head.run_key() != head.run_key() {
            return Err(JournalError::OtherRun { one: path, other: kept.path });
        }
        facts.learn(kept);
    }
    let state = facts.state().ok_or(JournalError::Nothing)?;
    let started_unix = facts.started;
    let mut recovery = Recovery {
        head,
        started_unix,
        state,
        names: Vec::new(),
        news: Vec::new(),
        losses: Vec::new(),
        cuts: Vec::new(),
    };
    let mut has_part = vec![false; recovery.state.members.len()];
    recovery
        .state
        .slot_grants
        .iter()
        .flat_map(|slot_grant| &slot_grant.moves)
        .for_each(|(_, to)| has_part[usize::from(*to)] = true);
    for (number, member) in recovery.state.members.iter().enumerate() {
        let (name, round_trip) = facts.who_is(*member);
        let reports = facts.reports_of(*member);
        let cut = match &reports {
            Some(reports) if reports.has_gone() => None,
            Some(reports) if reports.has_hole => Some(Cut::Hole { name: name.clone() }),
            Some(reports) if !reports.news.is_empty() => Some(Cut::Short { name: name.clone() }),
            _ => has_part[number].then(|| Cut::Missing { name: name.clone() }),
        };
        let lost = facts.lost.remove(member).or(cut.as_ref().map(|_| Nanos::NEVER));
        recovery.losses.extend(lost.map(|until| (number as u16, until)));
        recovery.cuts.extend(cut);
        recovery.names.push((name, round_trip));
        recovery
            .news
            .extend(reports.into_iter().flat_map(|reports| reports.news).map(|(at, news)| (at, number as u16, news)));
    }
    recovery.news.sort_by_key(|(at, ..)| *at);
    Ok(recovery)
}
