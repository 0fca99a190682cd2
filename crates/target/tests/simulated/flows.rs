//! What scenarios with state need, with exact instants: tokens that expire, limits, and rooms.

use serde_json::Value as Json;
use wire::websocket::{Kind, push_message};

use crate::world::{Call, World};

/// The mask of frames of a client: with this one their content stays readable.
const MASK: [u8; 4] = [0; 4];

fn with_fields(call: Call, fields: &str) -> Call {
    let request = call.request.replacen("\r\n\r\n", &format!("\r\n{fields}\r\n\r\n"), 1);
    Call { request, ..call }
}

/// A token of a new user, and what the response says.
fn token(world: &mut World, at_ms: u64, query: &str, user: &str) -> (String, Json) {
    let body = format!("user={user}");
    let request = format!("POST /api/token{query} HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let played = world.play(vec![Call { request, ..Call::get(at_ms, "/") }], None);
    let (status, body) = played.calls[0].parts();
    assert_eq!(status, "201");
    let given: Json = serde_json::from_str(body).expect("JSON");
    (given["token"].as_str().expect("a token").to_owned(), given)
}

fn statuses(calls: &[Call]) -> Vec<&str> {
    calls.iter().map(|call| call.parts().0).collect()
}

#[test]
fn a_token_expires_by_the_clock_of_the_server() {
    let mut world = World::default();
    let (token, given) = token(&mut world, 1_000, "?ttl=2", "ann");
    assert_eq!(given["expires_in"], 2);
    let account = |at_ms| with_fields(Call::get(at_ms, "/account"), &format!("Authorization: Bearer {token}"));
    // It was given after a round trip to connect, and a way of the request.
    let played = world.play([1_001, 2_999, 3_001, 9_000].map(account).into(), None);
    assert_eq!(statuses(&played.calls), ["200", "200", "401", "401"]);
    let head = String::from_utf8_lossy(&played.calls[2].response).into_owned();
    assert!(head.contains("\r\nWWW-Authenticate: Bearer error=\"invalid_token\"\r\n"), "{head}");
    let books: Json = serde_json::from_str(&world.target().books_json()).expect("JSON");
    assert_eq!(books["paths"], serde_json::json!({"GET /account": 4, "POST /api/token": 1}));
    assert_eq!(books["users"]["ann"]["paths"], serde_json::json!({"GET /account": 2, "POST /api/token": 1}));
}

/// Of requests at the same instant as many are admitted as the limit allows; the others come again when they may.
#[test]
fn who_waits_as_long_as_the_header_says_is_admitted() {
    let mut world = World::default();
    let call = |at_ms| Call::get(at_ms, "/limited?per_s=2");
    let played = world.play([1_000, 1_000, 1_000, 1_499, 1_501, 1_502, 2_502].map(call).into(), None);
    let mut at_once = statuses(&played.calls[..3]);
    at_once.sort_unstable();
    assert_eq!(at_once, ["200", "200", "429"]);
    assert_eq!(statuses(&played.calls[3..]), ["429", "200", "429", "200"]);
    let retry_after = |call: &Call| {
        let head = String::from_utf8_lossy(&call.response).into_owned();
        head.lines().find_map(|line| line.strip_prefix("Retry-After: ")).map(str::to_owned)
    };
    let refused: Vec<String> = played.calls.iter().filter_map(retry_after).collect();
    assert_eq!(refused.len(), 3);
    let dates = refused.iter().filter(|value| value.ends_with(" GMT")).count();
    let seconds = refused.iter().filter(|value| *value == "1").count();
    assert_eq!((seconds, dates), (2, 1), "{refused:?}");
}

fn handshake(at_ms: u64, target: &str) -> Call {
    let fields = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    with_fields(Call::get(at_ms, target), fields)
}

fn message(text: &str) -> Vec<u8> {
    let mut frame = Vec::new();
    push_message(Kind::Text, false, Some(MASK), text.as_bytes(), &mut frame);
    frame
}

/// The frames behind the head of a handshake response.
fn frames(call: &Call) -> &[u8] {
    let end = call.response.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
    &call.response[end + 4..]
}

/// Frames of a server with these texts.
fn of_server(texts: &[&str]) -> Vec<u8> {
    let mut frames = Vec::new();
    for text in texts {
        push_message(Kind::Text, false, None, text.as_bytes(), &mut frames);
    }
    frames
}

#[test]
fn all_in_a_room_receive_each_other() {
    let mut world = World::default();
    let (ann, _) = token(&mut world, 1_000, "", "ann");
    let (bob, _) = token(&mut world, 1_010, "", "bob");
    let of = |at_ms, room: &str, token: &str| handshake(at_ms, &format!("/room/{room}?token={token}"));
    let in_head = with_fields(handshake(1_100, "/room/7"), &format!("Authorization: Bearer {bob}"));
    let calls = vec![
        Call { later: vec![(1_200, message("a")), (1_400, message("c"))], ..of(1_100, "7", &ann) },
        Call { later: vec![(1_300, message("b"))], ..in_head },
        Call { later: vec![(1_310, message("elsewhere"))], ..of(1_100, "8", &bob) },
        // It comes later.
        Call { later: vec![(1_250, message("d"))], ..of(1_220, "7", &bob) },
        // An echo on another path needs no token.
        Call { later: vec![(1_300, message("echo"))], ..handshake(1_100, "/rooms") },
    ];
    let played = world.play(calls, None);
    let got: Vec<&[u8]> = played.calls.iter().map(frames).collect();
    assert_eq!(got[0], of_server(&["a", "d", "b", "c"]));
    assert_eq!(got[1], of_server(&["a", "d", "b", "c"]));
    assert_eq!(got[2], of_server(&["elsewhere"]));
    assert_eq!(got[3], of_server(&["d", "b", "c"]));
    assert_eq!(got[4], of_server(&["echo"]));
    let stats: Json = serde_json::from_str(&world.target().stats_json()).expect("JSON");
    assert_eq!((&stats["requests_by_path"]["/room"], &stats["long_connections"]["pushed"]), (&4.into(), &12.into()));
    let books: Json = serde_json::from_str(&world.target().books_json()).expect("JSON");
    assert_eq!(books["users"]["bob"]["paths"]["GET /room/{id}"], 3);
}

#[test]
fn a_room_wants_a_token() {
    let mut world = World::default();
    let (ann, _) = token(&mut world, 1_000, "?ttl=1", "ann");
    let of = |at_ms, room: &str, token: &str| handshake(at_ms, &format!("/room/{room}?token={token}"));
    let plain = Call::get(1_100, &format!("/room/7?token={ann}"));
    let calls =
        vec![handshake(1_100, "/room/7"), of(1_100, "7", "x"), of(2_100, "7", &ann), of(1_100, "x", &ann), plain];
    let played = world.play(calls, None);
    assert_eq!(statuses(&played.calls), ["401", "401", "401", "400", "400"]);
    assert!(String::from_utf8_lossy(&played.calls[0].response).contains("\r\nWWW-Authenticate: Bearer\r\n"));
    let stats: Json = serde_json::from_str(&world.target().stats_json()).expect("JSON");
    assert_eq!(stats.get("long_connections"), None);
}
