"""Hooks that write down what happened, one line of JSON each."""

import json
import os
from pathlib import Path
from typing import Any

from rejoinder.events import MessageDecided, ReplySent


def _write(**line: Any) -> None:
    with Path(os.environ["BIRDHOUSE_LOG"]).open("a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")


async def _decided(told: MessageDecided) -> None:
    inbound = told.message
    _write(hook="decided", account=inbound.account, sender=inbound.sender.id, outcome=told.outcome)


async def _sent(told: ReplySent) -> None:
    _write(hook="sent", account=told.route.account, chat=told.route.chat, text=told.text)


HOOKS = {"message_decided": _decided, "reply_sent": _sent}
