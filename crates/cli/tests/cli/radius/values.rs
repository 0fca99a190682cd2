//! Values that are made for a request: one that is too long is a failure of its own, and says what was sent.

use std::sync::{Arc, Mutex};

use super::packets::{ACCEPT, Packet};
use super::server::SECRET;
use crate::Folder;
use crate::datagrams::DatagramServer;
use crate::loads::{DRIVERS, failures, load, number, scenario};

const USER_NAME: u8 = 1;
const USER_PASSWORD: u8 = 2;

/// The length of an attribute's value.
fn length_of(packet: &[u8], kind: u8) -> Option<usize> {
    let mut rest = &packet[20..];
    while let [own, length, ..] = rest {
        if *own == kind {
            return Some(usize::from(*length) - 2);
        }
        rest = &rest[usize::from(*length)..];
    }
    None
}

#[test]
fn a_made_value_that_is_too_long_is_a_failure_of_its_own() {
    let folder = Folder::new("radius-values");
    let came = Arc::new(Mutex::new(Vec::new()));
    let own = came.clone();
    let server = DatagramServer::start(move |bytes, peer| {
        let lengths = [USER_NAME, USER_PASSWORD].map(|kind| length_of(bytes, kind));
        own.lock().expect("it lives").push(lengths);
        peer.send(&Packet(bytes.to_vec()).response(ACCEPT, &[], SECRET));
    });
    for (user, password, sent, fails) in [
        (253, 128, [Some(253), Some(128)], false),
        (254, 128, [None, Some(128)], true),
        (253, 129, [Some(253), Some(128)], true),
    ] {
        let made = |length: usize| format!("\"${{'{}'}}\"", "a".repeat(length));
        let step = format!("user: {}, password: {}, secret: \"{SECRET}\"", made(user), made(password));
        let steps = format!("      - radius: {{{step}}}\n");
        let file = folder.file("v.yaml", scenario(&server.url("radius", ""), "{users: 2, iterations: 12}", &steps));
        for driver in DRIVERS {
            let (seen, _) = load(&["run", &file, "-t", "1h", "--no-abort-on-failures", "--driver", driver]);
            let expected = if fails { vec![("radius-value", 12)] } else { vec![] };
            assert_eq!(failures(&seen), expected, "{user} {password} {driver}: {seen:#}");
            let succeeded = if fails { 0 } else { 12 };
            assert_eq!(number(&seen, "/requests/succeeded"), succeeded, "{user} {password} {driver}: {seen:#}");
            let came = std::mem::take(&mut *came.lock().expect("it lives"));
            assert_eq!(came, vec![sent; 12], "{user} {password} {driver}");
            assert_eq!(number(&seen, "/connections/established"), 2, "{user} {password} {driver}: {seen:#}");
        }
    }
}
