//! Conclusions in words, with their evidence.

use engine::{Basis, Gaps, Limit, NotTried, PaceHeld, Unknown, UsersPart, Verdict};
use figures::{Run, ScenarioRun};

use crate::Language;
use crate::format::{count, counted, rate, time};

/// The conclusion from more than the counts of the run; `None` where the counts are enough.
pub(super) fn said(run: &Run, language: Language) -> Option<String> {
    let verdict = &run.verdict;
    match (&verdict.known, verdict.limit) {
        (known, Limit::Machine) => machine(run, known, language),
        // Without workers, or ports, the other evidence means nothing.
        (_, Limit::Workers | Limit::PortsOrDescriptors | Limit::Generator | Limit::Link) | (Basis::Counts, _) => None,
        (Basis::Nothing(Unknown::TooLittle), _) => None,
        (Basis::PaceHeld(held), Limit::PlanKept) => Some(kept(held, language)),
        (Basis::PaceHeld(held), _) => Some(pausing(held, language)),
        (Basis::Probe(part), limit) => Some(probe_text(run, part, limit, language)),
        (Basis::Curve(part), limit) => Some(curve_text(run, part, limit, language)),
        (Basis::FirstRound(share), _) => Some(first_round_text(run, *share, language)),
        (Basis::StoodStill(gaps), _) => Some(stalled(gaps, language)),
        (Basis::Outage(gaps), _) => Some(outage(run, gaps, language)),
        (Basis::LostSyns { lost, of }, _) => Some(lost_syns(*lost, *of, language)),
        (Basis::Starved { requests, of }, _) => Some(language.pick(
            format!(
                "{} took more than half as long as the whole load, while others of its {} got many responses",
                counted(*requests, "request"),
                counted(*of, "user")
            ),
            format!(
                "有 {} 个请求用了压测时长的一半以上，而 {} 个用户中的其他用户得到了很多响应",
                count(*requests),
                count(*of)
            ),
        )),
        (Basis::Refusals { status, refused, served_per_s }, _) => {
            let (refused, all, served) = (count(*refused), count(run.limited().tally.finished()), rate(*served_per_s));
            Some(language.pick(
                format!(
                    "the target served {served}/s and refused the rest with {status} ({refused} of {all} responses)"
                ),
                format!("被测服务每秒成功 {served} 个，其余以 {status} 拒绝（{all} 个响应中的 {refused} 个）"),
            ))
        }
        (Basis::Waits { connections, share }, _) => Some(waits(run, *connections, *share, language)),
        (Basis::Nothing(why), _) => Some(unknown(run, why, language)),
    }
}

/// The generator and the target share a machine that was saturated.
fn machine(run: &Run, known: &Basis, language: Language) -> Option<String> {
    let machine = run.verdict.machine?;
    let [own, others, cores] =
        [machine.own, (machine.busy - machine.own).max(0.0), machine.cores].map(|cores| format!("{cores:.1}"));
    let (achieved, cores) = (rate(run.limited().rate), cores.trim_end_matches(".0"));
    let gives = match known {
        Basis::Probe(part) => {
            let (those, share) = (those(run, language), in_percent(part.rate));
            language.pick(format!("; {those} got {share} of the rate"), format!("；只留{those}时，吞吐为 {share}"))
        }
        _ => String::new(),
    };
    Some(language.pick(
        format!("this machine was full, at {achieved}/s: onrush had {own} and others {others} of its {cores} cores{gives}; load the target from another machine to see what it takes"),
        format!("本机的核已占满，{achieved}/s：{cores} 个核中 onrush 用了 {own}，其他程序用了 {others}{gives}；要看被测服务的能力，请从另一台机器施压"),
    ))
}

/// The step that took most of the time, unless that only repeats the failures.
pub(super) fn held_by(verdict: &Verdict, of: &ScenarioRun, language: Language) -> String {
    let tells =
        matches!(verdict.limit, Limit::PlanKept | Limit::Target | Limit::Below | Limit::Unknown | Limit::Machine);
    let Some(held) = of.held_by.as_ref().filter(|_| tells) else { return String::new() };
    let (step, [took, all]) = (&held.step, [held.step_ns, held.iteration_ns].map(time));
    match held.is_of_users {
        true => language.pick(
            format!("; {took} of the {all} of an iteration went into '{step}'"),
            format!("；每次迭代 {all}，其中“{step}”占 {took}"),
        ),
        false => language.pick(
            format!("; {took} of the {all} that requests of an iteration took went into '{step}'"),
            format!("；每次迭代的请求共 {all}，其中“{step}”占 {took}"),
        ),
    }
}

