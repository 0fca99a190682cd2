//! Capacity estimates: from page views to machines, from users to rates, from cores to threads. Each line shows its
//! formula and inputs.

use std::fmt::Write as _;
use std::time::Duration;

#[cfg(test)]
mod tests;

/// The default maximum utilization of a machine.
pub const LOAD: f64 = 0.75;
/// Memory of an idle connection in the kernel and in a program, in bytes.
pub const CONNECTION_BYTES: f64 = 4_400.0;
/// The largest meaningful result.
const VALUE_MAX: f64 = 1e18;
/// The tolerance for a whole number that results from a division.
const WHOLE: f64 = 1e-9;

/// The inputs. Everything that follows from them is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct CapacityInput {
    /// Page views in the time `of`.
    pub page_views: Option<f64>,
    /// Requests per page view.
    pub per_view: f64,
    /// A share of the views, and the share of the time in which it comes.
    pub share: (f64, f64),
    /// The time in which the views come.
    pub of: Duration,
    /// Requests per second at the peak.
    pub rate: Option<f64>,
    /// The capacity of one machine, in requests per second.
    pub per_machine: Option<f64>,
    /// The maximum utilization of a machine.
    pub load: f64,
    /// Concurrent users.
    pub users: Option<f64>,
    /// Mean response time, in seconds.
    pub response_s: Option<f64>,
    /// Mean time between a response and the next request of a user, in seconds.
    pub think_s: Option<f64>,
    /// Cores of one machine.
    pub cores: Option<f64>,
    /// Wait time of a request, in seconds.
    pub wait_s: Option<f64>,
    /// CPU time of a request, in seconds.
    pub compute_s: Option<f64>,
    /// Bytes of a response.
    pub response_bytes: Option<f64>,
    /// Held connections.
    pub connections: Option<f64>,
    /// Memory of one connection, in bytes.
    pub connection_bytes: f64,
    /// Local ports of a client address.
    pub ports: Option<f64>,
}

impl Default for CapacityInput {
    fn default() -> Self {
        Self {
            page_views: None,
            per_view: 1.0,
            share: (0.8, 0.2),
            of: Duration::from_secs(86_400),
            rate: None,
            per_machine: None,
            load: LOAD,
            users: None,
            response_s: None,
            think_s: None,
            cores: None,
            wait_s: None,
            compute_s: None,
            response_bytes: None,
            connections: None,
            connection_bytes: CONNECTION_BYTES,
            ports: None,
        }
    }
}

/// The name of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// Views in the peak.
    PeakViews,
    /// Duration of the peak.
    PeakTime,
    /// Requests per second at the peak.
    PeakRate,
    /// Requests per second of users.
    RateOfUsers,
    /// Machines for the peak.
    Machines,
    /// Why one machine less is not enough.
    OneLess,
    /// The utilization of the machines.
    Busy,
    /// Machines with one spare.
    WithSpare,
    /// Machines that stay below the maximum utilization.
    AtLoad,
    /// Concurrent users.
    Users,
    /// Requests in the system at the same time.
    InSystem,
    /// Mean response time.
    Response,
    /// Mean think time.
    Think,
    /// Threads of a machine.
    Threads,
    /// The rate that its cores can compute.
    OfCores,
    /// Bits per second to its clients.
    Bandwidth,
    /// Source addresses of connections.
    ClientAddresses,
    /// Memory of connections.
    Memory,
    /// Connections of each machine.
    ConnectionsEach,
}

impl Name {
    /// The stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::PeakViews => "peak_views",
            Self::PeakTime => "peak_time_s",
            Self::PeakRate => "peak_rate_per_s",
            Self::RateOfUsers => "rate_of_users_per_s",
            Self::Machines => "machines",
            Self::OneLess => "one_machine_less_per_s",
            Self::Busy => "busy_share",
            Self::WithSpare => "machines_with_spare",
            Self::AtLoad => "machines_at_load",
            Self::Users => "users",
            Self::InSystem => "requests_under_way",
            Self::Response => "response_s",
            Self::Think => "think_s",
            Self::Threads => "threads",
            Self::OfCores => "rate_of_cores_per_s",
            Self::Bandwidth => "bandwidth_bits_per_s",
            Self::ClientAddresses => "client_addresses",
            Self::Memory => "memory_bytes",
            Self::ConnectionsEach => "connections_per_machine",
        }
    }
}

