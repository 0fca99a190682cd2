//! What goes to workers and comes back, besides protocol messages: plans with their files, and the ends of parts.

use std::path::Path;
use std::sync::Arc;

use engine::{
    BarrierStats, DataSources, HoldEnd, MemoryUse, PartEnd, PartMemory, SLICES_KEPT_MAX, Slice, Slices, StoppedOpening,
    ThreadUsage, UsedUp, WireScenarioOutcome,
};
use feed::{Feed, FeedError, Spec};
use host::CpuTime;
use metrics::{Distribution, HeldNow, Snapshot};
use pacing::Nanos;
use plan::{BudgetPart, EncodedPlan};
use serde::{Deserialize, Serialize};

use crate::bus::Bytes;
use crate::protocol::{FeedFile, Packet, can_be, read, written};

/// Why something cannot be encoded or decoded.
#[derive(Debug, thiserror::Error)]
pub enum PacketError {
    /// The plan.
    #[error(transparent)]
    Plan(#[from] plan::EncodedPlanError),
    /// A file of rows.
    #[error("{file}: {reason}")]
    File {
        /// The file.
        file: String,
        /// The reason, from the system.
        reason: std::io::Error,
    },
    /// The rows.
    #[error(transparent)]
    Feed(#[from] feed::FeedError),
    /// The bytes are damaged.
    #[error("what came is no plan, or not the one that its name says")]
    Damaged,
}

/// The name of a packet: its hash.
pub fn name_of(packet: &[u8]) -> String {
    format!("plan-{}", hash_of(packet))
}

/// The SHA-256 of bytes, in hex digits.
pub fn hash_of(bytes: &[u8]) -> String {
    hmac_sha256::Hash::hash(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A plan with all that it needs, as bytes.
///
/// # Errors
/// A file is gone, or a path cannot be encoded.
pub fn pack(
    plan: &EncodedPlan,
    data_sources: &DataSources,
    slowest: usize,
    thresholds: &[String],
) -> Result<Bytes, PacketError> {
    let mut feeds = Vec::new();
    for feed in data_sources.feeds.iter() {
        let file = feed.file().display().to_string();
        let packed = feed.packed().map_err(|reason| PacketError::File { file: file.clone(), reason });
        let (spec, bytes) = packed?;
        let spec = Spec { file: file.clone().into(), ..spec };
        feeds.push(FeedFile { name: file, spec: written(&spec).to_vec(), bytes });
    }
    let (slowest, thresholds) = (slowest as u64, thresholds.to_vec());
    Ok(written(&Packet { plan: plan.to_bytes()?, feeds, slowest, thresholds }))
}

/// Decodes a packet. Files of rows are written into `folder`.
///
/// # Errors
/// The bytes are no packet, or the disk does not take the files.
pub fn unpack(name: &str, bytes: &[u8], folder: &Path) -> Result<(EncodedPlan, Vec<Feed>, usize), PacketError> {
    let packet = packet_of(name, bytes)?;
    let plan = EncodedPlan::from_bytes(&packet.plan)?;
    let mut feeds = Vec::new();
    if !packet.feeds.is_empty() {
        let failed = |reason| PacketError::File { file: folder.display().to_string(), reason };
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    for (number, file) in packet.feeds.iter().enumerate() {
        let path = folder.join(format!("rows-{number}"));
        let failed = |reason| PacketError::File { file: file.name.clone(), reason };
        std::fs::write(&path, &file.bytes).map_err(failed)?;
        let spec: Spec = read(&file.spec).ok_or(PacketError::Damaged)?;
        let named = |error: FeedError| FeedError { file: file.name.clone().into(), ..error };
        feeds.push(Feed::open(Spec { file: path, ..spec }).map_err(named)?.called(file.name.clone().into()));
    }
    Ok((plan, feeds, usize::try_from(packet.slowest).unwrap_or(usize::MAX)))
}

/// The plan of a packet, without the files of rows.
///
/// # Errors
/// The bytes are no packet.
pub fn unpack_plan(name: &str, bytes: &[u8]) -> Result<EncodedPlan, PacketError> {
    Ok(EncodedPlan::from_bytes(&packet_of(name, bytes)?.plan)?)
}

fn packet_of(name: &str, bytes: &[u8]) -> Result<Packet, PacketError> {
    if name_of(bytes) != name {
        return Err(PacketError::Damaged);
    }
    read(bytes).ok_or(PacketError::Damaged)
}

/// Snapshots of each scenario, as bytes.
pub fn snapshots_to_bytes<'a>(all: impl IntoIterator<Item = &'a Snapshot>) -> Vec<Vec<u8>> {
    let encode = |seen: &Snapshot| {
        let mut bytes = Vec::new();
        seen.encode(&mut bytes);
        bytes
    };
    all.into_iter().map(encode).collect()
}

/// Decodes snapshots and merges them scenario by scenario if there are several rows; `None` if invalid.
pub fn snapshots_of_bytes(all: &[Vec<u8>], scenarios: usize) -> Option<Vec<Snapshot>> {
    let mut seen = vec![Snapshot::default(); scenarios];
    if scenarios == 0 || !all.len().is_multiple_of(scenarios) {
        return None;
    }
    for (place, bytes) in all.iter().enumerate() {
        let one = Snapshot::decode(bytes).ok()?;
        let whole = &mut seen[place % scenarios];
        // The merged gauges are those of the last row.
        let (users, open) = (one.gauges.users, one.gauges.connections_open);
        whole.merge(&one);
        (whole.gauges.users, whole.gauges.connections_open) = (users, open);
    }
    Some(seen)
}

#[derive(Serialize, Deserialize)]
struct WireEnd {
    wall: Nanos,
    scenarios: Vec<WireScenario>,
    shards: Vec<WireShard>,
    cpu: (u64, u64),
    used_up: Vec<(String, u64, bool)>,
    met: Vec<(String, [u64; 4])>,
}

/// The stop instant, the exchanges in flight halfway and at the end, and the part of the budget that ended it;
/// completions per slice of equal width, and the times of first exchanges.
type WireScenario = (Nanos, Option<(u64, u64)>, Option<u8>, (Nanos, Vec<WireSlice>), Vec<u8>);

/// Ended, succeeded, refused, in flight, stalled.
type WireSlice = (u64, u64, u64, u64, u64);

/// Upper bound of a number of a slice: the numbers of all parts can be added without overflow.
const SLICE_COUNT_MAX: u64 = 1 << 40;

/// The most slices of all scenarios; above that, none are sent: they go with the end of a part, in one message.
const SLICES_REPORTED_MAX: usize = 20_000;

fn wire_slices(slices: &Slices) -> (Nanos, Vec<WireSlice>) {
    let one = |slice: &Slice| (slice.ended, slice.succeeded, slice.refused, slice.in_flight, slice.stalled);
    (slices.width, slices.each.iter().map(one).collect())
}

/// Decodes slices; `None` when no load can have had them.
fn slices_of(width: Nanos, each: Vec<WireSlice>) -> Option<Slices> {
    let one = |(ended, succeeded, refused, in_flight, stalled): WireSlice| {
        let is_sound =
            [ended, succeeded, refused, in_flight, stalled].into_iter().all(|count| count <= SLICE_COUNT_MAX);
        is_sound.then_some(Slice { ended, succeeded, refused, in_flight, stalled })
    };
    let end = width.0.checked_mul(each.len() as u64 + 1);
    let is_sound = end.is_some_and(can_be) && each.len() <= SLICES_KEPT_MAX && (width > Nanos::ZERO || each.is_empty());
    Some(Slices { width, each: each.into_iter().map(one).collect::<Option<_>>()? }).filter(|_| is_sound)
}

/// Times as bytes: a snapshot without anything else.
fn times_to_bytes(times: &Distribution) -> Vec<u8> {
    let mut seen = Snapshot::default();
    seen.lag.clone_from(times);
    snapshots_to_bytes([&seen]).remove(0)
}

fn times_of_bytes(bytes: &[u8]) -> Option<Distribution> {
    Some(Snapshot::decode(bytes).ok()?.lag)
}

#[derive(Serialize, Deserialize)]
struct WireShard {
    spent: [u64; 5],
    lag: Vec<u8>,
}

/// The end of a part, as bytes.
pub fn end_to_bytes(end: &PartEnd) -> Vec<u8> {
    let shard = |shard: &ThreadUsage| {
        let spent = [shard.cpu_ns, shard.run_delay_ns, shard.span_ns, shard.saturated_ns, shard.stalled_ns];
        WireShard { spent, lag: times_to_bytes(&shard.lag) }
    };
    let is_reported = end.scenarios.iter().map(|scene| scene.slices.each.len()).sum::<usize>() <= SLICES_REPORTED_MAX;
    let none = Slices::default();
    let scene = |end: &WireScenarioOutcome| {
        let slices = if is_reported { &end.slices } else { &none };
        let (slices, first_times) = (wire_slices(slices), times_to_bytes(&end.first_times));
        (end.stopped_at, end.backlog, end.spent.map(|part| part as u8), slices, first_times)
    };
    let end = WireEnd {
        wall: end.wall,
        scenarios: end.scenarios.iter().map(scene).collect(),
        shards: end.shards.iter().map(shard).collect(),
        cpu: (end.cpu.user_ns, end.cpu.system_ns),
        used_up: end.used_up.iter().map(|one| (one.file.display().to_string(), one.rows, one.is_update)).collect(),
        met: end.met.iter().map(|met| (met.name.clone(), [met.users, met.full, met.by_time, met.short])).collect(),
    };
    written(&end).to_vec()
}

/// Decodes the end of a part; `None` if invalid.
pub fn end_of_bytes(bytes: &[u8]) -> Option<PartEnd> {
    let end: WireEnd = read(bytes)?;
    let shard = |shard: WireShard| {
        let [cpu_ns, run_delay_ns, span_ns, saturated_ns, stalled_ns] = shard.spent;
        let lag = times_of_bytes(&shard.lag)?;
        Some(ThreadUsage { cpu_ns, run_delay_ns, span_ns, saturated_ns, stalled_ns, lag })
    };
    let part = |number: u8| BudgetPart::ALL.get(usize::from(number)).copied();
    let scene = |(stopped_at, backlog, spent, (width, each), first_times): WireScenario| {
        let (spent, slices) = (spent.and_then(part), slices_of(width, each)?);
        Some(WireScenarioOutcome {
            stopped_at,
            left: 0,
            backlog,
            spent,
            slices,
            first_times: times_of_bytes(&first_times)?,
        })
    };
    let met =
        |(name, [users, full, by_time, short]): (String, [u64; 4])| BarrierStats { name, users, full, by_time, short };
    Some(PartEnd {
        wall: end.wall,
        scenarios: end.scenarios.into_iter().map(scene).collect::<Option<_>>()?,
        shards: end.shards.into_iter().map(shard).collect::<Option<_>>()?,
        cpu: CpuTime { user_ns: end.cpu.0, system_ns: end.cpu.1 },
        used_up: end
            .used_up
            .into_iter()
            .map(|(file, rows, is_update)| UsedUp { file: file.into(), rows, is_update })
            .collect(),
        met: end.met.into_iter().map(met).collect(),
    })
}

/// The data sources of a packet.
pub fn data_sources(feeds: Vec<Feed>, usual: &DataSources) -> DataSources {
    DataSources { feeds: Arc::from(feeds), ..usual.clone() }
}

/// The gauges of held connections, as numbers.
pub fn numbers_of(now: HeldNow) -> [u64; 4] {
    [now.connecting, now.open, now.waiting, now.owed]
}

/// Decodes the gauges of held connections.
pub fn held_now([connecting, open, waiting, owed]: [u64; 4]) -> HeldNow {
    HeldNow { connecting, open, waiting, owed }
}

/// Memory use of connections, and its machine.
type WireMemory = (u64, u64, Option<u64>, Option<u64>, String);

/// Memory use, as bytes.
pub fn memory_to_bytes(memory: MemoryUse, machine: &str) -> Vec<u8> {
    let MemoryUse { resident, resident_before, kernel, available } = memory;
    let wire: WireMemory = (resident, resident_before, kernel, available, machine.to_owned());
    written(&wire).to_vec()
}

/// Decodes memory use; `None` if invalid.
pub fn memory_of_bytes(bytes: &[u8]) -> Option<PartMemory> {
    let (resident, resident_before, kernel, available, machine): WireMemory = read(bytes)?;
    Some(PartMemory { memory: MemoryUse { resident, resident_before, kernel, available }, machine })
}

#[derive(Serialize, Deserialize)]
struct WireHoldEnd {
    threads: u64,
    cpu: (u64, u64),
    places: (u64, u64),
    stopped_opening: Option<(u64, u64, u64)>,
    lacked_certificate: bool,
}

/// The end of a part of held connections, as bytes.
pub fn hold_end_to_bytes(end: &HoldEnd) -> Vec<u8> {
    let stopped = |one: StoppedOpening| (one.available, one.reserve, one.tried);
    let wire = WireHoldEnd {
        threads: end.threads as u64,
        cpu: (end.cpu.user_ns, end.cpu.system_ns),
        places: (end.places.0 as u64, end.places.1 as u64),
        stopped_opening: end.stopped_opening.map(stopped),
        lacked_certificate: end.lacked_certificate,
    };
    written(&wire).to_vec()
}

/// Decodes the end of a part of held connections; `None` if invalid.
pub fn hold_end_of_bytes(bytes: &[u8]) -> Option<HoldEnd> {
    let wire: WireHoldEnd = read(bytes)?;
    let stopped = |(available, reserve, tried)| StoppedOpening { available, reserve, tried };
    let size = |number: u64| usize::try_from(number).ok();
    Some(HoldEnd {
        threads: size(wire.threads)?,
        cpu: CpuTime { user_ns: wire.cpu.0, system_ns: wire.cpu.1 },
        places: (size(wire.places.0)?, size(wire.places.1)?),
        stopped_opening: wire.stopped_opening.map(stopped),
        lacked_certificate: wire.lacked_certificate,
    })
}

#[cfg(test)]
mod tests;