fn lost_syns(lost: u64, of: u64, language: Language) -> String {
    let (lost, all, of) = (count(lost), count(of), counted(of, "connection"));
    language.pick(
        format!("the listen queue of the target was full, or packets were lost: {lost} of {of} took 1, 2, 3 or more whole seconds, as when a SYN is sent again; raise its backlog (somaxconn), or keep connections"),
        format!("被测服务的监听队列已满，或有丢包：{all} 个连接中有 {lost} 个用了 1、2、3 等整数秒，是重发 SYN 的迹象；请增大其 backlog（somaxconn），或复用连接"),
    )
}

fn kept(held: &PaceHeld, language: Language) -> String {
    let (users, rate) = (held.users.round() as u64, rate(held.iterations_per_s));
    let [target, iteration] = [held.target_ns, held.iteration_ns].map(time);
    language.pick(
        format!(
            "the plan was kept: {} held their pace, {rate} iterations/s; the target took {target} of the {iteration} of an iteration",
            counted(users, "user")
        ),
        format!("计划已达成：{} 个用户保持了自己的节奏，每秒 {rate} 次迭代；每次迭代 {iteration}，其中被测服务占 {target}", count(users)),
    )
}

/// Starts of an open load wait for users that pause.
fn pausing(held: &PaceHeld, language: Language) -> String {
    let users = held.users.round() as u64;
    let [target, iteration] = [held.target_ns, held.iteration_ns].map(time);
    language.pick(
        format!(
            "the users were too few: starts waited for one of {}, who pause; the target took {target} of the {iteration} of an iteration; raise 'connections', or leave it out",
            counted(users, "user")
        ),
        format!(
            "用户太少：请求等待 {} 个用户之一，而他们处于思考时间；每次迭代 {iteration}，其中被测服务占 {target}；请增大或去掉 connections",
            count(users)
        ),
    )
}

fn in_percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// Half of the users, or their number; in Chinese with the blank that a number has before it.
fn those(run: &Run, language: Language) -> String {
    match run.probe_of_limited() {
        Some(probe) if probe.users * 2 != probe.of => language.pick(
            format!("{} of {}", count(probe.users), counted(probe.of, "user")),
            format!(" {} 个用户中的 {} 个", count(probe.of), count(probe.users)),
        ),
        _ => language.pick("half of the users", "一半的用户").to_owned(),
    }
}

fn probe_text(run: &Run, part: &UsersPart, limit: Limit, language: Language) -> String {
    // The probe is compared with the rate before the end.
    let before = run
        .probe_of_limited()
        .and_then(|probe| probe.before)
        .map_or(run.limited().rate, |before| before.succeeded_per_s());
    let (those, share, achieved) = (those(run, language), in_percent(part.rate), rate(before));
    let time = part.time.map(in_percent);
    match (limit, part.is_refused, time) {
        (Limit::Target, true, _) => language.pick(
            format!("the target is at its limit: {those} got {share} of its successes, and it refuses the rest"),
            format!("被测服务已达上限：只留{those}时，成功的请求为原来的 {share}；其余请求被拒绝"),
        ),
        (Limit::Target, false, Some(time)) => language.pick(
            format!("the target is at its limit, {achieved}/s: {those} got {share} of the rate in {time} of the time; more users only wait longer"),
            format!("被测服务已达上限，{achieved}/s：只留{those}时，吞吐为原来的 {share}，响应时间为原来的 {time}；更多用户只会等得更久"),
        ),
        (Limit::Target, false, None) => language.pick(
            format!("the target is at its limit, {achieved}/s: {those} got {share} of the rate; more users only wait longer"),
            format!("被测服务已达上限，{achieved}/s：只留{those}时，吞吐为原来的 {share}；更多用户只会等得更久"),
        ),
        _ => language.pick(
            format!("fewer users give less than {achieved}/s: {those} got {share} of the rate; whether more give more was not tried: onrush find-max --vary users"),
            format!("用户更少，吞吐就更低（现为 {achieved}/s）：只留{those}时为 {share}；再增加用户能否更快尚未试过，可用 onrush find-max --vary users"),
        ),
    }
}

/// The number of connections as it is written: a key of a file, or a flag.
fn connections_key(run: &Run) -> &'static str {
    let name = run.plan.scenarios.get(run.verdict.scenario).map_or("", |scenario| scenario.name.as_str());
    if name == plan::SCENARIO_OF_URL { "-c" } else { "'connections'" }
}

