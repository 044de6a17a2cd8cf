"""Serves a gateway until a signal ends it, or an owner asks for a restart."""

import asyncio
import logging
import signal

from rejoinder.app import GRACE, Gateway, Restart
from rejoinder.runtime.cluster_member import ProcessRole

log = logging.getLogger(__name__)

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

EndedBy = signal.Signals | Restart | None
"""What ended a gateway; None: it ended by itself."""


async def serve_until_told(gateway: Gateway, role: ProcessRole = "all") -> EndedBy:
    """Like `Gateway.serve`, but a signal in `ENDING` or a restart ends it cleanly, and a second signal at once."""
    loop, received = asyncio.get_running_loop(), list[signal.Signals]()

    def end(number: signal.Signals) -> None:
        gateway.tasks.start("drain", gateway.drain(0 if received else GRACE))
        if not received and (running := sum(engine.lanes.at_work for engine in gateway.engines)):
            answers = "An answer is" if running == 1 else f"{running} answers are"
            log.info("%s being finished, for up to %.0f s; a second signal ends the gateway at once", answers, GRACE)
        received.append(number)

    for number in ENDING:
        loop.add_signal_handler(number, end, number)
    try:
        await gateway.serve(role)
    finally:
        for number in ENDING:
            loop.remove_signal_handler(number)
    return received[0] if received else gateway.restart
