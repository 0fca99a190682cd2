//! Gaps: stretches of the measured time in which nothing came back although users waited.

use pacing::Nanos;

use super::known::Gaps;
use crate::slices::{Slice, Slices};

/// A shorter stretch is no gap.
const GAP_MIN: Nanos = Nanos::from_millis(300);
/// The responses that would have come in it, at least.
const MISSED_MIN: f64 = 30.0;
/// It is this many times a usual response time.
const RESPONSES_MIN: f64 = 10.0;
/// And this many times one that few exceed: few live through it.
const LONG_MIN: f64 = 2.0;
/// Threads of the generator were running for all but this share of it.
const STALLED_SHARE_MAX: f64 = 0.1;

/// All gaps; `None` where there is none. `response_ns`: a usual response time, and one that few exceed.
pub(super) fn gaps(slices: &Slices, response_ns: (f64, f64)) -> Option<Gaps> {
    let usual = usual_in_flight(slices);
    // No response is expected where nothing was requested, and few where little was.
    let is_requested =
        |slice: &Slice| slice.refused > 0 || slice.in_flight > 0 && slice.in_flight as f64 >= 0.5 * usual;
    let is_empty = |slice: &Slice| slice.answered() == 0 && is_requested(slice);
    let busy = slices.each.iter().filter(|slice| !is_empty(slice));
    let (count, sum) = busy.fold((0u64, 0u64), |(count, sum), slice| (count + 1, sum + slice.answered()));
    let per_slice = sum as f64 / count.max(1) as f64;
    let mut all: Option<Gaps> = None;
    let mut begin = 0;
    while begin < slices.each.len() {
        let length = slices.each[begin..].iter().take_while(|slice| is_empty(slice)).count();
        let stretch = &slices.each[begin..begin + length];
        if is_gap(stretch, slices.width, per_slice, response_ns) && begin > 0 {
            let refused = stretch.iter().map(|slice| slice.refused).sum::<u64>();
            let (from, to) = (slices.begin_of(begin), slices.begin_of(begin + length));
            let one =
                Gaps { from, to, count: 1, sum: to - from, refused, came_back: begin + length < slices.each.len() };
            all = Some(all.map_or(one, |all| added(all, one)));
        }
        begin += length.max(1);
    }
    all
}

/// The number in flight while responses came.
fn usual_in_flight(slices: &Slices) -> f64 {
    let busy = slices.each.iter().filter(|slice| slice.answered() > 0);
    let (count, sum) = busy.fold((0u64, 0u64), |(count, sum), slice| (count + 1, sum + slice.in_flight));
    sum as f64 / count.max(1) as f64
}

fn is_gap(stretch: &[Slice], width: Nanos, per_slice: f64, (usual_ns, long_ns): (f64, f64)) -> bool {
    let span = Nanos(width.0 * stretch.len() as u64);
    let stalled = stretch.iter().filter(|slice| slice.stalled > 0).count();
    span >= GAP_MIN
        && stretch.len() as f64 * per_slice >= MISSED_MIN
        && span.0 as f64 >= (RESPONSES_MIN * usual_ns).max(LONG_MIN * long_ns)
        && stalled as f64 <= STALLED_SHARE_MAX * stretch.len() as f64
}

fn added(all: Gaps, one: Gaps) -> Gaps {
    let longest = if one.to - one.from > all.to - all.from { one } else { all };
    Gaps { count: all.count + 1, sum: all.sum + one.sum, refused: all.refused + one.refused, ..longest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices(each: Vec<Slice>) -> Slices {
        Slices { width: Nanos::from_millis(100), each }
    }

    fn answered(ended: u64) -> Slice {
        Slice { ended, succeeded: ended, in_flight: 4, ..Slice::default() }
    }

    const NOTHING: Slice = Slice { ended: 0, succeeded: 0, refused: 0, in_flight: 4, stalled: 0 };

    #[test]
    fn a_stretch_without_responses_is_reported_with_its_instants() {
        let mut each = vec![answered(20); 30];
        each[10..20].fill(NOTHING);
        let found = gaps(&slices(each.clone()), (2e6, 4e6)).expect("a gap");
        assert_eq!((found.from, found.to), (Nanos::from_millis(1_000), Nanos::from_millis(2_000)));
        assert!(found.came_back && found.refused == 0 && found.count == 1);
        // Responses that take as long as that, or are as rare, are not missing.
        assert_eq!(gaps(&slices(each.clone()), (2e8, 2e8)), None);
        each.iter_mut().for_each(|slice| slice.ended = slice.ended.min(1));
        assert_eq!(gaps(&slices(each), (2e6, 4e6)), None);
    }

    #[test]
    fn a_stretch_of_our_own_is_no_gap() {
        let mut each = vec![answered(20); 30];
        each[10..20].fill(Slice { stalled: 1, ..NOTHING });
        assert_eq!(gaps(&slices(each.clone()), (2e6, 4e6)), None);
        // Nor a stretch in which nothing was requested.
        each[10..20].fill(Slice { in_flight: 0, ..NOTHING });
        assert_eq!(gaps(&slices(each.clone()), (2e6, 4e6)), None);
        // One at the end is one as well, and a refused connection is no response.
        each.truncate(10);
        each.extend(vec![Slice { ended: 40, refused: 40, in_flight: 0, ..NOTHING }; 10]);
        let found = gaps(&slices(each), (2e6, 4e6)).expect("a gap");
        assert_eq!((found.refused, found.came_back), (400, false));
    }

    #[test]
    fn the_longest_of_several_is_reported() {
        let mut each = vec![answered(20); 60];
        each[10..15].fill(NOTHING);
        each[30..40].fill(NOTHING);
        let found = gaps(&slices(each), (2e6, 4e6)).expect("gaps");
        assert_eq!((found.from, found.count, found.sum), (Nanos::from_millis(3_000), 2, Nanos::from_millis(1_500)));
    }
}
