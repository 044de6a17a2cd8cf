"""The port of the page, opened before anything else starts."""

import errno
import socket

from rejoinder.errors import BadUse

BACKLOG = 512


def bind(host: str, port: int) -> socket.socket:
    """Opens the port before its address is printed. A port in use is an error that says what to do."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as problem:
        listening.close()
        raise BadUse(_unbound(host, port, problem)) from None
    listening.setblocking(False)
    return listening


def _unbound(host: str, port: int, problem: OSError) -> str:
    if problem.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is taken, perhaps by another rejoinder; stop that program, or choose another port: "
            f"add `--port {port + 1}` to `rejoinder run` (or `PORT={port + 1}` to `make run`), or set `port` under "
            "[channels.web] in rejoinder.toml"
        )
    if problem.errno == errno.EACCES:
        return f"port {port} may not be used by this user; choose one above 1023 with `port` under [channels.web]"
    return f"the address {host} cannot be used ({problem.strerror}); fix `host` under [channels.web]"
