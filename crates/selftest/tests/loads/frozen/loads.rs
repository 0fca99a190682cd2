//! Twenty kinds of loads.

use pacing::Nanos;
use plan::Plan;
use selftest::{Happens, SimulatedWorld};

use crate::shown::{flags, ms};

/// A kind of load: its flags, the path of the target, thresholds, and events.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    path: &'static str,
    flags: &'static [(&'static str, &'static str)],
    thresholds: &'static [&'static str],
    target_stalls: &'static [(Nanos, Nanos)],
    generator_stalls: &'static [(Nanos, Nanos)],
    stop_at: Option<Nanos>,
    threads: usize,
}

const PLAIN: Kind = Kind {
    name: "",
    path: "/",
    flags: &[],
    thresholds: &[],
    target_stalls: &[],
    generator_stalls: &[],
    stop_at: None,
    threads: 1,
};

pub(crate) const KINDS: [Kind; 20] = [
    Kind { name: "closed by count", path: "/delay/2", flags: &[("-c", "4"), ("-n", "200")], ..PLAIN },
    Kind {
        name: "closed by time",
        path: "/delay/5",
        flags: &[("-c", "8"), ("-z", "1500ms")],
        thresholds: &["p99(response_time) < 200ms", "failed / done < 1%", "rate > 100000/s"],
        threads: 2,
        ..PLAIN
    },
    Kind { name: "one server", path: "/serial/5", flags: &[("-c", "10"), ("-z", "2s")], ..PLAIN },
    Kind { name: "even rate", path: "/delay/10", flags: &[("-q", "200"), ("-z", "2s")], threads: 2, ..PLAIN },
    Kind {
        name: "random rate",
        path: "/delay/10",
        flags: &[("-q", "200"), ("--arrivals", "poisson"), ("-z", "2s")],
        ..PLAIN
    },
    Kind { name: "too high a rate", path: "/serial/5", flags: &[("-q", "300"), ("-c", "20"), ("-z", "2s")], ..PLAIN },
    Kind { name: "stages", path: "/delay/1", flags: &[("--stages", "100:500ms,100:500ms,0:500ms")], ..PLAIN },
    Kind { name: "user stages", path: "/delay/5", flags: &[("--user-stages", "8:500ms,8:500ms,2:500ms")], ..PLAIN },
    Kind { name: "ramp", path: "/delay/5", flags: &[("-c", "10"), ("--ramp", "500ms"), ("-z", "1s")], ..PLAIN },
    Kind { name: "rendezvous", path: "/delay/5", flags: &[("-c", "6"), ("--rendezvous", ""), ("-z", "1s")], ..PLAIN },
    Kind { name: "warm-up", path: "/delay/20", flags: &[("-q", "100"), ("--warmup", "500ms"), ("-z", "1s")], ..PLAIN },
    Kind {
        name: "failures",
        path: "/fail/5/503",
        flags: &[("-q", "100"), ("-z", "2s")],
        thresholds: &["failed / done < 1%"],
        ..PLAIN
    },
    Kind { name: "no response", path: "/gate/shut", flags: &[("-c", "3"), ("-t", "200ms"), ("-z", "1s")], ..PLAIN },
    Kind { name: "steps", path: "/delay/5 /delay/20 /", flags: &[("-c", "5"), ("-z", "1s")], ..PLAIN },
    Kind { name: "open steps", path: "/delay/5 /delay/20", flags: &[("-q", "50"), ("-z", "1s")], ..PLAIN },
    Kind {
        name: "streams",
        path: "/delay/5",
        flags: &[("--http2", ""), ("--streams", "4"), ("-c", "2"), ("-z", "1s")],
        ..PLAIN
    },
    Kind { name: "WebSocket", path: "ws", flags: &[("-d", "hello"), ("-c", "4"), ("-z", "1s")], ..PLAIN },
    Kind {
        name: "stalled target",
        path: "/delay/5",
        flags: &[("-q", "200"), ("-z", "3s")],
        target_stalls: &[(ms(1_000), ms(1_600))],
        ..PLAIN
    },
    Kind {
        name: "stalled generator",
        path: "/delay/5",
        flags: &[("-c", "5"), ("-z", "3s")],
        generator_stalls: &[(ms(1_200), ms(1_500))],
        ..PLAIN
    },
    Kind {
        name: "stopped",
        path: "/delay/50",
        flags: &[("-c", "5"), ("--no-keepalive", ""), ("-z", "10s")],
        stop_at: Some(ms(1_100)),
        ..PLAIN
    },
];

/// A load of a kind.
pub(crate) struct Load {
    pub(crate) plan: Plan,
    pub(crate) thresholds: &'static [&'static str],
    pub(crate) happens: Happens,
    pub(crate) threads: usize,
}

impl Load {
    pub(crate) fn new(kind: &Kind) -> Self {
        let address = SimulatedWorld::address();
        let paths: Vec<&str> = kind.path.split(' ').collect();
        let mut flags = flags(paths[0], kind.flags);
        if kind.path == "ws" {
            flags.url = Some(format!("ws://{address}/"));
        } else if paths.len() > 1 {
            flags.curl = Some(paths.iter().map(|path| format!("http://{address}{path}").into_bytes()).collect());
            flags.url = None;
        }
        let happens = Happens {
            target_stalls: kind.target_stalls.to_vec(),
            generator_stalls: kind.generator_stalls.to_vec(),
            stop_at: kind.stop_at,
        };
        Self { plan: flags.plan().expect("a good plan"), thresholds: kind.thresholds, happens, threads: kind.threads }
    }
}
