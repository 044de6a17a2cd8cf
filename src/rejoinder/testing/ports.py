"""A port for a server that is started, and perhaps started again, by a program of its own."""

import socket
from errno import EADDRINUSE
from random import SystemRandom

LENT = 32768
"""From here on the system lends ports to connections: one of those may be taken while the server is down."""


def free_port() -> int:
    while True:
        port = SystemRandom().randrange(20_000, LENT)  # another process, with the same seed, asks as well
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError as problem:
            if problem.errno != EADDRINUSE:
                raise
