//! The server, and the client against it.

use pacing::Random;
use protocol::Service;

use super::super::service::Server;
use super::*;

/// The replies to these bytes, and whether the connection is closed then.
fn served(pieces: &[&[u8]]) -> (String, bool) {
    let (mut server, mut replies) = (Server::default(), Replies::default());
    server.open(7, &mut replies);
    pieces.iter().for_each(|piece| server.handle(7, piece, &mut replies));
    (replied(&replies).escape_ascii().to_string().replace("\\r\\n", " "), !replies.closed.is_empty())
}

/// Commands as lines, and the replies to them, also as arrays, cut anywhere.
fn check_served(lines: &[&str], expected: &str) {
    let text = lines.iter().map(|line| format!("{line}\r\n")).collect::<String>();
    let array = |line: &&str| {
        let words: Vec<&str> = line.split(' ').collect();
        let bulks = words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len()));
        format!("*{}\r\n{}", words.len(), bulks.collect::<String>())
    };
    let arrays = lines.iter().map(array).collect::<String>();
    for bytes in [text.as_bytes(), arrays.as_bytes()] {
        for at in 0..=bytes.len() {
            let (front, back) = bytes.split_at(at);
            assert_eq!(served(&[front, back]).0, expected, "cut at {at}");
        }
        assert_eq!(served(&bytes.chunks(1).collect::<Vec<_>>()).0, expected);
    }
}

#[test]
fn commands_of_strings() {
    let lines = ["PING", "ping hi", "ECHO a", "SET k 1", "GET k", "GET no", "INCR k", "INCRBY k -5", "INCR n", "GET k"];
    check_served(&lines, "+PONG $2 hi $1 a +OK $1 1 $-1 :2 :-3 :1 $2 -3 ");
    let lines = ["MSET a 1 b 2", "MGET a no b", "EXISTS a b no", "DBSIZE", "DEL a no", "DBSIZE", "FLUSHALL", "DBSIZE"];
    check_served(&lines, "+OK *3 $1 1 $-1 $1 2 :2 :2 :1 :1 +OK :0 ");
}

#[test]
fn commands_of_lists_and_hashes() {
    let lines = ["LPUSH l c b a", "LRANGE l 0 -1", "LRANGE l -2 1", "LRANGE l 2 1", "LRANGE no 0 9"];
    check_served(&lines, ":3 *3 $1 a $1 b $1 c *1 $1 b *0 *0 ");
    let far = format!("LRANGE l {} {}", i64::MIN, i64::MAX);
    check_served(&["LPUSH l a", &far], ":1 *1 $1 a ");
    for (first, last) in [(i64::MAX, i64::MIN), (32_767, i64::MIN + 1), (i64::MAX, i64::MAX), (i64::MIN, i64::MIN)] {
        check_served(&["LPUSH l a", &format!("LRANGE l {first} {last}")], ":1 *0 ");
    }
    check_served(&["HSET h f 1 g 2", "HSET h f 3", "HGETALL h", "HGETALL no"], ":2 :0 *4 $1 f $1 3 $1 g $1 2 *0 ");
    let wrong = "-WRONGTYPE Operation against a key holding the wrong kind of value ";
    let lines =
        ["SET s x", "LPUSH s a", "LRANGE s 0 1", "HSET s f v", "HGETALL s", "LPUSH l a", "GET l", "INCR l", "MGET l"];
    check_served(&lines, &format!("+OK {}:1 {}*1 $-1 ", wrong.repeat(4), wrong.repeat(2)));
}

#[test]
fn what_the_server_refuses() {
    let no_integer = "-ERR value is not an integer or out of range ";
    check_served(&["SET k v EX 3", "SET k v NX"], "-ERR syntax error -ERR syntax error ");
    check_served(&["SET k v", "INCR k", "INCRBY k x"], &format!("+OK {no_integer}{no_integer}"));
    let lines = ["SET k 9223372036854775807", "INCR k"];
    check_served(&lines, "+OK -ERR increment or decrement would overflow ");
    check_served(
        &["what 1", "GET"],
        "-ERR unknown command \\'what\\' -ERR wrong number of arguments for \\'get\\' command ",
    );
    check_served(
        &["MSET a", "HSET h f"],
        &["mset", "hset"].map(|name| format!("-ERR wrong number of arguments for \\'{name}\\' command ")).concat(),
    );
}

#[test]
fn sessions() {
    let refused = "-WRONGPASS invalid username-password pair or user is disabled. ";
    check_served(&["AUTH secret", "AUTH me secret", "AUTH no"], &format!("+OK +OK {refused}"));
    check_served(
        &["SELECT 1", "SET k 1", "SELECT 0", "GET k", "SELECT 16"],
        "+OK +OK +OK $-1 -ERR DB index is out of range ",
    );
    check_served(&["CLIENT SETNAME me", "COMMAND DOCS", "CONFIG GET save", "INFO"], "+OK *0 *0 $0  ");
    let map = "%3 $6 server $5 redis $7 version $5 7.0.0 $5 proto :3 ";
    check_served(&["HELLO 3 AUTH me secret SETNAME x", "GET no", "HGETALL no"], &format!("{map}_ %0 "));
    check_served(
        &["HELLO 4", "HELLO 3 AUTH me no", "GET no"],
        &format!("-NOPROTO unsupported protocol version {refused}$-1 "),
    );
    check_served(&["PING", "QUIT", "PING"], "+PONG +OK ");
    assert!(served(&[b"QUIT\r\n"]).1);
}

