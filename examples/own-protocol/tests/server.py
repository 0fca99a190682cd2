"""A server of the private protocol that misbehaves as its argument says, and prints its port: good, checksum, length,
frame, login, cut, silent."""

import socketserver
import struct
import sys

HOW = sys.argv[1]


def checksum(body):
    total = 0x811C9DC5
    for byte in body:
        total = ((total ^ byte) * 0x01000193) & 0xFFFFFFFF
    return total


def frame(kind, text=b""):
    body = kind + text
    return struct.pack(">II", 8 + len(body), checksum(body)) + body


def reply(text):
    good = frame(b"R", text.upper())
    match HOW:
        case "checksum":
            return good[:4] + bytes([good[4] ^ 1]) + good[5:]
        case "length":
            return struct.pack(">I", 8) + good[4:]
        case "frame":
            return frame(b"W")
        case "cut":
            return good[: len(good) // 2]
        case "silent":
            return b""
    return frame(b"X", b"no") if text == b"refuse" else good


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        while len(head := self.rfile.read(8)) == 8:
            length, total = struct.unpack(">II", head)
            body = self.rfile.read(length - 8)
            if checksum(body) != total:
                return
            kind, text = body[:1], body[1:]
            if kind == b"L":
                is_known = HOW != "login" and text == b"secret"
                self.wfile.write(frame(b"W") if is_known else frame(b"X", b"no"))
                continue
            self.wfile.write(reply(text))
            if HOW == "cut":
                return


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


with Server(("127.0.0.1", 0), Handler) as server:
    print(server.server_address[1], flush=True)
    server.serve_forever()
