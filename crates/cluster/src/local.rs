//! The bus of one machine: a [`Broker`] behind a Unix socket, for workers in other processes. No port is opened; a
//! process that may not open the socket's directory cannot reach it.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::broker::{Broker, Client};
use crate::bus::{Bus, BusCommand, BusEvent, Inbox};
use crate::protocol::{read, written};

/// The most bytes of one frame: a plan with its files.
const FRAME_BYTES_MAX: usize = plan::ENCODED_PLAN_BYTES_MAX;
/// The write timeout after which the bus counts as gone.
const TAKES_WITHIN: Duration = Duration::from_mins(1);
/// The most events that wait for a client that does not read.
const WAITING_MAX: usize = 4_096;

/// A message from a client.
#[derive(Serialize, Deserialize)]
enum Sent {
    Join(Vec<String>),
    Ask(BusCommand),
}

enum Event {
    Came(Client, Outlet),
    Sent(Client, Sent),
    Left(Client),
    /// A connection was accepted; the send fails when the bus is over.
    Knock,
    End,
}

/// The way to deliver events to a client.
enum Outlet {
    /// A client in this process.
    Inbox(Inbox),
    /// A client behind a socket.
    Frames(SyncSender<BusEvent>),
}

/// The bus, and its threads. It ends when it is dropped.
pub struct LocalBus {
    path: PathBuf,
    events: Sender<Event>,
    broker: Option<JoinHandle<()>>,
}

impl LocalBus {
    /// Opens a bus at a path where no file is.
    ///
    /// # Errors
    /// The system refuses the socket or a thread.
    pub fn open(path: &Path) -> Result<Self, std::io::Error> {
        let listener = UnixListener::bind(path)?;
        let (events, reported) = channel();
        let broker = std::thread::Builder::new().name("bus".to_owned()).spawn(move || serve(&reported))?;
        let accepted = events.clone();
        std::thread::Builder::new().name("bus-door".to_owned()).spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                // Number 0 is in this process. A connection that cannot be served is closed.
                let _ = stream.and_then(|stream| accept(stream, number as Client + 1, &accepted));
                if accepted.send(Event::Knock).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { path: path.to_owned(), events, broker: Some(broker) })
    }

    /// A client in this process that subscribes to these subjects.
    pub fn client(&self, subjects: Vec<String>, inbox: Inbox) -> Box<dyn Bus> {
        // The bus lives as long as `self`.
        let _ = self.events.send(Event::Came(0, Outlet::Inbox(inbox)));
        let _ = self.events.send(Event::Sent(0, Sent::Join(subjects)));
        Box::new(LocalClient { events: self.events.clone() })
    }
}

impl Drop for LocalBus {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.events.send(Event::End);
        if let Some(broker) = self.broker.take() {
            let _ = broker.join();
        }
        // Wakes the accept loop, which then sees that the bus is gone.
        drop(UnixStream::connect(&self.path));
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A client in the process of the bus.
struct LocalClient {
    events: Sender<Event>,
}

impl Bus for LocalClient {
    fn ask(&mut self, verb: BusCommand) {
        let _ = self.events.send(Event::Sent(0, Sent::Ask(verb)));
    }
}

fn accept(stream: UnixStream, client: Client, events: &Sender<Event>) -> Result<(), std::io::Error> {
    let (frames, reported) = sync_channel::<BusEvent>(WAITING_MAX);
    let mut writer = stream.try_clone()?;
    std::thread::Builder::new().name("bus-out".to_owned()).spawn(move || {
        for received in reported {
            if write_frame(&mut writer, &written(&received)).is_err() {
                break;
            }
        }
        // The reading end sees the end of the stream.
        let _ = writer.shutdown(std::net::Shutdown::Both);
    })?;
    let events = events.clone();
    let mut reader = stream;
    std::thread::Builder::new().name("bus-in".to_owned()).spawn(move || {
        if events.send(Event::Came(client, Outlet::Frames(frames))).is_err() {
            return;
        }
        while let Ok(frame) = read_frame(&mut reader) {
            let Some(sent) = read::<Sent>(&frame) else { break };
            if events.send(Event::Sent(client, sent)).is_err() {
                return;
            }
        }
        let _ = events.send(Event::Left(client));
    })?;
    Ok(())
}

fn serve(reported: &Receiver<Event>) {
    let (mut broker, mut outlets) = (Broker::default(), std::collections::HashMap::new());
    for event in reported {
        match event {
            Event::Came(client, outlet) => drop(outlets.insert(client, outlet)),
            Event::Sent(client, Sent::Join(subjects)) => broker.join(client, subjects),
            Event::Sent(client, Sent::Ask(verb)) => broker.ask(client, verb),
            Event::Left(client) => {
                broker.leave(client);
                outlets.remove(&client);
            }
            Event::Knock => {}
            Event::End => return,
        }
        while let Some((client, received)) = broker.next_received() {
            let is_reported = match outlets.get(&client) {
                Some(Outlet::Inbox(inbox)) => inbox(received),
                // A client that does not read is disconnected: it reads the current state when it comes again.
                Some(Outlet::Frames(frames)) => frames.try_send(received).is_ok(),
                None => true,
            };
            if !is_reported {
                broker.leave(client);
                outlets.remove(&client);
            }
        }
    }
}

/// A client of a bus behind a socket.
struct RemoteClient {
    stream: UnixStream,
}

impl Bus for RemoteClient {
    fn ask(&mut self, verb: BusCommand) {
        if write_frame(&mut self.stream, &written(&Sent::Ask(verb))).is_err() {
            // Nothing can follow half a frame. The reader reports that the bus is gone.
            let _ = self.stream.shutdown(std::net::Shutdown::Both);
        }
    }
}

/// Joins the bus at a path, and subscribes to these subjects. When the bus is gone, that is reported once, and it does
/// not come back.
///
/// # Errors
/// There is no bus.
pub fn join(path: &Path, subjects: Vec<String>, inbox: Inbox) -> Result<Box<dyn Bus>, std::io::Error> {
    let mut stream = UnixStream::connect(path)?;
    stream.set_write_timeout(Some(TAKES_WITHIN))?;
    write_frame(&mut stream, &written(&Sent::Join(subjects)))?;
    let mut reader = stream.try_clone()?;
    std::thread::Builder::new().name("bus".to_owned()).spawn(move || {
        while let Ok(frame) = read_frame(&mut reader) {
            if !read::<BusEvent>(&frame).is_some_and(&inbox) {
                return;
            }
        }
        inbox(BusEvent::Disconnected);
    })?;
    Ok(Box::new(RemoteClient { stream }))
}

fn write_frame(stream: &mut UnixStream, bytes: &[u8]) -> Result<(), std::io::Error> {
    let length = u32::try_from(bytes.len()).map_err(|_| std::io::Error::from(ErrorKind::InvalidInput))?;
    let mut frame = Vec::with_capacity(4 + bytes.len());
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(bytes);
    stream.write_all(&frame)
}

fn read_frame(stream: &mut UnixStream) -> Result<Vec<u8>, std::io::Error> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > FRAME_BYTES_MAX {
        return Err(ErrorKind::InvalidData.into());
    }
    // No memory is reserved for bytes that never come.
    let mut frame = Vec::new();
    stream.take(length as u64).read_to_end(&mut frame)?;
    if frame.len() == length { Ok(frame) } else { Err(ErrorKind::UnexpectedEof.into()) }
}
