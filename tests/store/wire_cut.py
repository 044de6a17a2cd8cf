"""A connection between gateway and database that can be cut at will. It runs in threads: opening a store blocks the
loop."""

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress

from tests.postgres import Server, database_of


class Cut:
    def __init__(self, port: int) -> None:
        self._target = port
        self._open: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.swallows_next_answer = False
        """What the server says next is lost, and with it that connection."""
        self._flows = threading.Event()
        self._flows.set()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                here, _ = self._listening.accept()
            except OSError:  # closed
                return
            self._flows.wait()
            try:
                there = socket.create_connection(("127.0.0.1", self._target))
            except OSError:  # the server is stopped: whoever calls it is told so, as without this wire
                here.close()
                continue
            self._open += [here, there]
            for source, target, answers in ((here, there, False), (there, here, True)):
                threading.Thread(target=self._carry, args=(source, target, answers), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket, answers: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if answers and self.swallows_next_answer:
                    self.swallows_next_answer = False
                    break
                self._flows.wait()
                target.sendall(data)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def hold(self) -> None:
        """Nothing goes through any more and nobody is told, as in a network that is parted."""
        self._flows.clear()

    def let_through(self) -> None:
        """What was held arrives now, late."""
        self._flows.set()

    def cut(self) -> None:
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.let_through()
        self.cut()
        for each in self._open:
            each.close()


@contextmanager
def cuttable(server: Server, url: str) -> Generator[tuple[Cut, str]]:
    """The wire, and the address of this database by way of it."""
    wire = Cut(server.port)
    try:
        yield wire, f"postgresql://owner@127.0.0.1:{wire.port}/{database_of(url)}"
    finally:
        wire.close()
