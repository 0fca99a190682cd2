//! Inspection of messages of responses: every compressed message is decompressed; messages with a described type are
//! checked against it, the first ones and a share of the others.

use plan::{Shape, ShapeReader};
use wire::grpc::{ResponseFault, Unzip};

/// The first messages of a shard, all of which are checked against their type: a target with wrong responses has them
/// at once.
const TYPED_FIRST: u64 = 1_000;
/// One in this many is checked later on. With a message of a hundred bytes all of them would cost a twentieth of a
/// call, so this costs nothing.
const TYPED_EACH: u64 = 16;
/// After a mismatch this many messages are all checked, so that mismatches are counted and not estimated.
const TYPED_AFTER_MISFIT: u64 = 10_000;
/// Most decompressed bytes of one message. gRPC clients stop at 4 MiB unless configured otherwise.
pub(super) const UNZIPPED_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Output of decompression at a time.
const OUT_BYTES: usize = 32 * 1024;
/// Inspectors kept for reuse.
const SPARE_MAX: usize = 64;

/// An inspector of one message.
#[derive(Default)]
pub(super) struct Inspector {
    unzip: Option<Unzip>,
    unzips: bool,
    unzipped: u64,
    reader: Option<ShapeReader>,
    types: bool,
    /// It does not match its type. For a compressed one that is reported at its end: bytes that were damaged on the way
    /// match no type either.
    is_misfit: bool,
}

/// Inspection state of a shard.
#[derive(Default)]
pub(crate) struct Inspection {
    /// Inspectors for reuse: they are built once and serve one message after the other.
    #[expect(clippy::vec_box, reason = "a call that has one holds a pointer and no more")]
    spare: Vec<Box<Inspector>>,
    out: Vec<u8>,
    /// Messages begun whose type is described.
    begun: u64,
    /// Up to this count each is checked.
    each_until: u64,
}

impl Inspection {
    /// Begins a message: its inspector, if it has one.
    pub(super) fn begin(&mut self, unzips: bool, has_type: bool) -> Option<Box<Inspector>> {
        let types = has_type && self.is_drawn();
        if !unzips && !types {
            return None;
        }
        let mut inspector = self.spare.pop().unwrap_or_default();
        (inspector.unzips, inspector.unzipped) = (unzips, 0);
        (inspector.types, inspector.is_misfit) = (types, false);
        if unzips {
            inspector.unzip.get_or_insert_default().begin();
        }
        if types {
            inspector.reader.get_or_insert_default().begin();
        }
        Some(inspector)
    }

    fn is_drawn(&mut self) -> bool {
        self.begun += 1;
        self.begun <= TYPED_FIRST.max(self.each_until) || self.begun.is_multiple_of(TYPED_EACH)
    }

    /// Feeds more of the message; `keep` gets its content.
    pub(super) fn feed(
        &mut self,
        inspector: &mut Inspector,
        shape: Option<&Shape>,
        bytes: &[u8],
        mut keep: impl FnMut(&[u8]),
    ) -> Result<(), ResponseFault> {
        let Inspector { unzip: Some(unzip), unzips: true, unzipped, reader, types, is_misfit } = inspector else {
            keep(bytes);
            let reader = inspector.reader.as_mut().filter(|_| inspector.types);
            return if fits(reader, shape, bytes) { Ok(()) } else { Err(self.notice()) };
        };
        self.out.resize(OUT_BYTES, 0);
        let mut rest = bytes;
        loop {
            let (taken, given) = unzip.handle(rest, &mut self.out).map_err(|_| ResponseFault::Unzip)?;
            rest = &rest[taken..];
            if given == 0 && rest.is_empty() {
                return Ok(());
            }
            *unzipped += given as u64;
            if *unzipped > UNZIPPED_BYTES_MAX {
                return Err(ResponseFault::UnzippedTooLarge);
            }
            keep(&self.out[..given]);
            let reader = reader.as_mut().filter(|_| *types && !*is_misfit);
            *is_misfit |= !fits(reader, shape, &self.out[..given]);
        }
    }

    /// The message is complete.
    pub(super) fn end(&mut self, inspector: Box<Inspector>) -> Result<(), ResponseFault> {
        let is_whole = !inspector.unzips || inspector.unzip.as_ref().is_some_and(Unzip::is_whole);
        let ends_well = || inspector.reader.as_ref().is_some_and(|reader| reader.end().is_ok());
        let fits = !inspector.types || (!inspector.is_misfit && ends_well());
        if self.spare.len() < SPARE_MAX {
            self.spare.push(inspector);
        }
        match (is_whole, fits) {
            (false, _) => Err(ResponseFault::Unzip),
            (true, false) => Err(self.notice()),
            (true, true) => Ok(()),
        }
    }

    #[cold]
    fn notice(&mut self) -> ResponseFault {
        self.each_until = self.begun + TYPED_AFTER_MISFIT;
        ResponseFault::Type
    }
}

fn fits(reader: Option<&mut ShapeReader>, shape: Option<&Shape>, bytes: &[u8]) -> bool {
    match (reader, shape) {
        (Some(reader), Some(shape)) => reader.handle(shape, bytes).is_ok(),
        _ => true,
    }
}
