//! A simulated target and the users of a closed load, in virtual time: an event queue and one seed.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::f64::consts::TAU;
use std::ops::ControlFlow;

use pacing::{Nanos, Random};

/// How a target assigns its servers to requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Discipline {
    /// Each request has a server to itself; further requests wait in a queue.
    Fifo,
    /// All requests share the servers.
    Sharing,
    /// Requests do not wait for servers.
    Delay,
}

/// Number of servers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Servers {
    Fixed(usize),
    Scaled { from: usize, to: usize, at_s: f64 },
}

impl Servers {
    fn at(self, at_s: f64) -> usize {
        match self {
            Self::Fixed(count) => count,
            Self::Scaled { from, to, at_s: scaled } => {
                if at_s >= scaled {
                    to
                } else {
                    from
                }
            }
        }
    }
}

/// Distribution of service times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    Deterministic,
    Exponential,
    /// With a standard deviation of 1 of its logarithm.
    Lognormal,
    /// One in ten takes eleven times as long as the others.
    Bimodal,
}

impl Shape {
    pub(super) const ALL: [Self; 4] = [Self::Deterministic, Self::Exponential, Self::Lognormal, Self::Bimodal];

    /// Draws a service time with a mean of 1.
    fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::Deterministic => 1.0,
            Self::Exponential => exponential(random),
            Self::Lognormal => {
                let normal = (2.0 * exponential(random)).sqrt() * (TAU * random.unit()).cos();
                (normal - 0.5).exp()
            }
            Self::Bimodal => {
                if random.chance(900_000) {
                    0.5
                } else {
                    5.5
                }
            }
        }
    }
}

fn exponential(random: &mut Random) -> f64 {
    -(1.0 - random.unit()).ln()
}

/// How service times change while the target runs: a factor.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pace {
    Constant,
    /// Four times as long at first, and normal from `until_s` on.
    SlowStart {
        until_s: f64,
    },
    /// Ten times faster in the end.
    CacheFills {
        scale_s: f64,
    },
    GrowsSlower {
        twice_at_s: f64,
    },
}

impl Pace {
    fn at(self, at_s: f64) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::SlowStart { until_s } => 1.0 + 3.0 * (1.0 - at_s / until_s).max(0.0),
            Self::CacheFills { scale_s } => 0.4 + 3.6 * (-at_s / scale_s).exp(),
            Self::GrowsSlower { twice_at_s } => 1.0 + at_s / twice_at_s,
        }
    }
}

/// How a connection is assigned to a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Nodes {
    InTurn(usize),
    AtRandom(usize),
}

impl Nodes {
    fn count(self) -> usize {
        let (Self::InTurn(count) | Self::AtRandom(count)) = self;
        count
    }
}

/// A limiter that lets some requests through, and refuses the others at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limiter {
    pub(super) per_s: f64,
    pub(super) burst: f64,
    pub(super) refusal_s: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) discipline: Discipline,
    /// Servers of each node.
    pub(super) servers: Servers,
    pub(super) shape: Shape,
    pub(super) service_s: f64,
    pub(super) pace: Pace,
    pub(super) round_trip_s: f64,
    /// Background requests.
    pub(super) background_per_s: f64,
    pub(super) nodes: Nodes,
    pub(super) limiter: Option<Limiter>,
    pub(super) failing_per_million: u32,
}

/// Response that a user got.
#[derive(Clone, Copy, Debug)]
pub(super) struct Response {
    pub(super) began: Nanos,
    pub(super) ended: Nanos,
    pub(super) succeeded: bool,
}

/// The source of a request: a user, or the background.
type Who = Option<usize>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrives(usize),
    OtherArrives,
    Served {
        node: usize,
        who: Who,
    },
    /// The shortest request that shares servers is served, unless another came or left since.
    SharedServed {
        change: u64,
    },
    Answered {
        user: usize,
        succeeded: bool,
    },
    Scaled,
}

#[derive(Default)]
struct Node {
    busy: usize,
    waiting: VecDeque<Who>,
}

/// Requests that share servers. All make the same progress, and each is served when the progress reaches its end.
#[derive(Default)]
struct Sharing {
    progress_ns: f64,
    as_of: Nanos,
    served_at: BinaryHeap<Reverse<(u64, u64, Who)>>,
    change: u64,
}

struct User {
    node: usize,
    began: Nanos,
}

/// A running target and its users.
pub(super) struct World {
    target: Target,
    random: Random,
    now: Nanos,
    /// From this instant the target keeps its state.
    frozen: Option<Nanos>,
    events: BinaryHeap<Reverse<(Nanos, u64, Event)>>,
    pushed: u64,
    nodes: Vec<Node>,
    sharing: Sharing,
    tokens: f64,
    filled: Nanos,
    connected: usize,
    users: Vec<User>,
}

impl World {
    pub(super) fn new(target: Target, seed: u64, frozen: Option<Nanos>) -> Self {
        let mut world = Self {
            random: Random::new(seed),
            now: Nanos::ZERO,
            frozen,
            events: BinaryHeap::new(),
            pushed: 0,
            nodes: (0..target.nodes.count()).map(|_| Node::default()).collect(),
            sharing: Sharing::default(),
            tokens: target.limiter.map_or(0.0, |limiter| limiter.burst),
            filled: Nanos::ZERO,
            connected: 0,
            users: Vec::new(),
            target,
        };
        if let (Servers::Scaled { at_s, .. }, None) = (target.servers, frozen) {
            world.push(nanos(at_s), Event::Scaled);
        }
        world.next_other();
        world
    }

