"""A program of HTTP in front of PostgreSQL. It prints its port. Argument: how to reach the database.

/lock    all requests change one row, and each holds its lock for 5 ms
/sleep   a query of 20 ms that holds nothing
"""
import sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg

CHANGE = "UPDATE counters SET n = n + 1 WHERE id = 1 RETURNING n"
QUERIES = {
    "/lock": f"WITH changed AS ({CHANGE}) SELECT n, pg_sleep(0.005) FROM changed",
    "/sleep": "SELECT 1, pg_sleep(0.02)",
}
LOCAL = threading.local()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # Head and body leave in one piece.
    disable_nagle_algorithm = True

    def do_GET(self):
        if not hasattr(LOCAL, "database"):
            LOCAL.database = psycopg.connect(sys.argv[1], autocommit=True)
        body = str(LOCAL.database.execute(QUERIES[self.path]).fetchone()[0]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def finish(self):
        super().finish()
        if hasattr(LOCAL, "database"):
            LOCAL.database.close()

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True


with psycopg.connect(sys.argv[1], autocommit=True) as first:
    first.execute("CREATE TABLE IF NOT EXISTS counters (id int PRIMARY KEY, n bigint)")
    first.execute("INSERT INTO counters VALUES (1, 0) ON CONFLICT DO NOTHING")
server = Server(("127.0.0.1", 0), Handler)
print("port", server.server_address[1], flush=True)
server.serve_forever()
