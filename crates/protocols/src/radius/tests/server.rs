//! The server, and the client against it.

use super::super::packet::{PROXY_STATE, REPLY_MESSAGE, attribute, identity};
use super::super::service::REPLIES_KEPT;
use super::*;

fn given<'a>(method: &'a str, user: &'a str, password: &'a str) -> [(&'a str, &'a str); 4] {
    [("secret", "testing123"), ("method", method), ("user", user), ("password", password)]
}

fn accounting<'a>(word: &'a str, session: &'a str) -> [(&'a str, &'a str); 3] {
    [("secret", "testing123"), ("accounting", word), ("session", session)]
}

/// The events of a step's exchange with a server, one for each datagram, and the text of the last.
fn exchanged(server: &mut Server, given: &[(&str, &str)]) -> (Vec<String>, String) {
    let (step, written) = prepared(given, &[]);
    let mut driven = Driven::new(&*step);
    let (_, request) = driven.begin(4, &written);
    let replies = served(server, 1, &request);
    let text = replies.last().and_then(|reply| attribute(reply, REPLY_MESSAGE)).unwrap_or_default();
    let text = String::from_utf8_lossy(text).into_owned();
    (replies.iter().map(|reply| driven.handle(reply)).collect(), text)
}

#[test]
fn the_client_and_the_server_understand_each_other() {
    let mut server = Server::default();
    for method in ["pap", "chap"] {
        for (user, password, events) in [
            ("nemo", "secret", &["4 Access-Accept true"][..]),
            ("nemo", "secret1", &["4 Access-Reject false"]),
            ("nemo", "", &["4 Access-Reject false"]),
            ("nemo", &"secret".repeat(20), &["4 Access-Reject false"]),
            ("reject-7", "secret", &["4 Access-Reject false"]),
            ("challenge", "secret", &["4 Access-Challenge false"]),
            ("drop", "secret", &[]),
            ("twice", "secret", &["4 Access-Accept true", DUPLICATE]),
            ("twice", "no", &["4 Access-Reject false", DUPLICATE]),
            ("forge", "secret", &[UNMATCHED, "4 Access-Accept true"]),
        ] {
            assert_eq!(exchanged(&mut server, &given(method, user, password)).0, events, "{user} {method}");
        }
    }
    for (word, session) in [("start", "1"), ("stop", "1"), ("interim", "2"), ("start", "3")] {
        assert_eq!(exchanged(&mut server, &accounting(word, session)).0, ["4 Accounting-Response true"]);
    }
    let counts = exchanged(&mut server, &given("pap", "counts", "secret"));
    assert_eq!(counts, (vec!["4 Access-Accept true".to_owned()], "start=2 stop=1 interim=1 others=0".to_owned()));
}

#[test]
fn a_challenge_ends_when_its_state_comes_back() {
    let mut server = Server::default();
    let (step, written) = prepared(&given("pap", "challenge", "secret"), &[]);
    let (_, request) = Driven::new(&*step).begin(1, &written);
    let mut json = Vec::new();
    step.view(&served(&mut server, 1, &request)[0], &mut json);
    let shown: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    let state = shown["attributes"]["State"].as_str().expect("a State");
    let state = format!("State={state}");
    for (password, event) in [("secret", "4 Access-Accept true"), ("no", "4 Access-Reject false")] {
        let with_state = [&given("pap", "challenge", password)[..], &[("attributes", &state)]].concat();
        assert_eq!(exchanged(&mut server, &with_state).0, [event]);
    }
}

