//! Streaming decompression of a gzip message (RFC 1952). It stores no more of the content than the window of the
//! format, and one instance decompresses one message after another.

use flate2::{Crc, Decompress, FlushDecompress, Status};

/// Limit for extra fields, name and comment of a member together; message senders write none of them.
const HEADER_BYTES_MAX: u32 = 64 * 1024;

/// Maximum output per compressed byte (RFC 1951: 258 bytes for a bit of length and one of distance).
pub const UNZIP_GROWTH_MAX: usize = 1_032;

const HAS_CRC: u8 = 2;
const HAS_EXTRA: u8 = 4;
const HAS_NAME: u8 = 8;
const HAS_COMMENT: u8 = 16;
const RESERVED: u8 = 0xe0;

/// The bytes are no valid gzip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a compressed message cannot be decompressed")]
pub struct Damaged;

/// The next expected part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expecting {
    /// The ten fixed bytes of a member.
    Fixed {
        taken: u8,
        flags: u8,
    },
    ExtraLength {
        taken: u8,
        length: u16,
    },
    Extra {
        left: u16,
    },
    Name,
    Comment,
    HeaderCrc {
        taken: u8,
    },
    Content,
    /// The checksum and the length.
    Trailer {
        taken: u8,
    },
    /// A further member, or the end.
    Between,
}

/// The state machine. Call [`Unzip::begin`] for each message, [`Unzip::handle`] with its bytes until it neither
/// consumes nor produces anything, [`Unzip::is_whole`] at its end.
#[derive(Debug)]
pub struct Unzip {
    inflate: Decompress,
    crc: Crc,
    place: Expecting,
    flags: u8,
    header_bytes: u32,
    trailer: [u8; 8],
}

impl Default for Unzip {
    fn default() -> Self {
        Self {
            inflate: Decompress::new(false),
            crc: Crc::new(),
            place: Expecting::Fixed { taken: 0, flags: 0 },
            flags: 0,
            header_bytes: 0,
            trailer: [0; 8],
        }
    }
}

impl Unzip {
    /// Begins a message.
    pub fn begin(&mut self) {
        self.place = Expecting::Fixed { taken: 0, flags: 0 };
        self.begin_member();
    }

    fn begin_member(&mut self) {
        self.inflate.reset(false);
        self.crc.reset();
        self.header_bytes = 0;
    }

    /// Whether the message may end here.
    pub fn is_whole(&self) -> bool {
        self.place == Expecting::Between
    }

    /// Parses the start of `input`: how many bytes were consumed, and how many decompressed bytes are in `out`. Call it
    /// again with the rest until all is consumed and nothing is produced.
    ///
    /// # Errors
    /// The bytes are no valid gzip.
    pub fn handle(&mut self, input: &[u8], out: &mut [u8]) -> Result<(usize, usize), Damaged> {
        let mut taken = 0;
        loop {
            if self.place == Expecting::Content {
                let (more, given, ends) = self.content(&input[taken..], out)?;
                taken += more;
                if ends {
                    self.place = Expecting::Trailer { taken: 0 };
                }
                if given > 0 || !ends {
                    return Ok((taken, given));
                }
            }
            let Some(byte) = input.get(taken) else { return Ok((taken, 0)) };
            self.frame(*byte)?;
            taken += 1;
        }
    }

    fn content(&mut self, input: &[u8], out: &mut [u8]) -> Result<(usize, usize, bool), Damaged> {
        let (read, written) = (self.inflate.total_in(), self.inflate.total_out());
        let status = self.inflate.decompress(input, out, FlushDecompress::None).map_err(|_| Damaged)?;
        let taken = (self.inflate.total_in() - read) as usize;
        let given = (self.inflate.total_out() - written) as usize;
        if taken == 0 && given == 0 && !input.is_empty() && status != Status::StreamEnd {
            return Err(Damaged);
        }
        self.crc.update(&out[..given]);
        Ok((taken, given, status == Status::StreamEnd))
    }

    /// Handles one byte of the header or trailer.
    fn frame(&mut self, byte: u8) -> Result<(), Damaged> {
        self.place = match self.place {
            Expecting::Between => {
                self.begin_member();
                return self.fixed(0, 0, byte);
            }
            Expecting::Fixed { taken, flags } => return self.fixed(taken, flags, byte),
            Expecting::ExtraLength { taken: 0, .. } => Expecting::ExtraLength { taken: 1, length: u16::from(byte) },
            Expecting::ExtraLength { length, .. } => match length | u16::from(byte) << 8 {
                0 => self.after(HAS_EXTRA),
                left => Expecting::Extra { left },
            },
            Expecting::Extra { left: 1 } => self.after(HAS_EXTRA),
            Expecting::Extra { left } => Expecting::Extra { left: left - 1 },
            Expecting::Name if byte == 0 => self.after(HAS_NAME),
            Expecting::Comment if byte == 0 => self.after(HAS_COMMENT),
            Expecting::Name | Expecting::Comment => {
                self.header_bytes += 1;
                if self.header_bytes > HEADER_BYTES_MAX {
                    return Err(Damaged);
                }
                self.place
            }
            Expecting::HeaderCrc { taken: 0 } => Expecting::HeaderCrc { taken: 1 },
            Expecting::HeaderCrc { .. } => Expecting::Content,
            Expecting::Content => unreachable!("content is taken in bulk"),
            Expecting::Trailer { taken } => {
                self.trailer[usize::from(taken)] = byte;
                if taken < 7 { Expecting::Trailer { taken: taken + 1 } } else { self.end_member()? }
            }
        };
        Ok(())
    }

    fn fixed(&mut self, taken: u8, flags: u8, byte: u8) -> Result<(), Damaged> {
        let flags = if taken == 3 { byte } else { flags };
        let is_good = match taken {
            0 => byte == 0x1f,
            1 => byte == 0x8b,
            2 => byte == 8,
            3 => byte & RESERVED == 0,
            _ => true,
        };
        if !is_good {
            return Err(Damaged);
        }
        self.flags = flags;
        self.place = if taken < 9 { Expecting::Fixed { taken: taken + 1, flags } } else { self.after(0) };
        Ok(())
    }

    /// The next part of the header: those that the flags name, in this order.
    fn after(&self, part: u8) -> Expecting {
        if part < HAS_EXTRA && self.flags & HAS_EXTRA != 0 {
            Expecting::ExtraLength { taken: 0, length: 0 }
        } else if part < HAS_NAME && self.flags & HAS_NAME != 0 {
            Expecting::Name
        } else if part < HAS_COMMENT && self.flags & HAS_COMMENT != 0 {
            Expecting::Comment
        } else if self.flags & HAS_CRC != 0 {
            Expecting::HeaderCrc { taken: 0 }
        } else {
            Expecting::Content
        }
    }

    fn end_member(&self) -> Result<Expecting, Damaged> {
        let [c0, c1, c2, c3, l0, l1, l2, l3] = self.trailer;
        let crc = u32::from_le_bytes([c0, c1, c2, c3]);
        let length = u32::from_le_bytes([l0, l1, l2, l3]);
        if crc != self.crc.sum() || length != self.crc.amount() { Err(Damaged) } else { Ok(Expecting::Between) }
    }
}
