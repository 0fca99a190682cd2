//! The cells: loads, ends, and their possible pairs.

use std::fmt::{Display, Formatter};
use std::time::Duration;

use crate::server::{Script, Upset};
use crate::speech::{MESSAGE, Protocol};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    Closed,
    Open,
    OpenStages,
    Users,
    Rendezvous,
    Steps,
    OpenSteps,
    Streams,
    WebSocket,
    Tcp,
    HoldWebSocket,
    HoldTcp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Count,
    Time,
    CtrlC,
    CtrlCTwice,
    Abort,
    TooManyFailures,
    WholeStopped,
    ThreadStopped,
    FrozenReading,
    FrozenDeaf,
    DiesWithReset,
    DiesWithFin,
    Drops,
    Refuses,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) load: Load,
    pub(crate) end: End,
    pub(crate) driver: &'static str,
}

impl Display for Cell {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:?}/{:?}/{}", self.load, self.end, self.driver)
    }
}

const LOADS: [Load; 12] = [
    Load::Closed,
    Load::Open,
    Load::OpenStages,
    Load::Users,
    Load::Rendezvous,
    Load::Steps,
    Load::OpenSteps,
    Load::Streams,
    Load::WebSocket,
    Load::Tcp,
    Load::HoldWebSocket,
    Load::HoldTcp,
];

const ENDS: [End; 14] = [
    End::Count,
    End::Time,
    End::CtrlC,
    End::CtrlCTwice,
    End::Abort,
    End::TooManyFailures,
    End::WholeStopped,
    End::ThreadStopped,
    End::FrozenReading,
    End::FrozenDeaf,
    End::DiesWithReset,
    End::DiesWithFin,
    End::Drops,
    End::Refuses,
];

/// Why a pair is impossible; all others are run.
pub(crate) fn impossible(load: Load, end: End) -> Option<&'static str> {
    match (load.is_held(), end) {
        (true, End::Abort) => Some("hold has no thresholds"),
        (true, End::Count) => Some("hold has no count of messages; it ends by time"),
        _ => None,
    }
}

/// Each possible pair, on both drivers.
pub(crate) fn all() -> Vec<Cell> {
    let pairs = LOADS.iter().flat_map(|load| ENDS.iter().map(move |end| (*load, *end)));
    pairs
        .filter(|(load, end)| impossible(*load, *end).is_none())
        .flat_map(|(load, end)| ["uring", "poll"].map(|driver| Cell { load, end, driver }))
        .collect()
}

/// Every load and every end once, and each driver in half of them.
pub(crate) fn cut() -> Vec<Cell> {
    [
        (Load::Closed, End::FrozenReading),
        (Load::Open, End::WholeStopped),
        (Load::OpenStages, End::Time),
        (Load::Users, End::CtrlC),
        (Load::Rendezvous, End::Count),
        (Load::Steps, End::CtrlC),
        (Load::Streams, End::DiesWithReset),
        (Load::Closed, End::ThreadStopped),
        (Load::WebSocket, End::Drops),
        (Load::Tcp, End::Refuses),
        (Load::Open, End::FrozenDeaf),
        (Load::Closed, End::Abort),
        (Load::HoldWebSocket, End::FrozenReading),
        (Load::HoldTcp, End::WholeStopped),
        (Load::Rendezvous, End::DiesWithFin),
        (Load::Closed, End::TooManyFailures),
        (Load::OpenSteps, End::CtrlC),
        (Load::Users, End::CtrlCTwice),
    ]
    .into_iter()
    .enumerate()
    .map(|(index, (load, end))| Cell { load, end, driver: ["uring", "poll"][index % 2] })
    .collect()
}

