//! Dashboards for watching and controlling a run: a page (`--web`, and `onrush web`), and the terminal screen
//! (`--screen`).

use std::io::IsTerminal;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::Control;
use figures::{Changed, Charts, HeldInterval, Interval, LiveTotals, Run, ThresholdResult};
use metrics::Threshold;
use pacing::Nanos;
use pacing::change::Change;
use plan::{Hold, Plan};
use report::{Doing, Language, Screen};
use screen::{Act, Display, ScreenStyle, Source};
use serde_json::Value;
use web::{Began, Hub, NameFiles, Offer, Reply, RunRequest, Site};

use crate::options::args::WatchArgs;
use crate::options::parse_addr::read_address;
use crate::output;
use crate::session::machine;
use crate::session::signals;

/// The variable with the token of a page; a secret is no flag.
pub(crate) const TOKEN: &str = "ONRUSH_WEB_TOKEN";
/// The default address of pages.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8089);

/// The page of `onrush web` that shows all runs of this process, and the pending response to the request of the next
/// run.
static SHOWN_ON: Mutex<Option<(Hub, Option<Reply>)>> = Mutex::new(None);

/// Shows further runs on this page. `response`: for the request of the next one.
pub(crate) fn show_on(hub: &Hub, response: Reply) {
    *SHOWN_ON.lock().unwrap_or_else(PoisonError::into_inner) = Some((hub.clone(), Some(response)));
}

/// Shows further runs on this page, however they are started.
pub(crate) fn show_all_on(hub: &Hub) {
    *SHOWN_ON.lock().unwrap_or_else(PoisonError::into_inner) = Some((hub.clone(), None));
}

/// Whether all runs of this process are shown on a page.
pub(crate) fn is_shown() -> bool {
    SHOWN_ON.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// Opens a page and prints its URL.
pub(crate) fn open(
    args: &WatchArgs,
    requests: Option<(std::sync::mpsc::Sender<RunRequest>, NameFiles)>,
    language: Language,
) -> Result<Site, String> {
    let listen = match &args.listen {
        None => LISTEN,
        Some(text) => read_address(text).ok_or_else(|| {
            language.pick(
                format!("--web-listen wants HOST:PORT with a literal address, like 127.0.0.1:8089, not '{text}'"),
                format!("--web-listen 的值 '{text}' 无效：应为地址:端口，如 127.0.0.1:8089"),
            )
        })?,
    };
    let token = match std::env::var(TOKEN).ok().filter(|token| !token.is_empty()) {
        Some(token) => match web::token_fault(&token) {
            Some((en, zh)) => return Err(language.pick(format!("{TOKEN} {en}"), format!("{TOKEN} {zh}"))),
            None => token,
        },
        None => web::new_token().map_err(|error| {
            language.pick(
                format!("no token can be made: {error}; set {TOKEN} to one of your own"),
                report::in_chinese(&format!("无法生成令牌：{error}；请通过 {TOKEN} 自行指定")),
            )
        })?,
    };
    let (sender, files) = requests.unzip();
    let offer = Offer { version: env!("CARGO_PKG_VERSION").to_owned(), language, files, requests: sender };
    let site = Site::start(listen, &token, offer).map_err(|error| {
        let otherwise = ("choose another address", "请换一个地址");
        let why = report::system_fault(&error.to_string(), Doing::Listen, otherwise, language);
        language.pick(
            format!("cannot listen on {listen} for the page: {why} (--web-listen)"),
            format!("无法在 {listen} 上提供页面：{why}（--web-listen）"),
        )
    })?;
    let address = site.address();
    let shown = match address.ip() {
        ip if ip.is_unspecified() => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), address.port()),
        _ => address,
    };
    output::note(&language.pick(
        format!("onrush: the page is at http://{shown}/#token={token}"),
        format!("onrush: 页面地址 http://{shown}/#token={token}"),
    ));
    Ok(site)
}

/// The dashboards of a running load: a page, the terminal screen, and charts that are kept; or none.
#[derive(Default)]
pub(crate) struct Dashboards {
    hub: Option<Hub>,
    has_begun: bool,
    /// The terminal screen, with its style.
    style: Option<ScreenStyle>,
    display: Option<Display>,
    /// Charts, which the dashboards also read.
    charts: Option<Arc<Mutex<Charts>>>,
    /// The page of this run, which closes with it.
    _site: Option<Site>,
}

/// The source of the terminal screen: the same hub as for pages.
struct HubSource(Hub);

impl Source for HubSource {
    fn run(&self) -> Value {
        self.0.value()
    }

    fn charts(&self) -> Value {
        self.0.series()
    }

    fn act(&self, act: &Act) -> Result<(), [String; 2]> {
        match act {
            Act::Change(body) => self.0.change(body.clone()).map(drop).map_err(|fault| [fault.text, fault.text_zh]),
            // The same as Ctrl-C in a normal terminal: the first stops, the second aborts.
            Act::Stop | Act::Abort => signals::interrupt().map_err(|error| [error.to_string(), error.to_string()]),
        }
    }
}

