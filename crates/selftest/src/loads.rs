//! The loads of the self-test, and the theory of each.

use std::net::SocketAddr;

use engine::RunResult;
use metrics::{Class, Distribution, Failure, Measure};
use plan::Flags;

use crate::world::World;
use crate::{Row, SelftestError, Unit};

type Words = (&'static str, &'static str);

const MILLI: f64 = 1e6;
const SECOND: f64 = 1e9;
/// Tolerance between the delay of the target and our measurement: the network between them, and the wake-ups of two
/// threads.
const HELD: f64 = 0.3 * MILLI;
const HELD_SHARE: f64 = 0.01;
/// Tolerance of the tail: the slowest of a hundred have a late wake-up.
const TAIL: f64 = 2.0 * MILLI;

/// The self-test in one world.
pub(crate) struct Bench<'a, W> {
    pub(crate) world: W,
    pub(crate) notify: &'a mut dyn FnMut(&Row),
}

/// A measured figure and its expected value.
struct Figure {
    name: Words,
    unit: Unit,
    expected: f64,
    measured: f64,
    tolerance: f64,
}

fn exact(name: Words, expected: u64, measured: u64) -> Figure {
    Figure { name, unit: Unit::Count, expected: expected as f64, measured: measured as f64, tolerance: 0.0 }
}

fn time(name: Words, expected: f64, measured: f64, tolerance: f64) -> Figure {
    Figure { name, unit: Unit::Time, expected, measured, tolerance }
}

fn at(times: &Distribution, quantile: f64) -> f64 {
    times.quantile(quantile).unwrap_or(0) as f64
}