/// One result.
#[derive(Clone, Debug, PartialEq)]
pub struct CapacityLine {
    /// Its name.
    pub name: Name,
    /// Its value: seconds, bytes, bits per second, or a number.
    pub value: f64,
    /// Its formula, with numbers.
    pub formula: String,
}

/// Why nothing can be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CapacityError {
    /// Nothing follows from the inputs.
    #[error(
        "nothing follows from that; give two figures that belong together, like --page-views and --per-machine, or --rate, --response and --think"
    )]
    Nothing,
    /// The think time of users would be negative at this rate and response time.
    #[error(
        "that number of users cannot make that rate at that response time: users / rate is shorter than the response time; lower --rate or --response, or give more --users"
    )]
    Impossible,
    /// A result without meaning.
    #[error(
        "that is too much or too little to reckon with; look at the units: times like 200ms, rates like 69/s, sizes like 20KiB"
    )]
    Extreme,
}

/// Computes everything that follows from the inputs.
///
/// # Errors
/// Nothing follows, or the inputs contradict each other.
pub fn compute(given: &CapacityInput) -> Result<Vec<CapacityLine>, CapacityError> {
    let mut all = Lines(Vec::new());
    let rate = all.peak(given);
    all.machines(given, rate);
    all.users(given, rate)?;
    all.cores(given);
    all.network(given, rate);
    if all.0.iter().any(|line| !line.value.is_finite() || line.value > VALUE_MAX) {
        return Err(CapacityError::Extreme);
    }
    if all.0.is_empty() { Err(CapacityError::Nothing) } else { Ok(all.0) }
}

struct Lines(Vec<CapacityLine>);

impl Lines {
    fn add(&mut self, name: Name, value: f64, formula: String) -> f64 {
        self.0.push(CapacityLine { name, value, formula });
        value
    }

    /// Requests per second at the peak, if known.
    fn peak(&mut self, given: &CapacityInput) -> Option<f64> {
        let Some(views) = given.page_views else {
            // Without a given rate, users determine it.
            let (users, response) = (given.users?, given.response_s);
            if given.rate.is_some() {
                return given.rate;
            }
            let turn = response? + given.think_s?;
            let formula = format!("{} / ({} s + {} s)", number(users), number(response?), number(given.think_s?));
            return Some(self.add(Name::RateOfUsers, users / turn, formula));
        };
        let (of_views, of_time) = given.share;
        let span = given.of.as_secs_f64();
        let most = format!("{} × {}", number(views), percent(of_views));
        let peak = self.add(Name::PeakViews, views * of_views, most);
        let time = self.add(Name::PeakTime, span * of_time, format!("{} s × {}", number(span), percent(of_time)));
        let each = if given.per_view == 1.0 { String::new() } else { format!(" × {}", number(given.per_view)) };
        let formula = format!("{}{each} / {} s", number(peak), number(time));
        Some(self.add(Name::PeakRate, peak * given.per_view / time, formula))
    }

    fn machines(&mut self, given: &CapacityInput, rate: Option<f64>) {
        let (Some(rate), Some(each)) = (rate.or(given.rate), given.per_machine) else { return };
        let exact = rate / each;
        let machines = up(exact);
        let formula = format!("{}/s / {}/s = {}", number(rate), number(each), number(exact));
        self.add(Name::Machines, machines, formula);
        if machines > 1.0 {
            let less = machines - 1.0;
            let mut formula = format!("{} × {}/s", number(less), number(each));
            write!(formula, ", {}/s too few", number(rate - less * each)).expect("text grows");
            self.add(Name::OneLess, less * each, formula);
        }
        let formula = format!("{}/s / ({} × {}/s)", number(rate), number(machines), number(each));
        self.add(Name::Busy, rate / (machines * each), formula);
        self.add(Name::WithSpare, machines + 1.0, format!("{} + 1", number(machines)));
        let formula = format!(
            "{}/s / ({}/s × {}) = {}",
            number(rate),
            number(each),
            percent(given.load),
            number(exact / given.load)
        );
        let at_load = self.add(Name::AtLoad, up(exact / given.load), formula);
        if let Some(connections) = given.connections {
            let formula = format!("{} / {}", number(connections), number(at_load));
            self.add(Name::ConnectionsEach, up(connections / at_load), formula);
        }
    }