impl Dashboards {
    /// Opens the page of one run, or uses the page of all runs.
    pub(crate) fn begin(args: &WatchArgs, screen: &Screen) -> Result<Self, String> {
        let language = screen.language;
        if args.screen && !std::io::stdout().is_terminal() {
            let text = language.pick(
                "--screen wants a terminal, and stdout is none; leave it out, or use --web",
                "--screen 需要终端，而标准输出不是终端；请去掉该参数，或改用 --web",
            );
            return Err(text.to_owned());
        }
        let shown = SHOWN_ON.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|(hub, _)| hub.clone());
        if let Some(hub) = shown {
            let mut watching = Self::default();
            watching.hub = Some(hub);
            return Ok(watching);
        }
        let site = if args.web { Some(open(args, None, language)?) } else { None };
        let style = args.screen.then_some(ScreenStyle { language, has_colors: screen.is_colorful });
        let alone = args.screen.then(Hub::alone);
        let mut watching = Self::default();
        (watching.hub, watching.style, watching._site) = (site.as_ref().map(Site::hub).or(alone), style, site);
        Ok(watching)
    }

    /// Starts to keep charts, if an artifact or a dashboard needs them.
    pub(crate) fn draw(&mut self, plan: &Plan, wants_charts: bool) {
        self.charts = (wants_charts || self.is_on()).then(|| Arc::new(Mutex::new(Charts::new(plan))));
    }

    /// Restores the terminal, and prints the held back output.
    pub(crate) fn give_back(&mut self) {
        if let (Some(mut display), Some(style)) = (self.display.take(), self.style) {
            display.end();
            output::release(style.language);
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.hub.is_some()
    }

    fn started(&mut self, plan: Value, control: &Control, warmup: Duration) {
        let Some(hub) = &self.hub else { return };
        let began_unix = machine::now_unix() + warmup;
        hub.begin(Began { plan, control: control.clone(), charts: self.charts.clone(), began_unix });
        self.has_begun = true;
        if let Some(style) = self.style {
            output::hold_back();
            match Display::start(Box::new(HubSource(hub.clone())), style) {
                Ok(display) => self.display = Some(display),
                Err(error) => {
                    output::release(style.language);
                    output::complain(&style.language.pick(
                        format!("the terminal cannot be taken: {error}; the run goes on without --screen"),
                        report::in_chinese(&format!("无法接管终端：{error}；压测继续进行，不使用 --screen")),
                    ));
                }
            }
        }
        if let Some((_, response)) = SHOWN_ON.lock().unwrap_or_else(PoisonError::into_inner).as_mut()
            && let Some(response) = response.take()
        {
            response.give(Ok(()));
        }
    }

    /// Reports that a load begins. `plan`: without secrets.
    pub(crate) fn load_started(&mut self, plan: &Plan, address: SocketAddr, control: &Control) {
        if self.is_on() {
            self.started(report::live_plan(plan, address), control, plan.warmup);
        }
    }

    /// Reports that connections begin to be held.
    pub(crate) fn hold_started(&mut self, plan: &Hold, address: SocketAddr, control: &Control) {
        if self.is_on() {
            self.started(report::live_hold_plan(plan, address), control, Duration::ZERO);
        }
    }

    pub(crate) fn interval(
        &self,
        reported: &engine::Interval<'_>,
        interval: &Interval,
        plan: &Plan,
        thresholds: &[Threshold],
    ) {
        self.in_charts(|charts| charts.interval(interval));
        let Some(hub) = &self.hub else { return };
        hub.interval(interval, LiveTotals::new(reported, plan), &ThresholdResult::so_far(thresholds, plan, reported));
    }

    pub(crate) fn held(&self, interval: &HeldInterval) {
        if let Some(hub) = &self.hub {
            hub.held(interval);
        }
    }

    /// Reports a change of the load.
    pub(crate) fn changed(&self, change: &Change, changed: &Changed, control: &Control) {
        self.in_charts(|charts| charts.change(change.scenario, &control.timeline(change.scenario)));
        let texts = [Language::En, Language::Zh].map(|language| report::change_text(changed, language));
        self.mark(changed.at, "change", texts.into());
    }

    fn in_charts(&self, act: impl FnOnce(&mut Charts)) {
        if let Some(charts) = &self.charts {
            act(&mut charts.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Marks an event, with texts in English and Chinese.
    pub(crate) fn mark(&self, at: Nanos, kind: &'static str, texts: (String, String)) {
        self.in_charts(|charts| charts.mark(at, kind, texts.clone()));
        if let Some(hub) = &self.hub {
            hub.event(at, kind, &texts);
        }
    }

    /// The chart data of a finished run; null without charts.
    pub(crate) fn charts_value(&self, run: &Run) -> Value {
        let mut value = Value::Null;
        self.in_charts(|charts| value = report::charts_value(charts, run));
        value
    }

    /// Ends the run: pages receive the report, and the page of this run closes.
    pub(crate) fn over(mut self, report: &Value, charts: &Value) {
        if let Some(hub) = self.hub.take() {
            hub.over(report, charts);
        }
    }
}

impl Drop for Dashboards {
    /// A failed run has no report, and is over too.
    fn drop(&mut self) {
        self.give_back();
        if let Some(hub) = self.hub.take().filter(|_| self.has_begun) {
            hub.failed();
        }
    }
}
