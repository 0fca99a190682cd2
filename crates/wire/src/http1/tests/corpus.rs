//! Responses, good and hostile. Each is checked at every split by [`super::check`].

use super::{RequestKind, check};

struct Case {
    name: &'static str,
    bytes: &'static [u8],
    expect: &'static str,
}

const fn case(name: &'static str, bytes: &'static [u8], expect: &'static str) -> Case {
    Case { name, bytes, expect }
}

const GOOD: &[Case] = &[
    case("length", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200 Known(5) keep | (hello) | end"),
    case("length zero", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "200 Known(0) keep | end"),
    case("length with zeros in front", b"HTTP/1.1 200 OK\r\nContent-Length: 0005\r\n\r\nhello", "200 Known(5) keep | (hello) | end"),
    case("equal lengths in one field", b"HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\n\r\nabc", "200 Known(3) keep | (abc) | end"),
    case("equal lengths in two fields", b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "200 Known(3) keep | (abc) | end"),
    case("names in any case", b"HTTP/1.1 200 OK\r\ncOnTeNt-LeNgTh:3\r\nCONNECTION: Close\r\n\r\nabc", "200 Known(3) close | (abc) | end"),
    case("blanks around a value", b"HTTP/1.1 200 OK\r\nContent-Length: \t 3 \t\r\n\r\nabc", "200 Known(3) keep | (abc) | end"),
    case("no reason phrase", b"HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", "200 Known(1) keep | (x) | end"),
    case("empty reason phrase", b"HTTP/1.1 200 \r\nContent-Length: 1\r\n\r\nx", "200 Known(1) keep | (x) | end"),
    case("reason phrase in UTF-8", "HTTP/1.1 200 好的\r\nContent-Length: 1\r\n\r\nx".as_bytes(), "200 Known(1) keep | (x) | end"),
    case("value in UTF-8", "HTTP/1.1 200 OK\r\nX-Name: 压测\r\nContent-Length: 1\r\n\r\nx".as_bytes(), "200 Known(1) keep | (x) | end"),
    case("empty value", b"HTTP/1.1 200 OK\r\nX-Empty:\r\nContent-Length: 1\r\n\r\nx", "200 Known(1) keep | (x) | end"),
    case("bare LF in the head", b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", "200 Known(2) keep | (hi) | end"),
    case("empty lines before", b"\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "200 Known(2) keep | (hi) | end"),
    case("close", b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", "200 Known(2) close | (hi) | end"),
    case("close in a list", b"HTTP/1.1 200 OK\r\nConnection: foo, close\r\nContent-Length: 2\r\n\r\nhi", "200 Known(2) close | (hi) | end"),
    case("close beats keep-alive", b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", "200 Known(2) close | (hi) | end"),
    case("1.0 closes", b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "200 Known(2) close | (hi) | end"),
    case("1.0 keeps when asked", b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nhi", "200 Known(2) keep | (hi) | end"),
    case("until close", b"HTTP/1.1 200 OK\r\n\r\nall of this", "200 UntilClose close | (all of this) | eof Complete"),
    case("until close, empty", b"HTTP/1.1 200 OK\r\n\r\n", "200 UntilClose close | eof Complete"),
    case("1.0 until close", b"HTTP/1.0 200 OK\r\n\r\nold", "200 UntilClose close | (old) | eof Complete"),
    case("unknown coding until close", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nzz", "200 UntilClose close | (zz) | eof Complete"),
    case("chunked then gzip until close", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: br, gzip\r\n\r\nzz", "200 UntilClose close | (zz) | eof Complete"),
    case("chunked", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "200 Chunked keep | (hello) | end"),
    case("chunked, many", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n3\r\ndef\r\n0\r\n\r\n", "200 Chunked keep | (abcdef) | end"),
    case("chunked, empty", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "200 Chunked keep | end"),
    case("chunked, hex in both cases", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", "200 Chunked keep | (01234567890123456789) | end"),
    case("chunked, zeros in front", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0002\r\nhi\r\n000\r\n\r\n", "200 Chunked keep | (hi) | end"),
    case("chunk extensions", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b;c=\"d;e\"\r\nhi\r\n0;last\r\n\r\n", "200 Chunked keep | (hi) | end"),
    case("blanks after a chunk size", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2 \t\r\nhi\r\n0 ;x\r\n\r\n", "200 Chunked keep | (hi) | end"),
    case("trailers", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 7\r\nX-Empty:\r\n\r\n", "200 Chunked keep | (hi) | end"),
    case("chunk data that looks like framing", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n", "200 Chunked keep | (\r\n0\r\n\r\n) | end"),
    case("coding in any case", b"HTTP/1.1 200 OK\r\ntransfer-encoding: CHUNKED\r\n\r\n1\r\nx\r\n0\r\n\r\n", "200 Chunked keep | (x) | end"),
    case("gzip then chunked", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "200 Chunked keep | (x) | end"),
    case("chunked in a second field", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "200 Chunked keep | (x) | end"),
    case("chunked and close", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n", "200 Chunked close | end"),
    case("204", b"HTTP/1.1 204 No Content\r\n\r\n", "204 None keep | end"),
    case("204 with a length", b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "204 None keep | end"),
    case("304 with a length", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n", "304 None keep | end"),
    case("100 then 200", b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "100 | 200 Known(2) keep | (hi) | end"),
    case("103 twice, then 200", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "103 | 103 | 200 Known(0) keep | end"),
    case("100 with a length", b"HTTP/1.1 100 Continue\r\nContent-Length: 7\r\n\r\nHTTP/1.1 204 \r\n\r\n", "100 | 204 None keep | end"),
    case("429", b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n", "429 Known(0) keep | end"),
    case("500", b"HTTP/1.1 500 Oops\r\nContent-Length: 1\r\n\r\n!", "500 Known(1) keep | (!) | end"),
    case("a status of its own", b"HTTP/1.1 799 Own\r\nContent-Length: 0\r\n\r\n", "799 Known(0) keep | end"),
    case("a folded line", b"HTTP/1.1 200 OK\r\nX: 1\r\n 2\r\nContent-Length: 2\r\n\r\nhi", "200 Known(2) keep | (hi) | end"),
    case("a folded line with a tab", b"HTTP/1.1 200 OK\r\nX: 1\r\n\t2\r\nContent-Length: 2\r\n\r\nhi", "200 Known(2) keep | (hi) | end"),
    case("two folded lines", b"HTTP/1.1 200 OK\r\nX: 1\r\n 2\r\n   3\r\nContent-Length: 2\r\n\r\nhi", "200 Known(2) keep | (hi) | end"),
    case("a folded line that looks like a length", b"HTTP/1.1 200 OK\r\nX: 1\r\n Content-Length: 9\r\nContent-Length: 2\r\n\r\nhi", "200 Known(2) keep | (hi) | end"),
    case("a folded line of blanks", b"HTTP/1.1 200 OK\r\nX: 1\r\n  \r\nContent-Length: 2\r\n\r\nhi", "200 Known(2) keep | (hi) | end"),
    case("a folded length", b"HTTP/1.1 200 OK\r\nContent-Length:\r\n 2\r\n\r\nhi", "200 Known(2) keep | (hi) | end"),
    case("a folded coding", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip,\r\n chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "200 Chunked keep | (x) | end"),
    case("a folded connection", b"HTTP/1.1 200 OK\r\nConnection: foo,\r\n\tclose\r\nContent-Length: 2\r\n\r\nhi", "200 Known(2) close | (hi) | end"),
    case("a folded last line", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: 1\r\n 2\r\n\r\nhi", "200 Known(2) keep | (hi) | end"),
    case("a folded line with bare LF", b"HTTP/1.1 200 OK\nX: 1\n 2\nContent-Length: 2\n\nhi", "200 Known(2) keep | (hi) | end"),
    case("a folded trailer", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX: 7\r\n 8\r\nY: 1\r\n\t\r\n\r\n", "200 Chunked keep | (hi) | end"),
    case("HTTP/1.2", b"HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nhi", "200 Known(2) keep | (hi) | end"),
    case("HTTP/1.9, closing", b"HTTP/1.9 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", "200 Known(2) close | (hi) | end"),
    case("HTTP/1.2, chunked", b"HTTP/1.2 200\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "200 Chunked keep | (x) | end"),
    case("HTTP/1.2 behind empty lines and an interim answer", b"\r\nHTTP/1.2 100 \r\n\r\n\nHTTP/1.2 204 \r\n\r\n", "100 | 204 None keep | end"),
    case("chunked, then deflate", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, deflate\r\n\r\n1\r\nx\r\n0\r\n\r\n", "200 UntilClose close | (1\r\nx\r\n0\r\n\r\n) | eof Complete"),
    case("chunked, then gzip in a second field", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\nzz", "200 UntilClose close | (zz) | eof Complete"),
    case("an unknown coding, then chunked", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: foo, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "200 Chunked keep | (x) | end"),
    case("two codings, then chunked", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: deflate, gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "200 Chunked keep | (x) | end"),
    case("empty extension", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;\r\nhello\r\n0;\r\n\r\n", "200 Chunked keep | (hello) | end"),
    case("blanks before an empty extension", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5 \t;\r\nhello\r\n0 \r\n\r\n", "200 Chunked keep | (hello) | end"),
    case("blanks in an extension", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5 ; a = b ; c\r\nhello\r\n0\r\n\r\n", "200 Chunked keep | (hello) | end"),
    case("bytes after the end are not ours", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\n\r\n", "200 Known(2) keep | (hi) | end"),
    case("binary body", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\0\r\n\0", "200 Known(4) keep | (\0\r\n\0) | end"),
];

const HOSTILE: &[Case] = &[
    case("nothing at all", b"", "eof BeforeAnswer"),
    case("cut in the status line", b"HTTP/1.1 20", "eof Early"),
    case("cut in the head", b"HTTP/1.1 200 OK\r\nContent-Le", "eof Early"),
    case(
        "cut in the body",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello",
        "200 Known(10) keep | (hello) | eof Early",
    ),
    case(
        "cut in a chunk",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhel",
        "200 Chunked keep | (hel) | eof Early",
    ),
    case(
        "cut before the last chunk",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n",
        "200 Chunked keep | (hi) | eof Early",
    ),
    case("cut after an interim answer", b"HTTP/1.1 100 Continue\r\n\r\n", "100 | eof Early"),
    case("an SSH server", b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n", "! StartLine"),
    case("a TLS alert", b"\x15\x03\x01\x00\x02\x02\x46", "! Tls"),
    case("HTTP/2 settings", b"\x00\x00\x12\x04\x00\x00\x00\x00\x00", "! StartLine"),
    case("HTTP/0.9", b"<html>hello</html>", "! StartLine"),
    case("HTTP/2.0 in text", b"HTTP/2.0 200 OK\r\n\r\n", "! StartLine"),
    case("two digits of minor version", b"HTTP/1.20 200 OK\r\n\r\n", "! StartLine"),
    case("a minor version that is none", b"HTTP/1.x 200 OK\r\n\r\n", "! StartLine"),
    case("HTTP/1.2 without a status", b"HTTP/1.2\r\n\r\n", "! StartLine"),
    case("HTTP/3.2", b"HTTP/3.2 200 OK\r\n\r\n", "! StartLine"),
    case("no status", b"HTTP/1.1 OK\r\n\r\n", "! StartLine"),
    case("two digits of status", b"HTTP/1.1 20 OK\r\n\r\n", "! StartLine"),
    case("four digits of status", b"HTTP/1.1 2000 OK\r\n\r\n", "! StartLine"),
    case("status below 100", b"HTTP/1.1 099 Low\r\n\r\n", "! StartLine"),
    case("negative status", b"HTTP/1.1 -20 OK\r\n\r\n", "! StartLine"),
    case("NUL in the reason", b"HTTP/1.1 200 O\0K\r\n\r\n", "! StartLine"),
    case("NUL in a name", b"HTTP/1.1 200 OK\r\nX\0Y: 1\r\n\r\n", "! Header"),
    case("NUL in a value", b"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", "! Header"),
    case("a bare NUL", b"\0", "! StartLine"),
    case("bare CR in a value", b"HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n", "! Header"),
    case("a field without a colon", b"HTTP/1.1 200 OK\r\nNonsense\r\n\r\n", "! Header"),
    case("blank before the colon", b"HTTP/1.1 200 OK\r\nX : 1\r\n\r\n", "! Header"),
    case("an empty name", b"HTTP/1.1 200 OK\r\n: 1\r\n\r\n", "! Header"),
    case("a folded line before all fields", b"HTTP/1.1 200 OK\r\n X: 1\r\n\r\n", "! Header"),
    case("NUL in a folded line", b"HTTP/1.1 200 OK\r\nX: 1\r\n \0\r\n\r\n", "! Header"),
    case("a folded name", b"HTTP/1.1 200 OK\r\nContent-\r\n Length: 5\r\n\r\n", "! Header"),
    case("a folded length that differs", b"HTTP/1.1 200 OK\r\nContent-Length: 5,\r\n 6\r\n\r\n", "! ContentLength"),
    case("a number in two lines", b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 2\r\n\r\n", "! ContentLength"),
    case(
        "a folded coding beside a length",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding:\r\n chunked\r\n\r\n",
        "! AmbiguousLength",
    ),
    case(
        "a folded line before all trailers",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n X: 1\r\n\r\n",
        "200 Chunked keep | ! Trailer",
    ),
    case(
        "length and chunked at once",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "! AmbiguousLength",
    ),
    case(
        "chunked and length at once",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello",
        "! AmbiguousLength",
    ),
    case(
        "lengths that differ",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        "! ContentLength",
    ),
    case(
        "lengths that differ in one field",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello!",
        "! ContentLength",
    ),
    case("an empty length", b"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "! ContentLength"),
    case("a negative length", b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "! ContentLength"),
    case("a length with a plus", b"HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx", "! ContentLength"),
    case("a length in hex", b"HTTP/1.1 200 OK\r\nContent-Length: 0x1\r\n\r\nx", "! ContentLength"),
    case(
        "a length beyond 64 bits",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "! ContentLength",
    ),
    case(
        "a length of all the bits",
        b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n",
        "! ContentLength",
    ),
    case("chunked twice", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", "! TransferEncoding"),
    case(
        "chunked twice with another between",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip, chunked\r\n\r\n",
        "! TransferEncoding",
    ),
    case(
        "chunked twice in two fields",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        "! TransferEncoding",
    ),
    case(
        "chunked before gzip, and a length",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\nContent-Length: 2\r\n\r\nzz",
        "! AmbiguousLength",
    ),
    case("an empty coding", b"HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\r\n", "! TransferEncoding"),
    case("chunked in 1.0", b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "! TransferEncoding"),
    case(
        "an empty chunk size",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
        "200 Chunked keep | ! ChunkSize",
    ),
    case(
        "a chunk size that is none",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "200 Chunked keep | ! ChunkSize",
    ),
    case(
        "a negative chunk size",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
        "200 Chunked keep | ! ChunkSize",
    ),
    case(
        "a chunk size with 0x",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nhi\r\n",
        "200 Chunked keep | ! ChunkSize",
    ),
    case(
        "a chunk size beyond 64 bits",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11111111111111111\r\n",
        "200 Chunked keep | ! ChunkSize",
    ),
    case(
        "a chunk size of all the bits",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
        "200 Chunked keep | ! ChunkSize",
    ),
    case(
        "a chunk size that ends with LF",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nhi\r\n0\r\n\r\n",
        "200 Chunked keep | ! ChunkSize",
    ),
    case(
        "NUL in an extension",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;\0\r\nhi\r\n",
        "200 Chunked keep | ! ChunkSize",
    ),
    case(
        "a word after a blank in a chunk line",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2 x\r\nhi\r\n",
        "200 Chunked keep | ! ChunkSize",
    ),
    case(
        "a chunk longer than its size",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n",
        "200 Chunked keep | (he) | ! ChunkEnd",
    ),
    case(
        "chunk data that ends with LF",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\n0\r\n\r\n",
        "200 Chunked keep | (hi) | ! ChunkEnd",
    ),
    case(
        "a trailer without a colon",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nNonsense\r\n\r\n",
        "200 Chunked keep | ! Trailer",
    ),
    case(
        "NUL in a trailer",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: \0\r\n\r\n",
        "200 Chunked keep | ! Trailer",
    ),
    case(
        "a trailer that ends with LF",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: 1\n\r\n",
        "200 Chunked keep | ! Trailer",
    ),
    case(
        "101 without a request for it",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: foo\r\nConnection: Upgrade\r\n\r\n",
        "! UnexpectedUpgrade",
    ),
];

#[test]
fn good_responses() {
    for case in GOOD {
        check(case.name, RequestKind::Other, case.bytes, case.expect);
    }
}

#[test]
fn hostile_responses() {
    for case in HOSTILE {
        check(case.name, RequestKind::Other, case.bytes, case.expect);
    }
}

#[test]
fn responses_to_head_and_connect() {
    let long = b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n";
    check("HEAD with a length", RequestKind::Head, long, "200 None keep | end");
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    check("HEAD with chunked", RequestKind::Head, chunked, "200 None keep | end");
    check("HEAD without any", RequestKind::Head, b"HTTP/1.1 404 No\r\n\r\n", "404 None keep | end");
    check(
        "a tunnel",
        RequestKind::Connect,
        b"HTTP/1.1 200 OK\r\n\r\nraw",
        "200 UntilClose close | (raw) | eof Complete",
    );
    check(
        "a refused tunnel",
        RequestKind::Connect,
        b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n",
        "403 Known(0) keep | end",
    );
}

#[test]
fn bounds_hold_on_both_sides() {
    let with_fields = |count: usize| {
        let fields: String = (0..count).map(|number| format!("X-{number}: 1\r\n")).collect();
        format!("HTTP/1.1 204 \r\n{fields}\r\n").into_bytes()
    };
    check("as many fields as allowed", RequestKind::Other, &with_fields(128), "204 None keep | end");
    check("one field too many", RequestKind::Other, &with_fields(129), "! TooManyHeaders");

    let with_head_of = |bytes: usize| {
        let empty = b"HTTP/1.1 204 \r\nX: \r\n\r\n".len();
        format!("HTTP/1.1 204 \r\nX: {}\r\n\r\n", "a".repeat(bytes - empty)).into_bytes()
    };
    check("a head as large as allowed", RequestKind::Other, &with_head_of(65_535), "204 None keep | end");
    check("a head too large", RequestKind::Other, &with_head_of(65_537), "! HeadTooLarge");

    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let long_line = format!("{chunked}0;{}\r\n\r\n", "a".repeat(5_000)).into_bytes();
    check("a chunk line too long", RequestKind::Other, &long_line, "200 Chunked keep | ! ChunkLineTooLong");
    let endless_trailer = format!("{chunked}0\r\n{}\r\n", "X: 1\r\n".repeat(12_000)).into_bytes();
    check("trailers without end", RequestKind::Other, &endless_trailer, "200 Chunked keep | ! HeadTooLarge");

    let interim = |count: usize| format!("{}HTTP/1.1 204 \r\n\r\n", "HTTP/1.1 100 \r\n\r\n".repeat(count)).into_bytes();
    let patient = format!("{}204 None keep | end", "100 | ".repeat(32));
    check("as many interim answers as allowed", RequestKind::Other, &interim(32), &patient);
    let flooded = format!("{}! TooManyInterim", "100 | ".repeat(32));
    check("one interim answer too many", RequestKind::Other, &interim(33), &flooded);

    let body = "0123456789".repeat(500);
    let long = format!("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{body}").into_bytes();
    check("a long body", RequestKind::Other, &long, "200 Known(5000) keep | (5000 bytes) | end");
}

#[test]
fn the_corpus_is_large_enough() {
    assert!(GOOD.len() + HOSTILE.len() >= 60);
}
