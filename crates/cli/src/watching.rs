//! The page on which a run is watched and steered: `--web`, and `onrush web`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::Control;
use figures::{Charts, HeldInterval, Interval, Judged, Standing};
use metrics::Threshold;
use pacing::Nanos;
use plan::{Hold, Plan};
use report::Language;
use serde_json::Value;
use web::{Answer, Began, Hub, NameFiles, Offer, Order, Site};

use crate::args::WatchArgs;
use crate::listen::read_address;
use crate::{machine, output};

/// The variable with the token of a page; a secret is no flag.
pub(crate) const TOKEN: &str = "ONRUSH_WEB_TOKEN";
/// Where pages are, unless somebody says otherwise.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8089);

/// The page of `onrush web`, on which all runs of this process are shown, and whoever waits for the next one to begin.
static SHOWN_ON: Mutex<Option<(Hub, Option<Answer>)>> = Mutex::new(None);

/// From now on runs are shown here. `answer`: of whoever ordered the next one.
pub(crate) fn show_on(hub: &Hub, answer: Answer) {
    *SHOWN_ON.lock().unwrap_or_else(PoisonError::into_inner) = Some((hub.clone(), Some(answer)));
}

/// All runs of this process are shown on a page.
pub(crate) fn is_shown() -> bool {
    SHOWN_ON.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// Opens a page and says where it is.
pub(crate) fn open(
    args: &WatchArgs,
    orders: Option<(std::sync::mpsc::Sender<Order>, NameFiles)>,
    language: Language,
) -> Result<Site, String> {
    let listen = match &args.listen {
        None => LISTEN,
        Some(text) => read_address(text).ok_or_else(|| {
            language.pick(
                format!("--web-listen wants HOST:PORT with a literal address, like 127.0.0.1:8089, not '{text}'"),
                format!("--web-listen 需要 地址:端口，如 127.0.0.1:8089，而不是 '{text}'"),
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
    let (sender, files) = orders.unzip();
    let offer = Offer { version: env!("CARGO_PKG_VERSION").to_owned(), files, orders: sender };
    let site = Site::start(listen, &token, offer).map_err(|error| {
        language.pick(
            format!("cannot listen on {listen} for the page: {error}; choose another address with --web-listen"),
            report::in_chinese(&format!("无法在 {listen} 上提供页面：{error}；请用 --web-listen 换一个地址")),
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

/// What shows a run on a page; nothing, when there is none.
#[derive(Default)]
pub(crate) struct Watching {
    hub: Option<Hub>,
    has_begun: bool,
    /// Its own page, which goes with it.
    _site: Option<Site>,
}

impl Watching {
    /// Opens the page of one run, or shows it where all runs are shown.
    pub(crate) fn begin(args: &WatchArgs, language: Language) -> Result<Self, String> {
        let shown = SHOWN_ON.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|(hub, _)| hub.clone());
        if let Some(hub) = shown {
            return Ok(Self { hub: Some(hub), has_begun: false, _site: None });
        }
        if !args.web {
            return Ok(Self::default());
        }
        let site = open(args, None, language)?;
        Ok(Self { hub: Some(site.hub()), has_begun: false, _site: Some(site) })
    }

    pub(crate) fn is_on(&self) -> bool {
        self.hub.is_some()
    }

    fn started(&mut self, plan: Value, charts: Option<Arc<Mutex<Charts>>>, control: &Control, warmup: Duration) {
        let Some(hub) = &self.hub else { return };
        let began_unix = machine::now_unix() + warmup;
        hub.begin(Began { plan, control: control.clone(), charts, began_unix });
        self.has_begun = true;
        if let Some((_, answer)) = SHOWN_ON.lock().unwrap_or_else(PoisonError::into_inner).as_mut()
            && let Some(answer) = answer.take()
        {
            answer.give(Ok(()));
        }
    }

    /// A load begins. `plan`: without secrets; `charts`: of whoever keeps them up to date.
    pub(crate) fn load_started(
        &mut self,
        plan: &Plan,
        address: SocketAddr,
        control: &Control,
        charts: Option<&Arc<Mutex<Charts>>>,
    ) {
        if self.is_on() {
            self.started(report::live_plan(plan, address), charts.cloned(), control, plan.warmup);
        }
    }

    /// Connections begin to be held.
    pub(crate) fn hold_started(&mut self, plan: &Hold, address: SocketAddr, control: &Control) {
        if self.is_on() {
            self.started(report::live_hold_plan(plan, address), None, control, Duration::ZERO);
        }
    }

    pub(crate) fn interval(
        &self,
        told: &engine::Interval<'_>,
        interval: &Interval,
        plan: &Plan,
        thresholds: &[Threshold],
    ) {
        let Some(hub) = &self.hub else { return };
        let elapsed = interval.to.as_duration();
        let of_all = thresholds.iter().filter(|threshold| threshold.of.is_none());
        let judged = of_all.map(|threshold| Judged::of(threshold, told.total, elapsed));
        hub.interval(interval, Standing::of(told, plan), &judged.collect::<Vec<_>>());
    }

    pub(crate) fn held(&self, interval: &HeldInterval) {
        if let Some(hub) = &self.hub {
            hub.held(interval);
        }
    }

    /// Something that charts mark.
    pub(crate) fn event(&self, at: Nanos, kind: &'static str, texts: &(String, String)) {
        if let Some(hub) = &self.hub {
            hub.event(at, kind, texts);
        }
    }

    /// The run is over; pages take the report, and then this one closes.
    pub(crate) fn over(mut self, report: &Value, charts: &Value) {
        if let Some(hub) = self.hub.take() {
            hub.over(report, charts);
        }
    }
}

impl Drop for Watching {
    /// A run that failed has no report, and is over too.
    fn drop(&mut self) {
        if let Some(hub) = self.hub.take().filter(|_| self.has_begun) {
            hub.failed();
        }
    }
}