/// The number of users, streams, or held connections.
pub(crate) const USERS: u64 = 8;
/// The rate of an open load, after its ramp if it has one.
pub(crate) const RATE: u64 = 200;
/// Iterations per second of an open load with steps.
const ITERATIONS_RATE: u64 = 20;
/// Requests of a load that ends by count, in whole rounds of the users and their three steps.
const COUNT: u64 = 240;
const STEPS_COUNT: u64 = 72;
pub(crate) const STEPS: u64 = 3;
/// How long requests are started, where the time is the end.
const SPAN: Duration = Duration::from_secs(1);
/// The time where something else is the end, or must be noticed before it: the test would never see a run end by time.
const ENDLESS: Duration = Duration::from_secs(3_600);
/// The minimum time for which the process is stopped.
pub(crate) const STOP: Duration = Duration::from_secs(1);
const DELAY: Duration = Duration::from_millis(5);
const STEP_DELAY: Duration = Duration::from_millis(50);
/// The timeout for a target that freezes; the others respond, however long it takes them.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(1);
const GRACE: Duration = Duration::from_millis(500);
const INTERVAL: Duration = Duration::from_millis(250);
/// The message interval of a hold.
pub(crate) const EVERY: Duration = Duration::from_millis(100);
const CLIMB: Duration = Duration::from_millis(500);

impl Load {
    pub(crate) fn is_held(self) -> bool {
        matches!(self, Self::HoldWebSocket | Self::HoldTcp)
    }

    /// Whether starts come at a rate.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::OpenStages | Self::OpenSteps)
    }

    pub(crate) fn has_steps(self) -> bool {
        matches!(self, Self::Steps | Self::OpenSteps)
    }

    /// Whether the plan determines each start: a later step starts when the one before it has ended.
    pub(crate) fn plans_each_start(self) -> bool {
        self.is_open() && !self.has_steps()
    }

    pub(crate) fn protocol(self) -> Protocol {
        match self {
            Self::Streams => Protocol::Http2,
            Self::WebSocket | Self::HoldWebSocket => Protocol::WebSocket,
            Self::Tcp | Self::HoldTcp => Protocol::Tcp,
            _ => Protocol::Http1,
        }
    }

    /// The intended starts of an open load in this time.
    pub(crate) fn intended_in(self, time: Duration) -> f64 {
        let (seconds, climb, rate) = (time.as_secs_f64(), CLIMB.as_secs_f64(), RATE as f64);
        match self {
            Self::OpenStages if seconds < climb => rate * seconds * seconds / (2.0 * climb),
            Self::OpenStages => rate * (seconds - climb / 2.0),
            _ => rate * seconds,
        }
    }
}

impl End {
    /// Whether the server fails, for a part of the run or all of it.
    pub(crate) fn is_targets(self) -> bool {
        use End::{DiesWithFin, DiesWithReset, Drops, FrozenDeaf, FrozenReading, Refuses, TooManyFailures};
        matches!(self, DiesWithFin | DiesWithReset | Drops | FrozenDeaf | FrozenReading | TooManyFailures | Refuses)
    }

    pub(crate) fn is_ours(self) -> bool {
        matches!(self, Self::WholeStopped | Self::ThreadStopped)
    }

    /// Whether the server stops responding for good: only a timeout ends a request.
    pub(crate) fn is_freeze(self) -> bool {
        matches!(self, Self::FrozenReading | Self::FrozenDeaf)
    }

    /// Whether Ctrl-C ends the run: once, where it is the end, and after another event was noticed.
    pub(crate) fn is_by_signal(self) -> bool {
        !matches!(self, Self::Count | Self::Time | Self::Abort | Self::TooManyFailures)
    }

    /// Whether every request has its response before the run ends.
    pub(crate) fn cuts_nothing(self) -> bool {
        !self.is_targets() && !matches!(self, Self::Abort | Self::CtrlCTwice)
    }
}

