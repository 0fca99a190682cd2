"""An application for gunicorn: each request keeps its worker for 20 ms."""
import time


def app(environ, start_response):
    time.sleep(0.02)
    start_response("200 OK", [("Content-Length", "2"), ("Content-Type", "text/plain")])
    return [b"ok"]
