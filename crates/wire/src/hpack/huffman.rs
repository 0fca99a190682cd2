//! The Huffman code of RFC 7541, appendix B: encoded with a table of codes, decoded four bits at a time by a machine of
//! 256 states that the compiler builds from the same table.

/// Codes by symbol, each with its length in bits; the last one is the end-of-string symbol.
#[rustfmt::skip]
const CODES: [(u32, u8); 257] = [
    (0x1ff8, 13), (0x7fffd8, 23), (0xfffffe2, 28), (0xfffffe3, 28), (0xfffffe4, 28), (0xfffffe5, 28), (0xfffffe6, 28),
    (0xfffffe7, 28), (0xfffffe8, 28), (0xffffea, 24), (0x3ffffffc, 30), (0xfffffe9, 28), (0xfffffea, 28),
    (0x3ffffffd, 30), (0xfffffeb, 28), (0xfffffec, 28), (0xfffffed, 28), (0xfffffee, 28), (0xfffffef, 28),
    (0xffffff0, 28), (0xffffff1, 28), (0xffffff2, 28), (0x3ffffffe, 30), (0xffffff3, 28), (0xffffff4, 28),
    (0xffffff5, 28), (0xffffff6, 28), (0xffffff7, 28), (0xffffff8, 28), (0xffffff9, 28), (0xffffffa, 28),
    (0xffffffb, 28), (0x14, 6), (0x3f8, 10), (0x3f9, 10), (0xffa, 12), (0x1ff9, 13), (0x15, 6), (0xf8, 8), (0x7fa, 11),
    (0x3fa, 10), (0x3fb, 10), (0xf9, 8), (0x7fb, 11), (0xfa, 8), (0x16, 6), (0x17, 6), (0x18, 6), (0x0, 5), (0x1, 5),
    (0x2, 5), (0x19, 6), (0x1a, 6), (0x1b, 6), (0x1c, 6), (0x1d, 6), (0x1e, 6), (0x1f, 6), (0x5c, 7), (0xfb, 8),
    (0x7ffc, 15), (0x20, 6), (0xffb, 12), (0x3fc, 10), (0x1ffa, 13), (0x21, 6), (0x5d, 7), (0x5e, 7), (0x5f, 7),
    (0x60, 7), (0x61, 7), (0x62, 7), (0x63, 7), (0x64, 7), (0x65, 7), (0x66, 7), (0x67, 7), (0x68, 7), (0x69, 7),
    (0x6a, 7), (0x6b, 7), (0x6c, 7), (0x6d, 7), (0x6e, 7), (0x6f, 7), (0x70, 7), (0x71, 7), (0x72, 7), (0xfc, 8),
    (0x73, 7), (0xfd, 8), (0x1ffb, 13), (0x7fff0, 19), (0x1ffc, 13), (0x3ffc, 14), (0x22, 6), (0x7ffd, 15), (0x3, 5),
    (0x23, 6), (0x4, 5), (0x24, 6), (0x5, 5), (0x25, 6), (0x26, 6), (0x27, 6), (0x6, 5), (0x74, 7), (0x75, 7),
    (0x28, 6), (0x29, 6), (0x2a, 6), (0x7, 5), (0x2b, 6), (0x76, 7), (0x2c, 6), (0x8, 5), (0x9, 5), (0x2d, 6),
    (0x77, 7), (0x78, 7), (0x79, 7), (0x7a, 7), (0x7b, 7), (0x7ffe, 15), (0x7fc, 11), (0x3ffd, 14), (0x1ffd, 13),
    (0xffffffc, 28), (0xfffe6, 20), (0x3fffd2, 22), (0xfffe7, 20), (0xfffe8, 20), (0x3fffd3, 22), (0x3fffd4, 22),
    (0x3fffd5, 22), (0x7fffd9, 23), (0x3fffd6, 22), (0x7fffda, 23), (0x7fffdb, 23), (0x7fffdc, 23), (0x7fffdd, 23),
    (0x7fffde, 23), (0xffffeb, 24), (0x7fffdf, 23), (0xffffec, 24), (0xffffed, 24), (0x3fffd7, 22), (0x7fffe0, 23),
    (0xffffee, 24), (0x7fffe1, 23), (0x7fffe2, 23), (0x7fffe3, 23), (0x7fffe4, 23), (0x1fffdc, 21), (0x3fffd8, 22),
    (0x7fffe5, 23), (0x3fffd9, 22), (0x7fffe6, 23), (0x7fffe7, 23), (0xffffef, 24), (0x3fffda, 22), (0x1fffdd, 21),
    (0xfffe9, 20), (0x3fffdb, 22), (0x3fffdc, 22), (0x7fffe8, 23), (0x7fffe9, 23), (0x1fffde, 21), (0x7fffea, 23),
    (0x3fffdd, 22), (0x3fffde, 22), (0xfffff0, 24), (0x1fffdf, 21), (0x3fffdf, 22), (0x7fffeb, 23), (0x7fffec, 23),
    (0x1fffe0, 21), (0x1fffe1, 21), (0x3fffe0, 22), (0x1fffe2, 21), (0x7fffed, 23), (0x3fffe1, 22), (0x7fffee, 23),
    (0x7fffef, 23), (0xfffea, 20), (0x3fffe2, 22), (0x3fffe3, 22), (0x3fffe4, 22), (0x7ffff0, 23), (0x3fffe5, 22),
    (0x3fffe6, 22), (0x7ffff1, 23), (0x3ffffe0, 26), (0x3ffffe1, 26), (0xfffeb, 20), (0x7fff1, 19), (0x3fffe7, 22),
    (0x7ffff2, 23), (0x3fffe8, 22), (0x1ffffec, 25), (0x3ffffe2, 26), (0x3ffffe3, 26), (0x3ffffe4, 26), (0x7ffffde, 27),
    (0x7ffffdf, 27), (0x3ffffe5, 26), (0xfffff1, 24), (0x1ffffed, 25), (0x7fff2, 19), (0x1fffe3, 21), (0x3ffffe6, 26),
    (0x7ffffe0, 27), (0x7ffffe1, 27), (0x3ffffe7, 26), (0x7ffffe2, 27), (0xfffff2, 24), (0x1fffe4, 21), (0x1fffe5, 21),
    (0x3ffffe8, 26), (0x3ffffe9, 26), (0xffffffd, 28), (0x7ffffe3, 27), (0x7ffffe4, 27), (0x7ffffe5, 27), (0xfffec, 20),
    (0xfffff3, 24), (0xfffed, 20), (0x1fffe6, 21), (0x3fffe9, 22), (0x1fffe7, 21), (0x1fffe8, 21), (0x7ffff3, 23),
    (0x3fffea, 22), (0x3fffeb, 22), (0x1ffffee, 25), (0x1ffffef, 25), (0xfffff4, 24), (0xfffff5, 24), (0x3ffffea, 26),
    (0x7ffff4, 23), (0x3ffffeb, 26), (0x7ffffe6, 27), (0x3ffffec, 26), (0x3ffffed, 26), (0x7ffffe7, 27),
    (0x7ffffe8, 27), (0x7ffffe9, 27), (0x7ffffea, 27), (0x7ffffeb, 27), (0xffffffe, 28), (0x7ffffec, 27),
    (0x7ffffed, 27), (0x7ffffee, 27), (0x7ffffef, 27), (0x7fffff0, 27), (0x3ffffee, 26), (0x3fffffff, 30),];

