//! `onrush demo`: a first look, against a server of its own.

use std::io::IsTerminal;
use std::net::{IpAddr, Ipv4Addr};
use std::ops::ControlFlow;
use std::time::Duration;

use engine::StopHandle;
use plan::{Draft, Flags};
use target::{ServeOptions, Server};

use crate::commands::run::{Load, Prepared};
use crate::commands::serve;
use crate::exit::Exit;
use crate::options::args::{DemoArgs, EngineArgs, USER_AGENT};
use crate::output;
use crate::session::run_settings::RunSettings;

/// The span of the calibration, and the default span of the load that is shown.
const PROBE_SPAN: Duration = Duration::from_secs(1);
const SHOWN_SPAN: Duration = Duration::from_secs(5);
/// The shortest useful load.
const SPAN_MIN: Duration = Duration::from_millis(100);
/// The fraction of the machine's maximum that is requested: server and load share its cores, and both need headroom.
const SHARE: f64 = 0.15;
/// The minimum rate, however slow the machine is.
const RATE_MIN: u64 = 100;

pub(crate) fn demo(args: &DemoArgs) -> Exit {
    let load = Load::new(&args.view);
    let language = load.view.language;
    let span = args.duration.as_deref().map_or(Ok(SHOWN_SPAN), |text| plan::parse_span("-z", text, SPAN_MIN));
    let span = match span {
        Ok(span) => span,
        Err(error) => return load.refuse(&report::plan_error(&error, language), Exit::Usage),
    };
    let listen = (IpAddr::V4(Ipv4Addr::LOCALHOST), 0).into();
    let driver = match driver::choose(args.driver.choice()) {
        Ok(driver) => driver.kind,
        Err(error) => return load.refuse(&report::driver_error(&error, language), Exit::System),
    };
    let server = match Server::start(&ServeOptions::plain(listen, host::allowed_cores().len(), driver)) {
        Ok(server) => server,
        Err(error) => {
            output::complain(&serve::serve_error(&error, language));
            return Exit::System;
        }
    };
    let url = Some(format!("http://{}/", server.address()));
    let flags = Flags { url, user_agent: USER_AGENT.to_owned(), ..Flags::default() };
    let draft = flags.draft().expect("an address makes a URL");
    let engine = EngineArgs { driver: args.driver.clone(), ..EngineArgs::default() };
    let exit = match measured(&load, &draft, &engine, span) {
        Ok(rate) => {
            let mut draft = draft;
            (draft.load.duration, draft.load.rate) = (Some(span), Some(rate * plan::RATE_UNIT));
            load.carry_out(&draft, &engine, &RunSettings::default())
        }
        Err(exit) => exit,
    };
    server.stop();
    // A hint for a user at a terminal; pipes and closed outputs get the results only.
    if exit == Exit::Done && std::io::stdout().is_terminal() {
        output::note(language.pick(
            "\nThis was onrush against its own server, at a rate that this machine bears easily. Your own: onrush http://host:port/path",
            "\n以上是 onrush 压测自带服务的结果。压测自己的服务：onrush http://主机:端口/路径",
        ));
    }
    exit
}

/// A rate for this machine: a fraction of its maximum in one second. The calibration takes no longer than the load.
fn measured(load: &Load, draft: &Draft, engine: &EngineArgs, span: Duration) -> Result<u64, Exit> {
    let (mut draft, span) = (draft.clone(), PROBE_SPAN.min(span));
    draft.load.duration = Some(span);
    let Prepared { plan, options, .. } = load.prepare(&draft, engine, &RunSettings::default())?;
    let probed = engine::run(&plan, &options, &StopHandle::default(), |_| ControlFlow::Continue(()));
    let result = probed.map_err(|error| load.refuse(&report::run_error(&error, load.view.language), Exit::System))?;
    let done = result.total.counts.finished() as f64 / span.as_secs_f64();
    Ok(rounded((done * SHARE) as u64).max(RATE_MIN))
}

/// Rounds down to two digits, so that the requested rate is easy to read.
fn rounded(rate: u64) -> u64 {
    let unit = 10u64.pow(rate.max(1).ilog10().saturating_sub(1));
    rate / unit * unit
}

#[test]
fn rates_have_two_digits() {
    let cases = [(0, 0), (7, 7), (42, 42), (431, 430), (15_999, 15_000), (100_000, 100_000), (1_299_999, 1_200_000)];
    for (rate, expect) in cases {
        assert_eq!(rounded(rate), expect);
    }
}