impl<W: World> Bench<'_, W> {
    pub(crate) fn all(mut self) -> Result<(), SelftestError> {
        self.counts()?;
        self.constant_delay()?;
        self.random_delay()?;
        self.users()?;
        self.slow_body()?;
        self.hung()?;
        self.freeze()?;
        self.hidden_freeze()
    }

    fn load(&mut self, address: SocketAddr, path: &str, flags: Flags) -> Result<RunResult, SelftestError> {
        let url = Some(format!("http://{address}{path}"));
        let plan = Flags { url, user_agent: "onrush-selftest".to_owned(), ..flags }.plan()?;
        self.world.load(&plan)
    }

    fn report(&mut self, load: Words, figures: impl IntoIterator<Item = Figure>) {
        for Figure { name, unit, expected, measured, tolerance } in figures {
            let driver = self.world.name();
            (self.notify)(&Row { driver, load, figure: name, unit, expected, measured, tolerance });
        }
    }

    /// Counts, shares and bytes are exact.
    fn counts(&mut self) -> Result<(), SelftestError> {
        let target = self.world.serve()?;
        let load = ("2,000 requests, 12.5% fail", "2,000 个请求，12.5% 失败");
        let result = self.load(target, "/fail/12.5", flags(&[("c", "20"), ("n", "2000")]))?;
        let counts = &result.total.counts;
        let failed = counts.failures().find(|(failure, _)| *failure == Failure::Status).map_or(0, |(_, count)| count);
        self.report(
            load,
            [
                exact(("succeeded", "成功数"), 1_750, counts.succeeded()),
                exact(("failed by status", "状态码失败数"), 250, failed),
                exact(("status 500", "状态码 500"), 250, u64::from(counts.statuses[500] as u32)),
            ],
        );
        let result = self.load(target, "/bytes/10000", flags(&[("c", "7"), ("n", "500")]))?;
        let load = ("500 bodies of 10,000 bytes", "500 个 10,000 字节的响应体");
        self.report(load, [exact(("bytes of bodies", "响应体字节"), 5_000_000, result.total.counts.body_bytes())]);
        Ok(())
    }

    fn constant_delay(&mut self) -> Result<(), SelftestError> {
        let target = self.world.serve()?;
        let result = self.load(target, "/delay/5", flags(&[("q", "200"), ("z", "2s"), ("c", "20")]))?;
        let (seen, held) = (result.total.class(Class::Succeeded), self.world.held());
        let service = seen.by_measure(Measure::Service);
        let load = ("delay 5 ms, 200/s", "延迟 5 ms，200/s");
        self.report(
            load,
            [
                exact(("started", "发起数"), 400, result.total.counts.started()),
                held_at(("service p50, of the target's own", "服务时间 p50，对比服务端"), 0.5, service, &held),
                time(("service p50, of theory", "服务时间 p50，对比理论"), 5.0 * MILLI, at(service, 0.5), MILLI),
            ],
        );
        Ok(())
    }

    fn random_delay(&mut self) -> Result<(), SelftestError> {
        let target = self.world.serve()?;
        let flags = flags(&[("q", "400"), ("z", "3s"), ("c", "60")]);
        let result = self.load(target, "/delay/uniform/10-50", flags)?;
        let (seen, held) = (result.total.class(Class::Succeeded), self.world.held());
        let service = seen.by_measure(Measure::Service);
        let load = ("delay uniform 10 to 50 ms, 400/s", "延迟 10 到 50 ms 均匀分布，400/s");
        self.report(
            load,
            [
                exact(("started", "发起数"), 1_200, result.total.counts.started()),
                held_at(("service p50, of the target's own", "服务时间 p50，对比服务端"), 0.5, service, &held),
                held_at(("service p90, of the target's own", "服务时间 p90，对比服务端"), 0.9, service, &held),
                held_at(("service p99, of the target's own", "服务时间 p99，对比服务端"), 0.99, service, &held),
            ],
        );
        Ok(())
    }

    /// Closed-loop users make a rate: their number divided by the time of one exchange.
    fn users(&mut self) -> Result<(), SelftestError> {
        let target = self.world.serve()?;
        let result = self.load(target, "/delay/20", flags(&[("c", "50"), ("z", "2s")]))?;
        let held = self.world.held().mean().unwrap_or(20.0 * MILLI);
        let expected = 50.0 * SECOND / held;
        let measured = result.total.counts.finished() as f64 / result.wall.as_secs_f64();
        let name = ("requests/s = 50 / time of one", "每秒请求数 = 50 / 单次耗时");
        let figure = Figure { name, unit: Unit::PerSecond, expected, measured, tolerance: expected * 0.05 };
        self.report(("50 users, delay 20 ms", "50 个用户，延迟 20 ms"), [figure]);
        Ok(())
    }

    /// Ten pieces, 10 ms apart: the first byte arrives at once, the last after 90 ms.
    fn slow_body(&mut self) -> Result<(), SelftestError> {
        let target = self.world.serve()?;
        let result = self.load(target, "/drip/10/10", flags(&[("c", "5"), ("n", "50")]))?;
        let seen = result.total.class(Class::Succeeded);
        let load = ("a body in 10 pieces, 10 ms apart", "响应体分 10 块，间隔 10 ms");
        self.report(
            load,
            [
                time(("first byte p50", "首字节 p50"), 0.0, at(seen.by_measure(Measure::FirstByte), 0.5), 2.0 * MILLI),
                time(
                    ("service p50", "服务时间 p50"),
                    90.0 * MILLI,
                    at(seen.by_measure(Measure::Service), 0.5),
                    3.0 * MILLI,
                ),
            ],
        );
        Ok(())
    }

    /// Timeouts occur when they are due, though no response ever arrives.
    fn hung(&mut self) -> Result<(), SelftestError> {
        let target = self.world.serve()?;
        let flags = flags(&[("c", "5"), ("n", "10"), ("t", "500ms")]);
        let result = self.load(target, "/delay/60000", flags)?;
        let timed_out = result.total.class(Class::TimedOut);
        let times = timed_out.by_measure(Measure::Service);
        let load = ("no answer, timeout 500 ms", "没有响应，超时 500 ms");
        self.report(
            load,
            [
                exact(("timeouts", "超时数"), 10, times.count()),
                time(("given up after, max", "超时前等待，最长"), 500.0 * MILLI, at(times, 1.0), 20.0 * MILLI),
            ],
        );
        Ok(())
    }

    /// 1,000 starts a second, and the target freezes for a second: starts due in the freeze wait for the rest of it,
    /// uniformly distributed between zero and its length. So with a share `f` of all starts in the freeze, the quantile
    /// q above 1 - f is (q - (1 - f)) / f of the freeze.
    fn freeze(&mut self) -> Result<(), SelftestError> {
        const STARTS: f64 = 4_000.0;
        let target = self.world.serve()?;
        let capacity = self.load(target, "/", flags(&[("c", "10"), ("z", "300ms")]))?;
        let served_per_s = capacity.total.counts.finished() as f64 / capacity.wall.as_secs_f64();
        self.load(target, "/stall/1500/1000", flags(&[("c", "1"), ("n", "1")]))?;
        let result = self.load(target, "/", flags(&[("q", "1000"), ("z", "4s"), ("c", "10")]))?;
        let frozen = self.world.frozen().0 as f64;
        // Queued requests are served after the freeze, one after the other.
        let drain = 1_000.0 / served_per_s.max(1.0) * SECOND;
        let share = frozen / SECOND * 1_000.0 / STARTS;
        let seen = result.total.class(Class::Succeeded);
        let response = seen.by_measure(Measure::Response);
        let waited = |name, quantile: f64| {
            let expected = (quantile - (1.0 - share)) / share * frozen;
            time(name, expected, at(response, quantile), expected * 0.02 + 2.0 * MILLI + drain)
        };
        let slow = seen.by_measure(Measure::Service).count_between(100_000_000, 10_000_000_000);
        // At most one slow exchange for each connection, and at least one: the service time hides the rest.
        let slow = Figure {
            name: ("slow service times (1 to 10 connections)", "偏慢的服务时间个数（1 到 10 个连接）"),
            unit: Unit::Count,
            expected: 5.5,
            measured: slow as f64,
            tolerance: 4.5,
        };
        self.report(
            ("frozen for 1 s, 1,000/s", "卡顿 1 s，1,000/s"),
            [
                exact(("started", "发起数"), STARTS as u64, result.total.counts.started()),
                waited(("response p90", "响应时间 p90"), 0.9),
                waited(("response p99", "响应时间 p99"), 0.99),
                waited(("response max", "响应时间最大值"), 1.0),
                slow,
            ],
        );
        Ok(())
    }

    /// The same freeze under a closed load: the requests that would have met it were never started.
    fn hidden_freeze(&mut self) -> Result<(), SelftestError> {
        let target = self.world.serve()?;
        self.load(target, "/stall/500/1000", flags(&[("c", "1"), ("n", "1")]))?;
        let result = self.load(target, "/delay/5", flags(&[("c", "10"), ("z", "3s")]))?;
        let seen = result.total.class(Class::Succeeded);
        let response = seen.by_measure(Measure::Response);
        let frozen = self.world.frozen().0 as f64;
        self.report(
            ("the same, closed load of 10 users", "同上，固定并发 10 个用户"),
            [
                time(
                    ("response p99: the freeze is hidden", "响应时间 p99：卡顿被掩盖"),
                    5.0 * MILLI,
                    at(response, 0.99),
                    20.0 * MILLI,
                ),
                time(("response max", "响应时间最大值"), frozen, at(response, 1.0), 30.0 * MILLI),
            ],
        );
        Ok(())
    }
}

fn held_at(name: Words, quantile: f64, service: &Distribution, held: &Distribution) -> Figure {
    let expected = at(held, quantile);
    let tail = if quantile > 0.95 { TAIL } else { 0.0 };
    time(name, expected, at(service, quantile), HELD + HELD_SHARE * expected + tail)
}

/// Flags by their short names.
fn flags(pairs: &[(&str, &str)]) -> Flags {
    let value = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    Flags {
        connections: value("c"),
        requests: value("n"),
        duration: value("z"),
        rate: value("q"),
        timeout: value("t"),
        ..Flags::default()
    }
}