fn curve_text(run: &Run, part: &UsersPart, limit: Limit, language: Language) -> String {
    let (kept, share, key) = (in_percent(part.kept), in_percent(part.rate), connections_key(run));
    match limit {
        Limit::Target => language.pick(
            format!("the target is at its limit: with {kept} as many requests in flight it gave {share} of the rate"),
            format!("被测服务已达上限：在途请求只有最多时的 {kept} 时，吞吐已达到 {share}"),
        ),
        Limit::Connections => language.pick(
            format!("the connections were too few: all were busy and starts waited, and with {kept} of them the rate was {share}; raise {key}, or leave it out"),
            format!("连接太少：全部在忙，请求在等待，而只用其中 {kept} 时吞吐为 {share}；请增大或去掉 {key}"),
        ),
        _ => language.pick(
            format!("fewer users give less: with {kept} as many requests in flight the rate was {share}; whether more give more was not tried: onrush find-max --vary users"),
            format!("用户更少，吞吐就更低：在途请求只有最多时的 {kept} 时，吞吐为 {share}；再增加用户能否更快尚未试过，可用 onrush find-max --vary users"),
        ),
    }
}

/// All users began at once, and found no queue yet.
fn first_round_text(run: &Run, share: f64, language: Language) -> String {
    let (achieved, share) = (rate(run.limited().rate), in_percent(share));
    language.pick(
        format!("the target is at its limit, {achieved}/s: the first request of each user took {share} of the time of later ones, as where a queue fills up"),
        format!("被测服务已达上限，{achieved}/s：每个用户的第一个请求用时只有后来请求的 {share}，因为那时还没有排队"),
    )
}

fn stalled(gaps: &Gaps, language: Language) -> String {
    let (from, to) = instants(gaps);
    let again = match gaps.came_back {
        true => language.pick(", then responses again", "，此后恢复响应"),
        false => language.pick(", to the end", "，直到结束"),
    };
    language.pick(
        format!(
            "the target stalled: no response on any connection from {from} to {to}{again}{}",
            others(gaps, language)
        ),
        format!("被测服务卡顿：从 {from} 到 {to} 所有连接都没有响应{again}{}", others(gaps, language)),
    )
}

fn outage(run: &Run, gaps: &Gaps, language: Language) -> String {
    let (from, to) = instants(gaps);
    let said = counted(run.limited().tally.all_started(), "request");
    let (refused, started) = (count(gaps.refused), count(run.limited().tally.all_started()));
    let again = match gaps.came_back {
        true => language.pick(", then answered again", "，此后恢复服务"),
        false => language.pick(
            ", to the end; see whether it still runs, and its log",
            "，直到结束；请检查服务是否仍在运行，并查看其日志",
        ),
    };
    language.pick(
        format!(
            "the target refused connections from {from} to {to} ({refused} of {said}){again}{}",
            others(gaps, language)
        ),
        format!(
            "被测服务从 {from} 到 {to} 拒绝连接（{started} 个请求中的 {refused} 个）{again}{}",
            others(gaps, language)
        ),
    )
}

fn instants(gaps: &Gaps) -> (String, String) {
    let instant = |at: pacing::Nanos| format!("{:.1}s", at.as_secs_f64());
    (instant(gaps.from), instant(gaps.to))
}

fn others(gaps: &Gaps, language: Language) -> String {
    let sum = time(gaps.sum.0 as f64);
    match gaps.count {
        0 | 1 => String::new(),
        times => language.pick(format!("; {times} times, {sum} in all"), format!("；共 {times} 次，合计 {sum}")),
    }
}

fn waits(run: &Run, connections: u64, share: f64, language: Language) -> String {
    let share = in_percent(share);
    let shares = run.plan.scenarios.get(run.verdict.scenario).is_some_and(|one| one.shared_connections.is_some());
    match shares {
        true => language.pick(
            format!("the shared connections were the limit: requests waited {share} of their time for one of {}; raise 'connections', or leave it out", counted(connections, "connection")),
            format!("瓶颈在共用的连接：请求有 {share} 的时间在等待 {} 个连接之一；请增大或去掉 connections", count(connections)),
        ),
        false => language.pick(
            format!("the streams were the limit: requests waited {share} of their time for a stream that the target allows on one of {}; more connections (-c) have more", counted(connections, "connection")),
            format!("瓶颈在流的数量：请求有 {share} 的时间在等待服务端允许的流（共 {} 个连接）；增加连接（-c）可得到更多的流", count(connections)),
        ),
    }
}