    /// New users begin at once, `pause` from now, and go on for `span`. `on_end` gets the times of responses from then
    /// on, and may end it; otherwise it is over with the last response.
    pub(super) fn load(
        &mut self,
        users: usize,
        [pause, span]: [Nanos; 2],
        mut on_end: impl FnMut(Response) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let begin = self.now + pause;
        self.users = (0..users).map(|_| User { node: self.connect(), began: begin }).collect();
        (0..users).for_each(|user| self.push(begin + self.half_trip(), Event::Arrives(user)));
        let mut in_flight = users;
        while in_flight > 0 {
            let Some(Reverse((now, _, event))) = self.events.pop() else { break };
            self.now = now;
            let Event::Answered { user, succeeded } = event else {
                self.handle(event);
                continue;
            };
            let began = std::mem::replace(&mut self.users[user].began, now);
            if now < begin + span {
                self.push(now + self.half_trip(), Event::Arrives(user));
            } else {
                in_flight -= 1;
            }
            on_end(Response { began: began - begin, ended: now - begin, succeeded })?;
        }
        ControlFlow::Continue(())
    }

    fn connect(&mut self) -> usize {
        self.connected += 1;
        match self.target.nodes {
            Nodes::InTurn(count) => self.connected % count,
            Nodes::AtRandom(count) => self.random.below(count as u64) as usize,
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Arrives(user) if self.is_refused() => {
                let refusal_s = self.target.limiter.map_or(0.0, |limiter| limiter.refusal_s);
                let at = self.now + nanos(refusal_s) + self.half_trip();
                self.push(at, Event::Answered { user, succeeded: false });
            }
            Event::Arrives(user) => self.arrive(Some(user)),
            Event::OtherArrives => {
                self.arrive(None);
                self.next_other();
            }
            Event::Served { node, who } => {
                self.nodes[node].busy = self.nodes[node].busy.saturating_sub(1);
                self.serve_waiting(node);
                self.response(who);
            }
            Event::SharedServed { change } => {
                if change == self.sharing.change {
                    self.share();
                    let served = self.sharing.served_at.pop();
                    self.next_shared();
                    served.into_iter().for_each(|Reverse((.., who))| self.response(who));
                }
            }
            Event::Scaled => (0..self.nodes.len()).for_each(|node| self.serve_waiting(node)),
            Event::Answered { .. } => unreachable!("users take it"),
        }
    }

    fn is_refused(&mut self) -> bool {
        let Some(limiter) = self.target.limiter else { return false };
        let passed = self.now.since(std::mem::replace(&mut self.filled, self.now)).as_secs_f64();
        self.tokens = (self.tokens + passed * limiter.per_s).min(limiter.burst);
        let is_refused = self.tokens < 1.0;
        self.tokens -= if is_refused { 0.0 } else { 1.0 };
        is_refused
    }

    fn arrive(&mut self, who: Who) {
        match self.target.discipline {
            Discipline::Delay => {
                let at = self.now + nanos(self.service_s());
                self.push(at, Event::Served { node: 0, who });
            }
            Discipline::Fifo => {
                let node = match who {
                    Some(user) => self.users[user].node,
                    None => self.random.below(self.nodes.len() as u64) as usize,
                };
                self.nodes[node].waiting.push_back(who);
                self.serve_waiting(node);
            }
            Discipline::Sharing => {
                self.share();
                let served_at = (self.sharing.progress_ns + 1e9 * self.service_s()) as u64;
                self.pushed += 1;
                self.sharing.served_at.push(Reverse((served_at, self.pushed, who)));
                self.next_shared();
            }
        }
    }

    fn serve_waiting(&mut self, node: usize) {
        while self.nodes[node].busy < self.servers()
            && let Some(who) = self.nodes[node].waiting.pop_front()
        {
            self.nodes[node].busy += 1;
            let at = self.now + nanos(self.service_s());
            self.push(at, Event::Served { node, who });
        }
    }

    /// The speed at which each sharing request is served.
    fn speed(&self) -> f64 {
        (self.servers() as f64 / self.sharing.served_at.len().max(1) as f64).min(1.0)
    }

    fn share(&mut self) {
        let passed = self.now.since(std::mem::replace(&mut self.sharing.as_of, self.now));
        self.sharing.progress_ns += passed.0 as f64 * self.speed();
    }

    fn next_shared(&mut self) {
        self.sharing.change += 1;
        if let Some(Reverse((served_at, ..))) = self.sharing.served_at.peek() {
            let left = (*served_at as f64 - self.sharing.progress_ns).max(0.0) / self.speed();
            self.push(self.now + Nanos(left.ceil() as u64), Event::SharedServed { change: self.sharing.change });
        }
    }

    fn response(&mut self, who: Who) {
        let succeeded = !self.random.chance(self.target.failing_per_million);
        if let Some(user) = who {
            self.push(self.now + self.half_trip(), Event::Answered { user, succeeded });
        }
    }

    fn next_other(&mut self) {
        if self.target.background_per_s > 0.0 {
            let after_s = exponential(&mut self.random) / self.target.background_per_s;
            self.push(self.now + nanos(after_s), Event::OtherArrives);
        }
    }

    fn age_s(&self) -> f64 {
        self.frozen.unwrap_or(self.now).as_secs_f64()
    }

    fn servers(&self) -> usize {
        self.target.servers.at(self.age_s())
    }

    fn service_s(&mut self) -> f64 {
        self.target.shape.draw(&mut self.random) * self.target.service_s * self.target.pace.at(self.age_s())
    }

    fn half_trip(&self) -> Nanos {
        nanos(self.target.round_trip_s / 2.0)
    }

    fn push(&mut self, at: Nanos, event: Event) {
        self.pushed += 1;
        self.events.push(Reverse((at, self.pushed, event)));
    }
}

fn nanos(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9) as u64)
}
