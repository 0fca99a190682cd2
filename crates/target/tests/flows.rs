//! What scenarios with state need, over sockets: rooms whose members belong to different threads, files, and books.

#[macro_use]
extern crate claims;

#[macro_use]
mod each_driver;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use driver::Kind;
use serde_json::Value as Json;
use target::{ServeOptions, Server};
use wire::websocket::{Kind as MessageKind, push_message};

/// Limit for a response that never arrives, so that the test does not hang; it asserts nothing.
const PATIENCE: Duration = Duration::from_secs(120);
const THREADS: usize = 3;

fn server(kind: Kind) -> Server {
    let listen: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    Server::start(&ServeOptions::plain(listen, THREADS, kind)).expect("a server")
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address()).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a flag");
    stream.set_nodelay(true).expect("a flag");
    stream
}

/// The head of a response, and its length of a body.
fn head(stream: &mut TcpStream) -> (String, usize) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("a head");
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).expect("text");
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let length = length.map_or(0, |length| length.parse().expect("a number"));
    (head, length)
}

fn body(stream: &mut TcpStream, length: usize) -> Vec<u8> {
    let mut body = vec![0; length];
    stream.read_exact(&mut body).expect("a body");
    body
}

/// A request, and the status and the body of its response.
fn ask(stream: &mut TcpStream, line: &str, fields: &str, sent: &[u8]) -> (String, Vec<u8>) {
    let head_of_request = format!("{line} HTTP/1.1\r\nHost: a\r\n{fields}Content-Length: {}\r\n\r\n", sent.len());
    stream.write_all(head_of_request.as_bytes()).expect("it goes out");
    if fields.contains("100-continue") {
        assert_eq!(&head(stream).0[9..12], "100");
    }
    for piece in sent.chunks(70_000) {
        stream.write_all(piece).expect("it goes out");
    }
    let (of_response, length) = head(stream);
    (of_response[9..12].to_owned(), body(stream, length))
}

fn json(bytes: &[u8]) -> Json {
    serde_json::from_slice(bytes).expect("JSON")
}

on_each_driver! {
    members_of_a_room_receive_each_other
    files_come_back_whole
}

fn members_of_a_room_receive_each_other(kind: Kind) {
    const MEMBERS: usize = 9;
    const MESSAGES: usize = 20;
    let server = server(kind);
    let mut members: Vec<TcpStream> = (0..MEMBERS)
        .map(|number| {
            let (status, given) =
                ask(&mut connect(&server), "POST /api/token", "", format!("user=u{number}").as_bytes());
            assert_eq!(status, "201");
            let token = json(&given)["token"].as_str().expect("a token").to_owned();
            let mut stream = connect(&server);
            let request = format!(
                "GET /room/7?token={token} HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                 Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            );
            stream.write_all(request.as_bytes()).expect("it goes out");
            assert_eq!(&head(&mut stream).0[9..12], "101");
            stream
        })
        .collect();
    for (number, stream) in members.iter_mut().enumerate() {
        for message in 0..MESSAGES {
            let mut frame = Vec::new();
            let text = format!("{number:02} {message:02}");
            push_message(MessageKind::Text, false, Some([1, 2, 3, 4]), text.as_bytes(), &mut frame);
            stream.write_all(&frame).expect("it goes out");
        }
    }
    // Frames with a head of two bytes, and a text of five.
    let read = |stream: &mut TcpStream| body(stream, MEMBERS * MESSAGES * 7);
    let got: Vec<Vec<u8>> = members.iter_mut().map(read).collect();
    assert!(got.iter().all(|one| *one == got[0]), "all have the same order");
    let texts: Vec<&[u8]> = got[0].chunks(7).map(|frame| &frame[2..]).collect();
    for number in 0..MEMBERS {
        let own = texts.iter().filter(|text| text.starts_with(format!("{number:02} ").as_bytes()));
        let expect: Vec<String> = (0..MESSAGES).map(|message| format!("{number:02} {message:02}")).collect();
        assert!(own.map(|text| String::from_utf8_lossy(text).into_owned()).eq(expect), "of {number}, in order");
    }
    let books = json(&ask(&mut connect(&server), "GET /stats/books", "", b"").1);
    assert_eq!(books["paths"]["GET /room/{id}"], MEMBERS);
    let users = books["users"].as_object().expect("users");
    let expect = serde_json::json!({"GET /room/{id}": 1, "POST /api/token": 1});
    assert!(users.len() == MEMBERS && users.values().all(|user| user["paths"] == expect), "{books}");
}

fn files_come_back_whole(kind: Kind) {
    let server = server(kind);
    let picture: Vec<u8> = (0..1_000_003u32).map(|index| (index.wrapping_mul(index) >> 3) as u8).collect();
    let form = [
        b"--xyz\r\nContent-Disposition: form-data; name=\"p\"; filename=\"p.jpg\"\r\n\r\n",
        &picture[..],
        b"\r\n--xyz--\r\n",
    ]
    .concat();
    let mut stream = connect(&server);
    let fields = "Expect: 100-continue\r\nContent-Type: multipart/form-data; boundary=xyz\r\n";
    let (status, stored) = ask(&mut stream, "POST /files", fields, &form);
    assert_eq!((status.as_str(), &json(&stored)["bytes"]), ("201", &picture.len().into()));
    // The threads share the files.
    let path = format!("GET /files/{}", json(&stored)["id"]);
    for _ in 0..THREADS * 2 {
        let (status, got) = ask(&mut connect(&server), &path, "", b"");
        assert!(status == "200" && got == picture, "{status}, {} bytes", got.len());
    }
    let large = vec![0; (16 << 20) + 1];
    assert_eq!(ask(&mut stream, "POST /files", "", &large).0, "413");
    assert_eq!(ask(&mut stream, "POST /files", "", &large[1..]).0, "201", "the connection goes on");
}
