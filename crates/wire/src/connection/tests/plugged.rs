//! A custom protocol behaves like the built-in ones.

use super::*;

/// A protocol of text lines that this crate does not know.
#[derive(Default)]
struct Lines {
    begun: Vec<u8>,
    tags: std::collections::VecDeque<Tag>,
}

impl ProtocolConnection for Lines {
    fn room(&self) -> usize {
        2 - self.tags.len()
    }

    fn begin(&mut self, tag: Tag, ask: ExchangeStart<'_>, _mask: Mask, out: &mut Vec<u8>) -> u32 {
        if let Payload::Rendered(text) = ask.what {
            out.extend_from_slice(text);
            out.push(b'\n');
        }
        self.tags.push_back(tag);
        self.tags.len() as u32
    }

    fn handle<'a>(
        &mut self,
        input: &'a mut [u8],
        _scratch: &'a mut Scratch,
        _mask: Mask,
        _out: &mut Vec<u8>,
    ) -> Result<(usize, ConnectionEvent<'a>), Fault> {
        let Some(end) = input.iter().position(|byte| *byte == b'\n') else {
            self.begun.extend_from_slice(input);
            return Ok((input.len(), ConnectionEvent::NeedMore));
        };
        self.begun.clear();
        let tag = self.tags.pop_front().unwrap_or(99);
        Ok((end + 1, ConnectionEvent::End { tag }))
    }

    fn handle_end(&mut self) -> Ending {
        if self.tags.is_empty() { Ending::Idle } else { Ending::BeforeAnswer }
    }

    fn is_idle(&self) -> bool {
        self.tags.is_empty()
    }

    fn begun(&self) -> &[u8] {
        &self.begun
    }

    fn park(&self) -> Option<IdleState> {
        None
    }
}

fn with(tags: &[Tag]) -> (AnyConnection, Vec<u8>) {
    let (mut line, mut out) = (AnyConnection::Custom(Box::<Lines>::default()), Vec::new());
    line.start(&mut out);
    for tag in tags {
        assert!(line.room() > 0);
        let ask = ExchangeStart { what: Payload::Rendered(b"hello"), response: ResponseKind::Message };
        line.begin(*tag, ask, MASK, &mut out);
    }
    (line, out)
}

#[test]
fn what_is_plugged_in_is_requested_and_received_as_ours_are() {
    let (line, out) = with(&[5, 6]);
    assert_eq!((line.room(), line.is_idle(), out.as_slice()), (0, false, &b"hello\nhello\n"[..]));
    let received = at_every_split(|| with(&[5, 6]).0, b"one\ntwo\nthree\n");
    assert_eq!(received.words, ["5 end", "6 end", "99 end"]);
    assert_eq!((received.is_idle, received.ending, received.parked), (true, Some(Ending::Idle), None));
    let received = at_every_split(|| with(&[5]).0, b"on");
    assert_eq!((received.words.len(), received.is_idle, received.ending), (0, false, Some(Ending::BeforeAnswer)));
}

#[test]
fn what_a_line_does_not_say_it_has_like_one_that_carries_one_exchange() {
    let (mut line, _) = with(&[5]);
    let mut out = Vec::new();
    line.resume(&mut out);
    assert!(!line.send(1, Arc::new(vec![1]), true, &mut out) && !line.holds_back() && !line.is_used_up());
    assert!(!line.close(MASK, &mut out) && out.is_empty());
    assert_eq!(line.progress(1), Progress::Framed);
    assert_eq!(line.abandon(1, &mut out), Abandoned::MustClose);
    assert_eq!(line.take_unprocessed(0), Vec::<Tag>::new());
    let _ = line.handle(&mut b"half".to_vec(), &mut Scratch::default(), MASK, &mut out);
    assert_eq!(line.begun(), b"half");
}