#[test]
fn the_server_counts_commands() {
    let lines = ["GET a", "SET a 1", "get a", "GET", "INFO commandstats"];
    let bytes = lines.map(|line| format!("{line}\r\n")).concat();
    let (replies, _) = served(&[bytes.as_bytes()]);
    assert!(replies.contains("cmdstat_get:calls=2,usec=0,") && replies.contains("cmdstat_set:calls=1,usec=0,"));
}

#[test]
fn hostile_clients_are_disconnected() {
    for bytes in [
        &b"*1\r\nx"[..],
        b"*1\r\n:1\r\n",
        b"*1\r\n$-1\r\n",
        b"*-2\r\n",
        b"*1\r\n$536870913\r\n",
        b"*1\r\n$1\r\nabc",
        b"*1\r\n*1\r\n$1\r\na\r\n",
    ] {
        for pieces in [vec![bytes], bytes.chunks(1).collect()] {
            assert_eq!(served(&pieces), ("-ERR Protocol error ".to_owned(), true), "{}", bytes.escape_ascii());
        }
    }
    assert_eq!(served(&[b"*0\r\n\r\n*-1\r\nPING\r\n"]), ("+PONG ".to_owned(), false));
    let line = vec![b'x'; 70_000];
    assert!(served(&[&line]).1);
}

#[test]
fn the_data_of_a_server_is_bounded() {
    let (mut server, mut replies) = (Server::default(), Replies::default());
    let value = "x".repeat(1 << 20);
    for number in 0..70 {
        server.handle(
            1,
            format!("*3\r\n$3\r\nSET\r\n$2\r\n{number:02}\r\n$1048576\r\n{value}\r\n").as_bytes(),
            &mut replies,
        );
    }
    let sent = replied(&replies).escape_ascii().to_string();
    assert_eq!((sent.matches("+OK").count(), sent.matches("-OOM").count()), (63, 7));
    server.handle(1, b"DEL 00\r\nSET k v\r\nFLUSHALL\r\nDBSIZE\r\n", &mut replies);
    assert!(replied(&replies).ends_with(b":1\r\n+OK\r\n+OK\r\n:0\r\n"));
}

#[test]
fn commands_that_never_end_are_bounded_together() {
    let (mut server, mut replies) = (Server::default(), Replies::default());
    let piece = vec![b'x'; 8 << 20];
    for connection in 0..8 {
        server.handle(connection, b"*1\r\n$536870912\r\n", &mut replies);
        server.handle(connection, &piece, &mut replies);
    }
    assert_eq!(replies.closed, [7]);
    server.close(0);
    replies.closed.clear();
    server.handle(9, b"*1\r\n$536870912\r\n", &mut replies);
    server.handle(9, &piece, &mut replies);
    assert!(replies.closed.is_empty());
}

#[test]
fn replies_to_one_piece_are_bounded() {
    let (mut server, mut replies) = (Server::default(), Replies::default());
    let value = "x".repeat(1 << 20);
    server.handle(1, format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1048576\r\n{value}\r\n").as_bytes(), &mut replies);
    server.handle(1, "GET k\r\n".repeat(1_000).as_bytes(), &mut replies);
    assert_eq!(replies.closed, [1]);
    assert!(replied(&replies).len() < 20 << 20);
}

/// A client and a server with pieces of any length between them.
#[test]
fn the_client_and_the_server_understand_each_other() {
    for seed in 0..200 {
        let mut random = Random::for_stream(seed, 1);
        let resp = 2 + random.below(2);
        let commands: &[&[&str]] =
            &[&["INCR", "n"], &["HSET", "h", "f", "v"], &["HGETALL", "h"], &["GET", "h"], &["GET", "no"]];
        let step = prepared(&endpoint("me", Some("secret"), "/3"), commands, resp);
        let mut driven = Driven::new(&step, 3);
        let (mut server, mut replies) = (Server::default(), Replies::default());
        let mut to_server = std::mem::take(&mut driven.sent);
        let mut to_client = Vec::new();
        while !to_server.is_empty() || !to_client.is_empty() {
            let cut = |bytes: &mut Vec<u8>, random: &mut Random| {
                let count = bytes.len().min(1 + random.below(40) as usize);
                bytes.drain(..count).collect::<Vec<_>>()
            };
            let piece = cut(&mut to_server, &mut random);
            server.handle(1, &piece, &mut replies);
            to_client.extend(std::mem::take(&mut replies).sent.into_iter().flat_map(|(_, bytes)| bytes));
            driven.handle(&cut(&mut to_client, &mut random));
            to_server.append(&mut driven.sent);
        }
        let statuses: Vec<String> = driven.events.iter().filter(|event| !event.starts_with(':')).cloned().collect();
        assert_eq!(statuses, ["Ready", "WRONGTYPE false", "WRONGTYPE false", "WRONGTYPE false"], "seed {seed}");
        let null = if resp == 3 { "_\\r\\n" } else { "$-1\\r\\n" };
        let last = driven.events.iter().rfind(|event| event.starts_with(':')).expect("a body");
        assert!(last.starts_with(":3\\r\\n:0\\r\\n") && last.ends_with(null), "{last}");
    }
}
