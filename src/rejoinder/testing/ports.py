"""Chooses a port for a server in another process, which may be restarted on the same port."""

import socket
from errno import EADDRINUSE
from random import SystemRandom

LENT = 32768
"""The system assigns ports from here on to outgoing connections, so one could be taken while the server is down."""


def free_port() -> int:
    while True:
        port = SystemRandom().randrange(20_000, LENT)  # another process with the same seed may try the same port
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError as problem:
            if problem.errno != EADDRINUSE:
                raise
