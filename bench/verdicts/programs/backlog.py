"""A server of one thread: 20 ms a request, a connection for each, and a listen queue of one. It prints its port.

The kernel drops the SYN of a client that finds the queue full; the client sends it again after 1, 3 and 7 s.
"""
import socket, time

listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(1)
print("port", listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    with connection:
        try:
            connection.settimeout(1)
            if connection.recv(65536):
                time.sleep(0.02)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        except OSError:
            pass  # The client has left.
