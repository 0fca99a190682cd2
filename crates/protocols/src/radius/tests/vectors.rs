//! The examples of RFC 2865 (7), RFC 5997 (6) and RFC 2104, and of RFC 1321 for MD5.

use super::super::packet::{attribute, chap, identity, packet_of};
use super::*;

/// An Access-Request of RFC 2865, and the response to it.
const PAP: [&str; 2] = [
    "01 00 00 38 0f 40 3f 94 73 97 80 57 bd 83 d5 cb 98 f4 22 7a 01 06 6e 65 6d 6f 02 12 0d be 70 8d
     93 d4 13 ce 31 96 e4 3f 78 2a 0a ee 04 06 c0 a8 01 10 05 06 00 00 00 03",
    "02 00 00 26 86 fe 22 0e 76 24 ba 2a 10 05 f6 bf 9b 55 e0 b2 06 06 00 00 00 01 0f 06 00 00 00 00
     0e 06 c0 a8 01 03",
];
const CHAP: [&str; 2] = [
    "01 01 00 47 2a ee 86 f0 8d 0d 55 96 9c a5 97 8e 0d 33 67 a2 01 08 66 6c 6f 70 73 79 03 13 16 e9
     75 57 c3 16 18 58 95 f2 93 ff 63 44 07 72 75 04 06 c0 a8 01 10 05 06 00 00 00 14 06 06 00 00 00
     02 07 06 00 00 00 01",
    "02 01 00 38 15 ef bc 7d ab 26 cf a3 dc 34 d9 c0 3c 86 01 a4 06 06 00 00 00 02 07 06 00 00 00 01
     08 06 ff ff ff fe 0a 06 00 00 00 02 0d 06 00 00 00 01 0c 06 00 00 05 dc",
];
const CHALLENGE: [&str; 2] = [
    "01 02 00 39 f3 a4 7a 1f 6a 6d 76 71 0b 94 7a b9 30 41 a0 39 01 07 6d 6f 70 73 79 02 12 33 65 75
     73 77 82 89 b5 70 88 5e 15 08 48 25 c5 04 06 c0 a8 01 10 05 06 00 00 00 07",
    "0b 02 00 4e 36 f3 c8 76 4a e8 c7 11 57 40 3c 0c 71 ff 9c 45 12 30 43 68 61 6c 6c 65 6e 67 65 20
     33 32 37 36 39 34 33 30 2e 20 20 45 6e 74 65 72 20 72 65 73 70 6f 6e 73 65 20 61 74 20 70 72 6f
     6d 70 74 2e 18 0a 33 32 37 36 39 34 33 30",
];

fn xyzzy() -> Secret {
    Secret::new(b"xyzzy5461")
}

#[test]
fn responses_of_rfc_2865_are_those_to_their_requests() {
    for [request, response] in [PAP, CHAP, CHALLENGE] {
        let (request, response) = (bytes_of(request), bytes_of(response));
        assert_eq!(packet_of(&request), Some(&request[..]));
        let (id, authenticator) = identity(&request);
        assert_eq!(id, identity(&response).0);
        assert!(xyzzy().has_digest(&response, &authenticator), "{}", code_name(response[0]).expect("a code"));
        assert!(!xyzzy().has_digest(&response, &[0; 16]));
        assert!(!testing123().has_digest(&response, &authenticator));
    }
}

#[test]
fn passwords_of_rfc_2865_are_hidden_and_revealed() {
    for ([request, _], password) in [(PAP, &b"arctangent"[..]), (CHALLENGE, b"challenge")] {
        let request = bytes_of(request);
        let authenticator = identity(&request).1;
        let hidden = attribute(&request, 2).expect("a password");
        let mut padded = [0; 16];
        padded[..password.len()].copy_from_slice(password);
        assert_eq!(xyzzy().reveal(&authenticator, hidden), padded);
        xyzzy().hide(&authenticator, &mut padded);
        assert_eq!(padded, hidden);
    }
}

#[test]
fn the_chap_response_of_rfc_2865() {
    let request = bytes_of(CHAP[0]);
    let value = attribute(&request, 3).expect("a CHAP-Password");
    assert_eq!(chap(value[0], b"arctangent", &identity(&request).1), value[1..]);
}