const SYMBOL: u32 = 1 << 16;
const FAILURE: u32 = 1 << 17;
/// Padding is shorter than a byte.
const PADDING_BITS_MAX: usize = 7;

/// For each state and four bits: the next state, the completed symbol, if any, or the failure.
struct Machine {
    steps: [[u32; 16]; 256],
    /// Whether a string may end here: the bits since the last symbol are padding.
    may_end: [bool; 256],
}

static MACHINE: Machine = Machine::build();

impl Machine {
    const fn build() -> Self {
        // Children of each inner node: below 256 an inner node, above it a symbol + 256, 0 for none; the root is 0.
        let mut children = [[0u16; 2]; 256];
        let mut nodes = 1;
        let mut symbol = 0;
        while symbol < 257 {
            let (code, bits) = CODES[symbol];
            let mut node = 0;
            let mut bit = bits;
            while bit > 1 {
                bit -= 1;
                let side = (code >> bit & 1) as usize;
                if children[node][side] == 0 {
                    children[node][side] = nodes;
                    nodes += 1;
                }
                node = children[node][side] as usize;
            }
            children[node][(code & 1) as usize] = symbol as u16 + 256;
            symbol += 1;
        }
        let mut machine = Self { steps: [[0; 16]; 256], may_end: [false; 256] };
        let mut state = 0;
        while state < 256 {
            let mut half = 0;
            while half < 16 {
                machine.steps[state][half] = Self::step(&children, state, half);
                half += 1;
            }
            state += 1;
        }
        let mut node = 0;
        let mut depth = 0;
        while depth <= PADDING_BITS_MAX {
            machine.may_end[node] = true;
            node = children[node][1] as usize;
            depth += 1;
        }
        machine
    }

    const fn step(children: &[[u16; 2]; 256], state: usize, half: usize) -> u32 {
        let (mut node, mut emitted) = (state, 0);
        let mut bit = 4;
        while bit > 0 {
            bit -= 1;
            let child = children[node][half >> bit & 1] as usize;
            if child == 256 + 256 {
                return FAILURE;
            }
            if child >= 256 {
                emitted = SYMBOL | ((child - 256) as u32) << 8;
                node = 0;
            } else {
                node = child;
            }
        }
        emitted | node as u32
    }
}

/// Appends the decoded bytes; false when the code is invalid.
#[must_use]
pub(super) fn decode(code: &[u8], out: &mut Vec<u8>) -> bool {
    // The shortest symbol has five bits.
    out.reserve(code.len() * 8 / 5 + 1);
    let mut state = 0;
    for byte in code {
        for half in [byte >> 4, byte & 15] {
            let step = MACHINE.steps[state][usize::from(half)];
            if step & FAILURE != 0 {
                return false;
            }
            if step & SYMBOL != 0 {
                out.push((step >> 8) as u8);
            }
            state = (step & 255) as usize;
        }
    }
    MACHINE.may_end[state]
}

/// Encoded length of a string in bytes.
pub(super) fn encoded_bytes(text: &[u8]) -> usize {
    text.iter().map(|byte| usize::from(CODES[usize::from(*byte)].1)).sum::<usize>().div_ceil(8)
}

/// Appends the encoded string.
pub(super) fn encode(text: &[u8], out: &mut Vec<u8>) {
    let (mut kept, mut bits) = (0u64, 0u32);
    for byte in text {
        let (code, length) = CODES[usize::from(*byte)];
        kept = kept << length | u64::from(code);
        bits += u32::from(length);
        while bits >= 8 {
            bits -= 8;
            out.push((kept >> bits) as u8);
        }
    }
    if bits > 0 {
        // Padding is a prefix of the end-of-string code.
        out.push((kept << (8 - bits)) as u8 | 0xff >> bits);
    }
}