    /// Little's law: users = rate x (response + think).
    fn users(&mut self, given: &CapacityInput, rate: Option<f64>) -> Result<(), CapacityError> {
        let rate = rate.or(given.rate);
        if let (Some(rate), Some(response)) = (rate, given.response_s) {
            let formula = format!("{}/s × {} s", number(rate), number(response));
            self.add(Name::InSystem, rate * response, formula);
        }
        match (given.users, rate, given.response_s, given.think_s) {
            (None, Some(rate), Some(response), think) => {
                let think = think.unwrap_or(0.0);
                let formula = format!("{}/s × ({} s + {} s)", number(rate), number(response), number(think));
                self.add(Name::Users, up(rate * (response + think)), formula);
            }
            (Some(users), Some(rate), Some(response), None) => {
                let think = users / rate - response;
                let formula = format!("{} / {}/s - {} s", number(users), number(rate), number(response));
                if think < 0.0 {
                    return Err(CapacityError::Impossible);
                }
                self.add(Name::Think, think, formula);
            }
            (Some(users), Some(rate), None, Some(think)) => {
                let response = users / rate - think;
                let formula = format!("{} / {}/s - {} s", number(users), number(rate), number(think));
                if response < 0.0 {
                    return Err(CapacityError::Impossible);
                }
                self.add(Name::Response, response, formula);
            }
            _ => {}
        }
        Ok(())
    }

    /// Threads that keep all cores busy while some of them wait.
    fn cores(&mut self, given: &CapacityInput) {
        let (Some(cores), Some(compute)) = (given.cores, given.compute_s) else { return };
        if let Some(wait) = given.wait_s {
            let formula = format!("{} × (1 + {} s / {} s)", number(cores), number(wait), number(compute));
            self.add(Name::Threads, up(cores * (1.0 + wait / compute)), formula);
        }
        self.add(Name::OfCores, cores / compute, format!("{} / {} s", number(cores), number(compute)));
    }

    fn network(&mut self, given: &CapacityInput, rate: Option<f64>) {
        if let (Some(rate), Some(bytes)) = (rate.or(given.rate), given.response_bytes) {
            let formula = format!("{}/s × {} B × 8", number(rate), number(bytes));
            self.add(Name::Bandwidth, rate * bytes * 8.0, formula);
        }
        let Some(connections) = given.connections else { return };
        if let Some(ports) = given.ports.filter(|ports| *ports > 0.0) {
            let formula = format!("{} / {}", number(connections), number(ports));
            self.add(Name::ClientAddresses, up(connections / ports), formula);
        }
        let formula = format!("{} × {} B", number(connections), number(given.connection_bytes));
        self.add(Name::Memory, connections * given.connection_bytes, formula);
    }
}

/// Rounds up to a whole number, with a tolerance for division errors.
fn up(exact: f64) -> f64 {
    let whole = if exact - exact.floor() < WHOLE * exact.max(1.0) { exact.floor() } else { exact.ceil() };
    whole.max(1.0)
}

/// A number like `1,388.9`: with up to four decimals for a small one.
pub fn number(value: f64) -> String {
    let decimals: usize = match value.abs() {
        at if at >= 1_000.0 => 1,
        at if at >= 1.0 => 2,
        _ => 4,
    };
    let rounded = format!("{value:.decimals$}");
    let (whole, rest) = rounded.split_once('.').unwrap_or((&rounded, ""));
    let rest = rest.trim_end_matches('0');
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut text = sign.to_owned();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if !rest.is_empty() {
        text.push('.');
        text.push_str(rest);
    }
    text
}

fn percent(share: f64) -> String {
    format!("{} %", number(share * 100.0))
}