#[test]
fn long_passwords_are_hidden_block_by_block() {
    let authenticator = digest_of("00112233445566778899aabbccddeeff");
    for length in [16, 32, 128] {
        let password: Vec<u8> = (0..length).collect();
        let mut hidden = password.clone();
        xyzzy().hide(&authenticator, &mut hidden);
        for (at, block) in hidden.chunks(16).enumerate() {
            let before = if at == 0 { &authenticator[..] } else { &hidden[16 * at - 16..16 * at] };
            let mask = md5::compute([b"xyzzy5461", before].concat()).0;
            let expected: Vec<u8> = password[16 * at..].iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect();
            assert_eq!(block, expected);
        }
        assert_eq!(xyzzy().reveal(&authenticator, &hidden), password);
    }
}

#[test]
fn the_message_authenticator_of_rfc_5997() {
    let request = bytes_of(
        "0c da 00 26 8a 54 f4 68 6f b3 94 c5 28 66 e3 02 18 5d 06 23 50 12 5a 66 5e 2e 1e 84 11 f3 e2 43
         82 20 97 c8 4f a3",
    );
    let (_, authenticator) = identity(&request);
    assert!(xyzzy().is_signed_if_at_all(&request, &authenticator));
    assert_eq!(xyzzy().signature(&request, &authenticator, 22), request[22..]);
    let response = bytes_of("02 da 00 14 ef 0d 55 2a 4b f2 d6 93 ec 2b 6f e8 b5 41 1d 66");
    assert!(xyzzy().has_digest(&response, &authenticator));
    let request = bytes_of(
        "0c b3 00 26 92 5f 6b 66 dd 5f ed 57 1f cb 1d b7 ad 38 82 60 50 12 e8 d6 ea bd a9 10 87 5c d9 1f
         da de 26 36 78 58",
    );
    assert!(xyzzy().is_signed_if_at_all(&request, &identity(&request).1));
    for at in 0..request.len() {
        let mut changed = request.clone();
        changed[at] ^= 1;
        assert!(!xyzzy().is_signed_if_at_all(&changed, &identity(&changed).1) || (20..22).contains(&at), "{at}");
    }
}

/// HMAC with keys that are shorter and longer than a block, through the bytes around a signature.
#[test]
fn signatures_are_those_of_rfc_2104() {
    let hmac = |key: &[u8], text: &[u8]| {
        let mut block = [0; 64];
        let digest = md5::compute(key).0;
        let key = if key.len() > 64 { &digest[..] } else { key };
        block[..key.len()].copy_from_slice(key);
        let keyed = |pad: u8, text: &[u8]| md5::compute([&block.map(|byte| byte ^ pad)[..], text].concat()).0;
        keyed(0x5c, &keyed(0x36, text))
    };
    let expected = digest_of("750c783e6ab0b503eaa86e310a5db738");
    assert_eq!(hmac(b"Jefe", b"what do ya want for nothing?"), expected);
    assert_eq!(hmac(&[0x0b; 16], b"Hi There"), digest_of("9294727a3638bb1c13f48ef8158bfc9d"));
    assert_eq!(
        hmac(&[0xaa; 80], b"Test Using Larger Than Block-Size Key - Hash Key First"),
        digest_of("6b1ab7fe4bd7bf8f0b62e6ce61b9d0cd"),
    );
    for length in [0, 1, 63, 64, 65, 300] {
        let key: Vec<u8> = (0..length).map(|byte| byte as u8).collect();
        let mut packet = vec![7; 60];
        push_attribute(MESSAGE_AUTHENTICATOR, &[9; 16], &mut packet);
        packet.extend([5; 30]);
        let signature = Secret::new(&key).signature(&packet, &[3; 16], 62);
        packet[4..20].fill(3);
        packet[62..78].fill(0);
        assert_eq!(signature, hmac(&key, &packet), "a key of {length} bytes");
    }
}

#[test]
fn digests_are_those_of_rfc_1321() {
    assert_eq!(md5::compute(b"").0, digest_of("d41d8cd98f00b204e9800998ecf8427e"));
    assert_eq!(md5::compute(b"message digest").0, digest_of("f96b697d7cb7938d525a2f31aaf161d0"));
}
