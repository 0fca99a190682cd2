//! The sinks, one for each export that is active during the run.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use figures::Interval;
use url::Url;

use crate::error::DeliveryFault;
use crate::file::OutputFile;
use crate::held::HeldTotals;
use crate::http::{Client, decoded, one_line};
use crate::names::addresses_of;
use crate::queue::{Batch, DeliveryError, Sink};
use crate::totals::Totals;
use crate::{csv, influx, otlp, remote, statsd};

/// Prometheus remote write.
pub(crate) struct RemoteWrite(Client);

impl RemoteWrite {
    pub(crate) fn new(url: &Url) -> Self {
        let headers = [
            ("Content-Type", "application/x-protobuf"),
            ("Content-Encoding", "snappy"),
            ("X-Prometheus-Remote-Write-Version", "0.1.0"),
        ];
        Self(Client::new(url, &headers, None))
    }
}

/// The batches for counters: an update of an interval is in the sums of the next one.
fn in_sums(batch: &[Arc<Batch>]) -> impl Iterator<Item = &Arc<Batch>> {
    batch.iter().filter(|reported| reported.interval.as_ref().is_none_or(|interval| !interval.is_update))
}

fn ns(at: Duration) -> u64 {
    u64::try_from(at.as_nanos()).unwrap_or(u64::MAX)
}

impl Sink for RemoteWrite {
    fn send(&mut self, batch: &[Arc<Batch>], wait: Duration) -> Result<(), DeliveryError> {
        let points: Vec<(i64, &Totals)> =
            in_sums(batch).map(|reported| (reported.at_unix.as_millis() as i64, &reported.totals)).collect();
        if points.is_empty() { Ok(()) } else { self.0.post(&remote::body(&points), wait).map(drop) }
    }
}

/// OTLP over HTTP.
pub(crate) struct Otlp {
    client: Client,
    start: u64,
}

impl Otlp {
    pub(crate) fn new(url: &Url, start: Duration) -> Self {
        let client = Client::new(url, &[("Content-Type", "application/x-protobuf")], None);
        Self { client, start: ns(start) }
    }
}

impl Sink for Otlp {
    fn send(&mut self, batch: &[Arc<Batch>], wait: Duration) -> Result<(), DeliveryError> {
        let points: Vec<(u64, &Totals)> =
            in_sums(batch).map(|reported| (ns(reported.at_unix), &reported.totals)).collect();
        if points.is_empty() {
            return Ok(());
        }
        let response = self.client.post(&otlp::body(self.start, &points), wait)?;
        match otlp::rejected(&response) {
            Some((count, why)) => Err(DeliveryError::Never(DeliveryFault::Rejected(count, one_line(&why)))),
            None => Ok(()),
        }
    }
}

/// InfluxDB.
pub(crate) struct Influx {
    client: Client,
    /// The start of the run, since the Unix epoch; known with the first interval.
    began: Option<Duration>,
    /// The newest interval, and the end that it was written with.
    newest: (u64, Duration),
}

impl Influx {
    /// `token`: from the environment.
    pub(crate) fn new(url: &Url, token: Option<String>) -> Self {
        let is_new = url.query_pairs().any(|(name, _)| name == "bucket");
        // In the second version the password of a URL is the token, whatever the user.
        let of_url = || {
            let word = url.password().unwrap_or(url.username());
            (!word.is_empty()).then(|| String::from_utf8_lossy(&decoded(word)).into_owned())
        };
        let token = if is_new { of_url().or(token) } else { token.filter(|_| url.username().is_empty()) };
        let secret = token.map(|token| format!("Token {token}"));
        let client = Client::new(url, &[("Content-Type", "text/plain; charset=utf-8")], secret);
        Self { client, began: None, newest: (0, Duration::ZERO) }
    }

