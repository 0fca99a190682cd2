//! Which step of its iteration a user takes next.

use pacing::Random;
use plan::Order;

use super::World;

/// Orders that are drawn, one for each user, in the iteration that it is in.
pub(super) struct Orders {
    seed: Option<u64>,
    orders: Vec<Box<[u16]>>,
    random: Random,
}

impl Orders {
    /// `stream`: this shard among all.
    pub(super) fn new(order: Order, steps: usize, stream: u64) -> Self {
        let seed = match order {
            Order::Shuffled { seed } if steps > 1 => Some(seed),
            _ => None,
        };
        Self { seed, orders: Vec::new(), random: Random::of_stream(seed.unwrap_or(0), stream) }
    }

    /// The step at this place of the user's order, which is drawn anew at the first.
    fn step_at(&mut self, user: u32, position: u16, steps: u16) -> u32 {
        if self.seed.is_none() {
            return u32::from(position);
        }
        let user = user as usize;
        while self.orders.len() <= user {
            let mut order: Box<[u16]> = (0..steps).collect();
            shuffle(&mut order, &mut self.random);
            self.orders.push(order);
        }
        u32::from(self.orders[user][usize::from(position)])
    }

    fn draw(&mut self, user: u32) {
        if let Some(order) = self.orders.get_mut(user as usize) {
            shuffle(order, &mut self.random);
        }
    }
}

/// Each order is as likely as any other.
fn shuffle(order: &mut [u16], random: &mut Random) {
    for last in (1..order.len()).rev() {
        let other = random.below(last as u64 + 1) as usize;
        order.swap(last, other);
    }
}

impl World {
    /// The step that a user takes next.
    #[inline]
    pub(super) fn coming_step(&mut self, user: u32) -> u32 {
        if self.is_simple {
            return 0;
        }
        self.step_in_order(user)
    }

    fn step_in_order(&mut self, user: u32) -> u32 {
        let count = self.steps.fixed.len() as u16;
        if count == 1 {
            return 0;
        }
        let position = self.users[user as usize].position;
        self.orders.step_at(user, position, count)
    }

    /// Takes it; `is_measured`: as an iteration that begins with it. Behind the last of an iteration comes the first of the next.
    #[inline]
    pub(super) fn take_step(&mut self, user: u32, is_measured: bool) -> u32 {
        if self.is_simple {
            return 0;
        }
        self.take_step_in_order(user, is_measured)
    }

    fn take_step_in_order(&mut self, user: u32, is_measured: bool) -> u32 {
        let count = self.steps.fixed.len() as u16;
        if count == 1 {
            return 0;
        }
        let step = self.coming_step(user);
        let place = &mut self.users[user as usize];
        if !std::mem::replace(&mut place.is_inside, true) {
            self.inside += 1;
            place.is_counted = is_measured;
        }
        place.position += 1;
        if place.position == count {
            place.position = 0;
            self.orders.draw(user);
        }
        step
    }

    /// A user whose last step is over has been through an iteration.
    pub(super) fn look_at_iteration(&mut self, user: u32) {
        let place = &mut self.users[user as usize];
        if place.position == 0 && std::mem::take(&mut place.is_inside) {
            self.inside -= 1;
            self.seen.counts.iterations += u64::from(std::mem::take(&mut place.is_counted));
        }
    }

    /// A user does not go on with its iteration.
    #[cold]
    pub(super) fn cut_iteration(&mut self, user: u32) {
        let place = &mut self.users[user as usize];
        place.position = 0;
        if std::mem::take(&mut place.is_inside) {
            self.inside -= 1;
            self.seen.counts.iterations_cut += u64::from(std::mem::take(&mut place.is_counted));
        }
    }

    /// Iterations of the measured time that users are in.
    pub(super) fn counted_inside(&self) -> u64 {
        self.users.iter().filter(|place| place.is_inside && place.is_counted).count() as u64
    }
}
