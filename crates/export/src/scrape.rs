//! The page that Prometheus scrapes: a small server on its own thread, which shows the current totals.

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;

use crate::deadline::Deadline;
use crate::native;
use crate::prometheus::{Style, text};
use crate::queue::{Batch, POLL_INTERVAL};
use listener::{Bounded, Bounds, WhenFull};

/// The default time for which the page stays after the run while no scraper reads it.
pub const SCRAPE_WAIT_MAX: Duration = Duration::from_secs(15);
/// The limits of the server. A scraper has one connection, and a user a few; Prometheus sends 500 bytes, and comes
/// every minute at least.
const BOUNDS: Bounds = Bounds {
    connections: 16,
    when_full: WhenFull::Wait,
    request_bytes: 16 * 1024,
    idle: Duration::from_secs(90),
    request: Duration::from_secs(10),
};
/// The time limit for sending a response when the server ends.
const LEAVE_WAIT_MAX: Duration = Duration::from_secs(1);

/// The formats of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Plain,
    OpenMetrics,
    Protobuf,
}

impl Format {
    const ALL: [Self; 3] = [Self::Plain, Self::OpenMetrics, Self::Protobuf];

    fn content_type(self) -> &'static str {
        match self {
            Self::Plain => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Protobuf => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
            }
        }
    }
}

struct ScrapePage {
    reported: Arc<Batch>,
    /// The page in each format, cached once it was requested: repeated requests cost next to nothing.
    made: [Option<Arc<[u8]>>; Format::ALL.len()],
    is_last: bool,
    reads: u64,
    /// Whether the final figures were read.
    was_read: bool,
}

struct ScrapeShared {
    page: Mutex<ScrapePage>,
    wake: Condvar,
}

impl ScrapeShared {
    fn lock(&self) -> MutexGuard<'_, ScrapePage> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A scrape page.
pub(crate) struct Scrape {
    shared: Arc<ScrapeShared>,
    address: SocketAddr,
    leave: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Scrape {
    /// Starts to listen, and shows the totals so far.
    pub(crate) fn start(address: SocketAddr, reported: &Arc<Batch>) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let page = ScrapePage {
            reported: reported.clone(),
            made: Default::default(),
            is_last: false,
            reads: 0,
            was_read: false,
        };
        let shared = Arc::new(ScrapeShared { page: Mutex::new(page), wake: Condvar::new() });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let (leave, left) = tokio::sync::oneshot::channel();
        let far = shared.clone();
        let thread = std::thread::Builder::new().name("export page".to_owned()).spawn(move || {
            runtime.block_on(serve(listener, far, left));
        })?;
        Ok(Self { shared, address, leave: Some(leave), thread: Some(thread) })
    }

    /// The address of the page.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Replaces the page.
    pub(crate) fn show(&self, reported: &Arc<Batch>, is_last: bool) {
        let mut page = self.shared.lock();
        (page.reported, page.made, page.is_last) = (reported.clone(), Default::default(), is_last);
    }

    /// Waits for one more reader. Returns the number of reads, and whether the final figures were read.
    pub(crate) fn finish(mut self, end_by: Deadline, has_enough: &dyn Fn() -> bool) -> (u64, bool) {
        let mut page = self.shared.lock();
        while !page.was_read && !has_enough() {
            let left = end_by.left();
            if left.is_zero() {
                break;
            }
            page = match self.shared.wake.wait_timeout(page, left.min(POLL_INTERVAL)) {
                Ok((page, _)) => page,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        let read = (page.reads, page.was_read);
        drop(page);
        if let Some(leave) = self.leave.take() {
            // A server that is gone needs no notice.
            let _ = leave.send(());
        }
        if let Some(thread) = self.thread.take() {
            // A server that panicked has shown its last page.
            let _ = thread.join();
        }
        read
    }
}

async fn serve(listener: TcpListener, shared: Arc<ScrapeShared>, left: tokio::sync::oneshot::Receiver<()>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let router = Router::new()
        .route("/metrics", get(metrics))
        .route("/", get(async || "onrush: the figures are at /metrics\n"))
        .with_state(shared);
    let (reported, received) = tokio::sync::watch::channel(false);
    let gone = async move {
        let mut received = received;
        // An error means that the sender is gone, which is the same.
        let _ = received.wait_for(|is_over| *is_over).await;
    };
    let server = axum::serve(Bounded::new(listener, BOUNDS), router).with_graceful_shutdown(gone).into_future();
    tokio::pin!(server);
    tokio::select! {
        _ = &mut server => return,
        // The other end is dropped with the exports.
        _ = left => {}
    }
    reported.send_replace(true);
    // A slow reader is cut off.
    let _ = tokio::time::timeout(LEAVE_WAIT_MAX, server).await;
}

async fn metrics(State(shared): State<Arc<ScrapeShared>>, headers: HeaderMap) -> impl IntoResponse {
    let accept = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let format = format_of(&accept.collect::<Vec<_>>().join(","));
    let (reported, made, is_last) = {
        let page = shared.lock();
        (page.reported.clone(), page.made[format as usize].clone(), page.is_last)
    };
    // The thread that reports the next interval does not wait for this.
    let body = made.unwrap_or_else(|| make(&reported, format).into());
    let mut page = shared.lock();
    if Arc::ptr_eq(&page.reported, &reported) {
        page.made[format as usize] = Some(body.clone());
    }
    page.reads += 1;
    page.was_read |= is_last;
    shared.wake.notify_all();
    (StatusCode::OK, [(header::CONTENT_TYPE, format.content_type())], body.to_vec())
}

fn make(reported: &Batch, format: Format) -> Vec<u8> {
    match format {
        Format::Plain => text(&reported.totals, Style::Plain).into_bytes(),
        Format::OpenMetrics => text(&reported.totals, Style::OpenMetrics).into_bytes(),
        Format::Protobuf => native::page(&reported.totals),
    }
}

/// The most preferred of the available formats; the first of equals.
fn format_of(accept: &str) -> Format {
    let mut best = (0.0, Format::Plain);
    for options in accept.split(',') {
        let mut words = options.split(';').map(str::trim);
        let kind = words.next().unwrap_or_default();
        let words: Vec<&str> = words.collect();
        let says = |name: &str, wanted: &str| {
            words.iter().filter_map(|word| word.split_once('=')).any(|(known, value)| known == name && value == wanted)
        };
        let format = match kind {
            "application/vnd.google.protobuf"
                if says("proto", "io.prometheus.client.MetricFamily") && says("encoding", "delimited") =>
            {
                Format::Protobuf
            }
            "application/openmetrics-text" if says("version", "1.0.0") => Format::OpenMetrics,
            "text/plain" | "text/*" | "*/*" => Format::Plain,
            _ => continue,
        };
        let weight = words.iter().find_map(|word| word.strip_prefix("q=")?.parse::<f64>().ok());
        let weight = weight.filter(|weight| (0.0..=1.0).contains(weight)).unwrap_or(1.0);
        if weight > best.0 {
            best = (weight, format);
        }
    }
    best.1
}

#[cfg(test)]
mod tests;
