//! Nothing is sent after the end of a load, however it ends: verified by the count of the target itself.

use driver::sim::Faults;
use pacing::Nanos;
use plan::{Flags, Plan};
use selftest::{Happens, SimulatedWorld};

use crate::shown::{flags, ms};

/// A packet takes at most 0.06 ms: packets sent before the end have arrived by then.
const ON_THE_WAY: Nanos = ms(1);
/// Time during which loads start requests.
const SPAN: Nanos = ms(500);

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// Each kind of load, with its name.
fn loads() -> Vec<(&'static str, Plan)> {
    let base = || flags("/delay/5", &[("-z", "500ms")]);
    let users = || Flags { connections: text("8"), ..base() };
    let rate = || Flags { rate: text("200"), ..base() };
    let path = |path| format!("http://{}{path}", SimulatedWorld::address()).into_bytes();
    let steps = || Some(["/delay/5", "/delay/20", "/delay/3"].map(path).to_vec());
    let at = |scheme: &str| Some(format!("{scheme}://{}/", SimulatedWorld::address()));
    let all = [
        ("closed", users()),
        ("open", rate()),
        ("open with stages", Flags { stages: text("200:250ms,200:250ms"), duration: None, ..base() }),
        ("users with stages", Flags { user_stages: text("8:250ms,8:250ms"), duration: None, ..base() }),
        ("rendezvous", Flags { rendezvous: true, ..users() }),
        ("steps", Flags { url: None, curl: steps(), ..users() }),
        ("open with steps", Flags { url: None, curl: steps(), rate: text("60"), ..base() }),
        ("streams", Flags { http2: true, streams: text("4"), connections: text("2"), ..base() }),
        ("WebSocket", Flags { url: at("ws"), data: text("hello"), ..users() }),
    ];
    all.map(|(name, flags)| (name, flags.plan().expect("a good plan"))).into()
}

#[test]
fn nothing_is_sent_after_the_end() {
    for (name, plan) in loads() {
        for stop_at in [None, Some(ms(251))] {
            let mut world = SimulatedWorld::new(3, Faults::none());
            let happens = Happens { stop_at, ..Happens::default() };
            let result = world.run(&plan, 2, &happens, |_| ()).expect("a world that works");
            world.settle().expect("a world that works");
            let over = stop_at.unwrap_or(SPAN);
            let (before, after) =
                (world.requests() - world.requests_after(over), world.requests_after(over + ON_THE_WAY));
            assert!(before > 20, "{name}, {stop_at:?}: {before} requests came before the end");
            assert_eq!(after, 0, "{name}, {stop_at:?}: {after} requests came after the end");
            let counts = &result.total.counts;
            assert_eq!((counts.succeeded(), world.requests()), (counts.started(), counts.started()), "{name}");
        }
    }
}
