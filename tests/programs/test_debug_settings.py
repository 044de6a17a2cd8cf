"""`/debug`: settings that hold until the next start (IN-61), in the chat of who owns the gateway."""

import pytest

from rejoinder.config.load import load
from rejoinder.programs import debug_settings
from rejoinder.programs.reloading import SettingsSource, Watch
from rejoinder.testing import FakeMessenger, ScriptedAgent, conversation
from tests.programs.owned import owned

FILE = """
[agents.scripted]
kind = "scripted"
script = "answers.json"

[channels.telegram]
token = "x"
owners = ["1001"]
dm = "open"

[commands]
debug = true

[messages]
response_prefix = "A:"
"""


def running(file):
    overlay = {}
    source = SettingsSource(Watch(str(file)), lambda: load(str(file), {}, overlay=overlay), overlay)
    return owned(source, debug_settings.attach)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rejoinder.toml"
    path.write_text(FILE)
    return path


async def says(chat, text, answer=None):
    """The answer; that of a command without its prefix, which the tests change."""
    await chat.says(text, sender="1001")
    heard = (await chat.hears()).text.strip()
    said = heard[len("A: ") :] if text.startswith("/") else heard
    assert answer in (None, said)
    return said


async def test_a_setting_holds_until_it_is_taken_back(file):
    async with running(file) as (chat, _):
        await says(chat, "/debug show", debug_settings.NOTHING)
        await says(chat, "hello", "A: 0.")
        await says(
            chat,
            "/debug set messages.response_prefix B:",
            'Until the next start:\n\nmessages.response_prefix = "B:"',
        )
        await says(chat, "hello", "B: 1.")
        await says(chat, "/debug set messages.queue.cap = 3")
        await says(
            chat,
            "/debug",
            'Until the next start:\n\nmessages.response_prefix = "B:"\nmessages.queue.cap = 3',
        )
        await says(
            chat, "/debug unset messages.response_prefix", "messages.response_prefix has the value from the file again."
        )
        await says(chat, "hello", "A: 2.")
        await says(chat, "/debug reset", debug_settings.NOTHING)
        await says(chat, "/debug", debug_settings.NOTHING)
    assert file.read_text() == FILE
    async with running(file) as (chat, _):
        await says(chat, "hello", "A: 0.")


async def test_it_stays_over_a_file_that_changes(file):
    async with running(file) as (chat, reloading):
        await says(chat, "/debug set messages.response_prefix B:")
        file.write_text(FILE.replace('"A:"', '"C:"'))
        await reloading.look()
        await reloading.look()
        await says(chat, "hello", "B: 0.")
        await says(chat, "/debug reset")
        await says(chat, "hello", "C: 1.")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("set messages.queue.mode quickly", "messages.queue.mode: "),
        ("set messages.queue.mod steer", "messages.queue.mod: "),
        (
            "set session.scope shared",
            "session.scope takes effect only at a start; write it into the file, then /restart",
        ),
        ("set channels.telegram.token y", "channels.telegram.token takes effect only at a start"),
        ("set commands.bash true", "commands.bash can only be changed in the file"),
        ("set nothing x", "nothing is not a key; a key looks like messages.queue.mode"),
        ("unset messages.queue.cap", "/debug has not set messages.queue.cap"),
    ],
)
async def test_what_cannot_hold_is_refused_and_not_kept(file, asked, told):
    async with running(file) as (chat, _):
        assert (await says(chat, f"/debug {asked}")).startswith(f"Nothing has changed: {told}")
        await says(chat, "/debug", debug_settings.NOTHING)
        await says(chat, "hello", "A: 0.")


async def test_who_was_given_settings_by_a_program_has_no_file_to_lay_others_over(file):
    settings = load(str(file), {})
    async with conversation(ScriptedAgent(), FakeMessenger("telegram"), settings, owners=("1001",)) as chat:
        assert (await says(chat, "/debug set messages.queue.cap 3")).startswith("This gateway got its settings")