#[test]
fn a_request_that_is_sent_again_is_counted_once() {
    let mut server = Server::default();
    let mut replies = Replies::default();
    for (user, expected) in [("nemo", 1), ("drop", 0)] {
        let (step, written) = pap(user);
        let (_, request) = Driven::new(&*step).begin(1, &written);
        for _ in 0..3 {
            server.handle_datagram(1, &request, &mut replies);
        }
        assert_eq!(replies.sent.len(), 3 * expected);
        assert!(replies.sent.iter().all(|(_, reply)| *reply == replies.sent[0].1));
        assert_eq!(std::mem::take(&mut replies).requests, 1);
    }
    let (step, written) = prepared(&accounting("start", "1"), &[]);
    let (_, request) = Driven::new(&*step).begin(1, &written);
    let (first, again) = (served(&mut server, 1, &request), served(&mut server, 1, &request));
    assert_eq!((first.len(), &first), (1, &again));
    assert!(exchanged(&mut server, &given("pap", "counts", "secret")).1.starts_with("start=1 "));
    served(&mut server, 2, &request);
    assert!(exchanged(&mut server, &given("chap", "counts", "secret")).1.starts_with("start=2 "), "of another peer");
}

#[test]
fn the_replies_that_are_kept_are_bounded() {
    let mut server = Server::default();
    let (step, written) = prepared(&accounting("stop", "1"), &[]);
    let (_, request) = Driven::new(&*step).begin(1, &written);
    for peer in 0..=REPLIES_KEPT as u64 {
        assert_eq!(served(&mut server, peer, &request).len(), 1);
    }
    // The first was forgotten, the second is kept.
    served(&mut server, 1, &request);
    served(&mut server, 0, &request);
    let stop = format!("stop={} ", REPLIES_KEPT + 2);
    let (events, text) = exchanged(&mut server, &given("pap", "counts", "secret"));
    assert!(events == ["4 Access-Accept true"] && text.contains(&stop), "{text}");
}

#[test]
fn what_is_not_valid_has_no_reply() {
    let mut server = Server::default();
    for given in [&given("pap", "nemo", "secret")[..], &accounting("start", "1")] {
        let (step, written) = prepared(given, &[]);
        let (_, request) = Driven::new(&*step).begin(1, &written);
        for length in 0..request.len() {
            assert!(served(&mut server, 1, &request[..length]).is_empty(), "{length} bytes");
        }
        for at in 0..request.len() {
            let mut changed = request.clone();
            changed[at] ^= 0x10;
            // Without its Message-Authenticator an Access-Request is not protected: RFC 3579 leaves it to the server.
            let is_unsigned = request[0] == ACCESS_REQUEST && at == 20;
            assert!(served(&mut server, 1, &changed).is_empty() || is_unsigned, "byte {at} changed");
        }
        assert_eq!(served(&mut server, 1, &request).len(), 1);
    }
    let (step, written) = prepared(&[("secret", "other"), ("user", "nemo"), ("password", "secret")], &[]);
    let (_, request) = Driven::new(&*step).begin(1, &written);
    assert!(served(&mut server, 1, &request).is_empty(), "another secret");
    assert!(served(&mut server, 1, b"").is_empty() && served(&mut server, 1, &[1; 5_000]).is_empty());
}

#[test]
fn requests_without_a_signature_are_served() {
    let mut server = Server::default();
    let secret = testing123();
    let request = |hidden: &[u8]| {
        let mut packet = vec![9; HEADER_BYTES];
        packet[0] = ACCESS_REQUEST;
        push_attribute(1, b"nemo", &mut packet);
        push_attribute(2, hidden, &mut packet);
        write_length(0, &mut packet);
        packet
    };
    let mut password = *b"secret\0\0\0\0\0\0\0\0\0\0";
    secret.hide(&[9; 16], &mut password);
    let reply = served(&mut server, 1, &request(&password)).remove(0);
    assert_eq!(reply[0], 2);
    assert!(secret.has_digest(&reply, &[9; 16]) && secret.is_signed_if_at_all(&reply, &[9; 16]));
    assert_eq!(reply[20], MESSAGE_AUTHENTICATOR);
    for (peer, hidden) in [&password[..15], &[0; 1], &[0; 200]].into_iter().enumerate() {
        assert_eq!(served(&mut server, 2 + peer as u64, &request(hidden))[0][0], 3);
    }
}

