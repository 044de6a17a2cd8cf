"""What was rehearsed is loaded, compiled and built; each case in a process where nothing was said before."""

import subprocess
import sys

import pytest

PROGRAM = """
import re, sys
from rejoinder.config.kinds import channel_kind
from rejoinder.rendering import RenderOptions
from rejoinder.outbound.rehearsal import MARKUP, PROSE, rehearse

manners = [RenderOptions(channel_kind({platform!r}).renderer, 4096, "utf16")]
rehearse({rehearsed}, manners)
loaded, compile, compiled = set(sys.modules), re.compile, []
re.compile = lambda *given, **named: compiled.append(given) or compile(*given, **named)
rehearse({reply!r}, manners)
print(len(compiled), *sorted(set(sys.modules) - loaded))
"""

PROSE = "It rains.\n\nTake the umbrella, and be at home by six."
MARKUP = [
    "Take `this`, or ``that ` <b>``, or\n```\nall\n```\nof it.",
    "~~~\ncode\n~~~\n> quoted\n\n1. one\n2. *two*",
    "|a|\n|-|\n|1|\n\n![picture](https://example.org/a.png) <b>",
    "[[silent]]\n<actions><react emoji='x'/></actions>Done.",
    "<actions>\n<send_message to='x'>``a ` <b>``</send_message> ``b ` <c>`` \\\\<d></actions>",
    "word " * 2000 + "`" * 30,
]


def first_time(platform: str, rehearsed: str, reply: str) -> tuple[int, set[str]]:
    """How many patterns the reply had compiled, and the modules that it had loaded."""
    program = PROGRAM.format(platform=platform, rehearsed=rehearsed, reply=reply)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    compiled, *loaded = done.stdout.split()
    return int(compiled), set(loaded)


def test_prose_has_all_it_needs():
    assert first_time("telegram", "PROSE", PROSE) == (0, set())


@pytest.mark.parametrize("reply", MARKUP)
def test_markup_has_all_it_needs(reply):
    assert first_time("telegram", "MARKUP", reply) == (0, set())


@pytest.mark.parametrize("platform", ["telegram", "matrix", "slack", "discord", "whatsapp", "signal"])
def test_on_every_platform_that_renders(platform):
    assert first_time(platform, "MARKUP", "\n\n".join(MARKUP)) == (0, set())


def test_markup_is_not_paid_for_by_prose():
    """No start and no plain reply waits for the Markdown library or for a pattern."""
    compiled, loaded = first_time("telegram", "PROSE", MARKUP[0])
    assert compiled > 0
    assert "markdown_it" in loaded