/// The reason why the bottleneck is unknown, and what would show it.
fn unknown(run: &Run, why: &Unknown, language: Language) -> String {
    let achieved = rate(run.limited().rate);
    if let Unknown::AllBusy { connections } = why {
        let requested = run.limited().requested_per_s.map_or(String::new(), rate);
        let key = connections_key(run);
        return language.pick(
            format!("{achieved}/s of {requested}/s requested: starts waited for one of {}; whether more of them give more is not known: try {key} {}", counted(*connections, "connection"), connections * 2),
            format!("实际 {achieved}/s，计划 {requested}/s：请求等待 {} 个连接之一；更多连接能否更快尚不清楚：请试 {key} {}", count(*connections), connections * 2),
        );
    }
    let because = match why {
        Unknown::TooLittle | Unknown::AllBusy { .. } => language.pick("too little was measured", "数据太少"),
        Unknown::NotTried(why) => not_tried(*why, language),
        Unknown::Unsteady => language.pick(
            "the rate was still changing at the end; a longer run (-z) may tell",
            "结束时吞吐仍在变化；延长时间（-z）或可判断",
        ),
        Unknown::Unsure(part) => {
            let (those, share) = (those(run, language), in_percent(part.rate));
            return language.pick(
                format!("{achieved}/s; not known whether the target was at its limit: {those} got about {share} of the rate, which is not sure enough; a longer run (-z) may tell"),
                format!("实际 {achieved}/s；无法判断被测服务是否已达上限：只留{those}时，吞吐约为原来的 {share}，尚不足以判断；延长时间（-z）或可判断"),
            );
        }
        Unknown::Differing => language
            .pick("with half of the users another share of the requests failed", "用户减半后，请求的失败比例不同"),
        Unknown::TooFewAnswers => language.pick(
            "half of the users got too few responses to compare; a longer run (-z) may tell",
            "用户减半后响应太少，无法比较；延长时间（-z）或可判断",
        ),
    };
    language.pick(
        format!("{achieved}/s; not known whether the target was at its limit: {because}"),
        format!("实际 {achieved}/s；无法判断被测服务是否已达上限：{because}"),
    )
}

fn not_tried(why: NotTried, language: Language) -> &'static str {
    let (english, chinese) = match why {
        NotTried::NotYet | NotTried::Unwanted => (
            "half of the users were not tried (--no-probe); onrush find-max --vary users tells",
            "没有用一半的用户试过（--no-probe）；可用 onrush find-max --vary users 判断",
        ),
        NotTried::Counted => (
            "a load that a number or a budget ends is not probed; one with a time is (-z 10s)",
            "按数量或用量上限结束的压测不做试探；按时间结束的会（-z 10s）",
        ),
        NotTried::Stopped => ("it was stopped before half of the users were tried", "在用一半的用户试探之前就停止了"),
        NotTried::NotRequested => (
            "half of the users are tried in a file when it is asked for: --probe, or probe: true under run",
            "场景文件需要明确要求才会用一半的用户试探：--probe，或 run 下的 probe: true",
        ),
        NotTried::Changing => (
            "half of the users were not tried, since these requests may change the target; --probe tries them",
            "这些请求可能改变被测服务，因此没有用一半的用户试探；--probe 可以试探",
        ),
        NotTried::OneUser => ("one user has no half; compare with -c 2", "只有一个用户；请与 -c 2 比较"),
        NotTried::UsersChanged => (
            "users came or went shortly before the end; let the last number of them stay longer",
            "临近结束时用户数仍在变化；请让最后的用户数多保持一段时间",
        ),
        NotTried::Failed => {
            ("this machine did not give what half of the users needed", "本机无法提供一半用户试探所需的资源")
        }
        NotTried::Shared => (
            "half of the users are not tried where they share connections; compare with more connections",
            "共用连接时不用一半的用户试探；请与更多连接比较",
        ),
        NotTried::Elsewhere => (
            "the workers of a cluster do not try half of the users; onrush find-max --vary users tells",
            "集群中的工作进程不用一半的用户试探；可用 onrush find-max --vary users 判断",
        ),
        NotTried::FewInWorkers => (
            "a worker with one user has no half; compare with twice as many users",
            "某个工作进程只有一个用户，无法减半；请与两倍的用户比较",
        ),
        NotTried::Several => (
            "half of the users are tried where all scenarios are of users and end together; --only NAME runs one",
            "只有全部场景都是固定并发且同时结束，才会用一半的用户试探；可用 --only 名称 单独运行",
        ),
        NotTried::Once => (
            "half of the users cannot be tried where rows, barriers or first steps are used once",
            "数据行、集合点或起始步骤只能用一次，因此无法用一半的用户试探",
        ),
    };
    language.pick(english, chinese)
}