#[test]
fn the_states_of_proxies_go_back() {
    let mut server = Server::default();
    let proxied = |states: usize| {
        let states = vec![("attributes", "Proxy-State=0x0102"); states];
        [&given("pap", "nemo", "secret")[..], &states, &[("attributes", "Proxy-State=b")]].concat()
    };
    let (step, written) = prepared(&proxied(1), &[]);
    let mut driven = Driven::new(&*step);
    let (_, request) = driven.begin(1, &written);
    let reply = served(&mut server, 1, &request).remove(0);
    let states: Vec<&[u8]> = super::super::packet::Attributes::of(&reply)
        .filter(|(kind, _)| *kind == PROXY_STATE)
        .map(|(_, value)| value)
        .collect();
    assert_eq!(states, [&[1, 2][..], b"b"]);
    assert_eq!(driven.handle(&reply), "1 Access-Accept true");

    // Nothing that does not fit is sent.
    let mut packet = vec![7; HEADER_BYTES];
    packet[0] = ACCESS_REQUEST;
    while packet.len() + 255 <= 4_096 {
        push_attribute(PROXY_STATE, &[b'x'; 253], &mut packet);
    }
    push_attribute(PROXY_STATE, &vec![b'x'; 4_096 - packet.len() - 2], &mut packet);
    write_length(0, &mut packet);
    assert_eq!(identity(&packet).0, 7);
    assert!(served(&mut server, 1, &packet).is_empty());
}

#[test]
fn a_stream_is_closed() {
    let (mut server, mut replies) = (Server::default(), Replies::default());
    server.handle(3, b"\x01", &mut replies);
    assert_eq!((replies.closed, replies.requests), (vec![3], 0));
}

/// Datagrams that are lost, doubled and delayed: each exchange has its own response or none.
#[test]
fn exchanges_over_a_bad_network_never_mix() {
    for seed in 0..100 {
        let mut random = pacing::Random::for_stream(seed, 2);
        let steps = [pap("nemo"), pap("reject"), prepared(&accounting("stop", "9"), &[])];
        let expected = ["Access-Accept true", "Access-Reject false", "Accounting-Response true"];
        let (mut server, mut driven) = (Server::default(), Driven::new(&*steps[0].0));
        let (mut on_the_way, mut abandoned) = (Vec::<Vec<u8>>::new(), 0);
        let mut tag = 0;
        while !driven.connection.is_used_up() && tag < 2_000 {
            tag += 1;
            let which = random.below(3) as usize;
            let (number, mut request) = driven.begin(tag, &steps[which].1);
            let mut is_over = false;
            for _ in 0..4 {
                if random.below(4) > 0 {
                    on_the_way.extend(served(&mut server, 1, &request));
                }
                for _ in 0..random.below(4) {
                    if on_the_way.is_empty() {
                        break;
                    }
                    let at = random.below(on_the_way.len() as u64) as usize;
                    let reply = if random.below(5) == 0 { on_the_way[at].clone() } else { on_the_way.swap_remove(at) };
                    match driven.handle(&reply).as_str() {
                        UNMATCHED | DUPLICATE | LATE => {}
                        event => {
                            assert_eq!(event, format!("{tag} {}", expected[which]), "seed {seed}");
                            assert!(!std::mem::replace(&mut is_over, true), "two responses, seed {seed}");
                        }
                    }
                }
                request.clear();
                if !driven.connection.resend(number, &mut request) {
                    break;
                }
            }
            assert_eq!(driven.connection.is_idle(), is_over);
            assert_eq!(driven.connection.overdue(number), None, "seed {seed}");
            if !is_over {
                driven.abandon(number);
                abandoned += 1;
            }
        }
        assert!(abandoned == 256 || tag == 2_000, "seed {seed}");
    }
}