    fn text(&mut self, reported: &Batch) -> String {
        let Some(interval) = &reported.interval else { return influx::totals(&reported.totals, ns(reported.at_unix)) };
        let to = interval.to.as_duration();
        let began = *self.began.get_or_insert_with(|| reported.at_unix.saturating_sub(to));
        // The last interval may grow with what ended just behind it: its point stays where it was, or both would count.
        if !interval.is_update {
            self.newest = (interval.number, to);
        }
        let stamped = if interval.number == self.newest.0 { self.newest.1 } else { to };
        let text = influx::interval(interval, ns(began + stamped));
        if interval.is_update { text } else { text + &influx::totals(&reported.totals, ns(reported.at_unix)) }
    }
}

impl Sink for Influx {
    fn send(&mut self, batch: &[Arc<Batch>], wait: Duration) -> Result<(), DeliveryError> {
        let text: String = batch.iter().map(|reported| self.text(reported)).collect();
        self.client.post(text.as_bytes(), wait).map(drop)
    }
}

/// StatsD over UDP.
pub(crate) struct Statsd {
    socket: UdpSocket,
    sent: statsd::Sent,
    has_tags: bool,
}

impl Statsd {
    pub(crate) fn new(place: &str, has_tags: bool) -> std::io::Result<Self> {
        let (host, port) = place.rsplit_once(':').ok_or(std::io::ErrorKind::InvalidInput)?;
        let port = port.parse().map_err(|_| std::io::ErrorKind::InvalidInput)?;
        let address = addresses_of(host)?.into_iter().next().ok_or(std::io::ErrorKind::AddrNotAvailable)?;
        let any = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(any)?;
        socket.connect(SocketAddr::new(address, port))?;
        socket.set_write_timeout(Some(Duration::from_secs(1)))?;
        Ok(Self { socket, sent: statsd::Sent::default(), has_tags })
    }
}

impl Sink for Statsd {
    fn send(&mut self, batch: &[Arc<Batch>], _wait: Duration) -> Result<(), DeliveryError> {
        for reported in batch {
            let interval: Option<&Interval> = reported.interval.as_deref().filter(|interval| !interval.is_update);
            for datagram in self.sent.datagrams(&reported.totals, interval, self.has_tags) {
                // A missing listener is reported at the next datagram; what was not sent is in the next sums.
                let sent = self.socket.send(datagram.text.as_bytes());
                sent.map_err(|error| DeliveryError::Never(DeliveryFault::Unreachable(error.to_string())))?;
                self.sent.note(datagram);
            }
        }
        Ok(())
    }
}

/// A CSV file.
pub(crate) struct Csv {
    place: OutputFile,
    before: Totals,
    /// The fault after which the file cannot be written any more.
    fault: Option<DeliveryFault>,
}

impl Csv {
    pub(crate) fn new(place: OutputFile) -> Self {
        Self { place, before: Totals::default(), fault: None }
    }

    /// The header, or a line, of a hold; empty at its end.
    fn held(&self, reported: &Batch) -> String {
        match (&reported.held, &reported.totals.held, &self.before.held) {
            (Some(interval), Some(now), Some(before)) => now.line(before, interval),
            (None, _, None) => HeldTotals::columns(),
            _ => String::new(),
        }
    }

    fn reported(&mut self, written: Result<(), std::io::Error>) -> Result<(), DeliveryError> {
        if let Err(error) = written {
            self.fault = Some(DeliveryFault::File(error.to_string()));
        }
        self.fault.clone().map_or(Ok(()), |fault| Err(DeliveryError::Never(fault)))
    }
}

impl Sink for Csv {
    fn send(&mut self, batch: &[Arc<Batch>], _wait: Duration) -> Result<(), DeliveryError> {
        for reported in batch {
            let text = match &reported.interval {
                _ if reported.totals.held.is_some() => self.held(reported),
                Some(interval) => csv::lines(interval, &self.before, &reported.totals),
                // Batches without an interval: the begin of the run, and later its end.
                None if self.before == Totals::default() => csv::columns(),
                None => continue,
            };
            self.before = reported.totals.clone();
            let written = if self.fault.is_none() { self.place.write(&text) } else { Ok(()) };
            self.reported(written)?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), DeliveryError> {
        let ended = self.place.end();
        self.reported(ended)
    }
}

#[cfg(test)]
mod tests;
