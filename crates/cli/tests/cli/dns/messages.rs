//! Messages of DNS, as the servers of the tests read and write them.

pub(super) const RESPONSE: u16 = 0x8180;
pub(super) const TRUNCATED: u16 = 0x0200;
const HEAD_BYTES: usize = 12;

/// A question with its ID.
#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) id: u16,
    /// Name, type and class.
    pub(super) question: Vec<u8>,
}

impl Query {
    /// Reads a question that onrush sent.
    pub(super) fn read(message: &[u8]) -> Self {
        let length = message[HEAD_BYTES..].iter().position(|byte| *byte == 0).expect("a name") + 5;
        let question = message[HEAD_BYTES..HEAD_BYTES + length].to_vec();
        Self { id: u16::from_be_bytes([message[0], message[1]]), question }
    }

    /// Its name: the labels with dots between them.
    pub(super) fn name(&self) -> String {
        let (mut labels, mut rest) = (Vec::new(), &self.question[..]);
        while let Some((length @ 1.., after)) = rest.split_first() {
            let (label, after) = after.split_at(usize::from(*length));
            labels.push(String::from_utf8(label.to_vec()).expect("letters"));
            rest = after;
        }
        labels.join(".")
    }

    /// A response with this ID, flags, question, and records after it.
    pub(super) fn message(&self, flags: u16, records: &[Vec<u8>]) -> Vec<u8> {
        let head = [self.id, flags, 1, records.len() as u16, 0, 0].map(u16::to_be_bytes).concat();
        [head, self.question.clone(), records.concat()].concat()
    }

    /// A response with one address.
    pub(super) fn response(&self) -> Vec<u8> {
        self.message(RESPONSE, &[record(1, &[127, 0, 0, 7])])
    }
}

/// A record of the name in question.
pub(super) fn record(kind: u16, data: &[u8]) -> Vec<u8> {
    let (kind, length) = (kind.to_be_bytes(), (data.len() as u16).to_be_bytes());
    [&[0xc0, HEAD_BYTES as u8], &kind[..], &[0, 1, 0, 0, 0, 60], &length, data].concat()
}