impl Cell {
    pub(crate) fn script(&self) -> Script {
        let upset = match self.end {
            End::Abort => Some(Upset::Fail),
            End::FrozenReading => Some(Upset::FreezeReading),
            End::FrozenDeaf => Some(Upset::FreezeDeaf),
            End::DiesWithReset => Some(Upset::DieWithReset),
            End::DiesWithFin => Some(Upset::DieWithFin),
            End::Refuses => Some(Upset::Refuse),
            _ => None,
        };
        // On a connection with few requests every fifth is dropped.
        let every = if self.load.is_held() || self.load.has_steps() { 5 } else { 20 };
        Script {
            protocol: self.load.protocol(),
            delay: if self.load.has_steps() { STEP_DELAY } else { DELAY },
            drops_every: (self.end == End::Drops).then_some(every),
            upset: match self.end {
                End::CtrlCTwice => Some(Upset::FreezeReading),
                _ => upset,
            }
            .map(|upset| (self.middle(), upset)),
        }
    }

    /// The count of a load that ends by count.
    pub(crate) fn count(&self) -> u64 {
        if self.load.has_steps() { STEPS_COUNT } else { COUNT }
    }

    /// The number of requests at which the event happens: fewer than any load makes in a part of its span.
    pub(crate) fn middle(&self) -> u64 {
        if self.load.has_steps() || self.load.is_held() { 16 } else { 40 }
    }

    pub(crate) fn span(&self) -> Duration {
        match self.end {
            End::Time | End::TooManyFailures => SPAN,
            _ => ENDLESS,
        }
    }

    /// The timeout of a request, and the grace of requests in flight at the end.
    fn patience(&self) -> [Duration; 2] {
        if self.end.is_freeze() { [TIMEOUT, GRACE] } else { [ENDLESS; 2] }
    }

    /// The command line; `steps` is a file with three requests, and `report` the file of the report.
    pub(crate) fn words(&self, address: &str, steps: &str, report: &str) -> Vec<String> {
        let milliseconds = |time: Duration| format!("{}ms", time.as_millis());
        let span = milliseconds(self.span());
        let users = USERS.to_string();
        let mut words: Vec<String> = Vec::new();
        let mut say = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
        if self.load.is_held() {
            say(&["hold", "-c", &users, "--every", &milliseconds(EVERY), "--hold", &span]);
        }
        let climb = milliseconds(CLIMB);
        let rest = milliseconds(self.span() - CLIMB);
        match self.load {
            Load::Open => say(&["-q", &RATE.to_string()]),
            Load::OpenSteps => say(&["-q", &ITERATIONS_RATE.to_string()]),
            Load::OpenStages => say(&["--stages", &format!("{RATE}:{climb},{RATE}:{rest}")]),
            Load::Users => say(&["--user-stages", &format!("{USERS}:{climb},{USERS}:{rest}")]),
            Load::Rendezvous => say(&["-c", &users, "--rendezvous"]),
            Load::Streams => say(&["-c", "2", "--streams", &(USERS / 2).to_string(), "--http2"]),
            Load::Closed | Load::Steps | Load::WebSocket | Load::Tcp => say(&["-c", &users]),
            Load::HoldWebSocket | Load::HoldTcp => {}
        }
        if !self.load.is_held() {
            let says_its_span = matches!(self.load, Load::OpenStages | Load::Users);
            match self.end {
                End::Count => say(&["-n", &self.count().to_string()]),
                _ if !says_its_span => say(&["-z", &span]),
                _ => {}
            }
            // The server keeps books of the load alone.
            say(&["--no-probe"]);
            if self.end == End::Abort {
                say(&["--threshold", "failed / done < 1%, abort"]);
            }
        }
        let [timeout, grace] = self.patience().map(milliseconds);
        say(&["-t", &timeout, "--grace", &grace, "--interval", &milliseconds(INTERVAL)]);
        say(&["--threads", "2", "--driver", self.driver, "--json", report]);
        match self.load.protocol() {
            Protocol::WebSocket => say(&["-d", MESSAGE, "--expect-body", MESSAGE, &format!("ws://{address}/")]),
            Protocol::Tcp => {
                let bytes = MESSAGE.len().to_string();
                say(&["-d", MESSAGE, "--read-bytes", &bytes, "--expect-body", MESSAGE, &format!("tcp://{address}")]);
            }
            _ if self.load.has_steps() => say(&["-p", steps]),
            _ => say(&[&format!("http://{address}/")]),
        }
        words
    }
}
