"""`/config set` and `/config unset`: one key of the file, from the chat of who owns the gateway (IN-61)."""

import pytest

from rejoinder.config.load import load
from rejoinder.programs import config_writing
from rejoinder.programs.reloading import SettingsSource, Watch
from rejoinder.testing import ScriptedAgent, conversation
from tests.programs.owned import owned

FILE = """
[agents.scripted]
kind = "scripted"
script = "answers.json"

[channels.telegram]
token = "x"  # not shown
owners = ["1001"]
dm = "open"

[commands]
config = true

[messages]
response_prefix = "A:"  # before all
"""


def running(file):
    source = SettingsSource(Watch(str(file)), lambda: load(str(file), {}), {}, lambda path: load(path, {}))
    return owned(source, config_writing.attach)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rejoinder.toml"
    path.write_text(FILE)
    path.chmod(0o640)
    return path


async def says(chat, text, sender="1001"):
    await chat.says(text, sender=sender)
    return (await chat.hears()).text.strip()


async def test_a_key_is_written_and_holds_at_once(file):
    """IN-61: the comment stays, the file before is kept beside it, the next message has it."""
    async with running(file) as (chat, reloading):
        said = await says(chat, "/config set messages.response_prefix B:")
        assert "Written into the file. It takes effect with the next message." in said
        assert "The previous file is rejoinder.toml.bak." in said
        assert 'messages.response_prefix = "B:"' in said
        assert await says(chat, "hello") == "B: 0."
        assert file.read_text() == FILE.replace('"A:"', '"B:"')
        assert file.with_name("rejoinder.toml.bak").read_text() == FILE
        assert {each.stat().st_mode & 0o777 for each in file.parent.iterdir()} == {0o640}
        for _ in range(3):
            await reloading.look()  # what it finds is in effect already, so nothing is said
        assert "is no longer in the file" in await says(chat, "/config unset messages.response_prefix")
        assert await says(chat, "hello") == "1."
        assert file.read_text() == FILE.replace('response_prefix = "A:"  # before all\n', "")


async def test_a_key_that_waits_says_so(file):
    async with running(file) as (chat, _):
        said = await says(chat, "/config set session.scope shared")
        assert "It takes effect at the next start: /restart." in said
    assert load(str(file), {}).session.scope == "shared"


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("set messages.queue.mode sideways", "messages.queue.mode: "),
        ("set messages.nonsense 1", "messages.nonsense: "),
        ("set channels.telegram.agent nobody", "channels.telegram.agent: "),
        ("set commands.bash true", "can only be changed in the file"),
        ("set commands.owner_allow_from ['telegram:7']", "can only be changed in the file"),
        ("set agents.scripted.script other.json", "can only be changed in the file"),
        ("set channels.telegram.owners ['7']", "can only be changed in the file"),
        ("set directives.allow ['send_file']", "can only be changed in the file"),
        ("set channels.telegram.token y", "holds a secret"),
        ("set channels.telegram { owners = ['7'] }", "can only be changed in the file"),
        ("set channels.web { owners = ['7'] }", "can only be changed in the file"),
        ("set channels.web.host 0.0.0.0", "can only be changed in the file"),
        ("set directives.send_to ['telegram:7']", "can only be changed in the file"),
        ("unset channels.telegram.token", "channels.telegram.token"),
        ("unset channels.telegram", "channels.telegram"),
        ("unset messages.queue.mode", "is not set in the file"),
        ("set nothing 1", "nothing is not a key"),
    ],
)
async def test_what_is_wrong_or_not_for_a_chat_is_refused(file, typed, why):
    """IN-61: the file is validated whole first; who may do what, what is run and secrets are not for a chat."""
    async with running(file) as (chat, _):
        said = await says(chat, f"/config {typed}")
        assert said.startswith("A: Nothing has changed: ")
        assert why in said
    assert file.read_text() == FILE
    assert [each.name for each in file.parent.iterdir()] == ["rejoinder.toml"]


async def test_nothing_from_the_environment_is_let_out(file, monkeypatch):
    """IN-61: a value is taken literally."""
    monkeypatch.setenv("PASSWORD", "hush")
    async with running(file) as (chat, _):
        await says(chat, "/config set messages.response_prefix ${PASSWORD}:")
        assert await says(chat, "hello") == "${PASSWORD}: 0."


async def test_a_file_that_is_gone_or_cannot_be_written(file):
    async with running(file) as (chat, _):
        text = file.read_text()
        file.unlink()
        assert "there is no file yet" in await says(chat, "/config set messages.response_prefix B:")
        file.write_text(text)
        file.with_name("rejoinder.toml.new").mkdir()
        assert "cannot be written" in await says(chat, "/config set messages.response_prefix B:")
    assert file.read_text() == text


async def test_a_gateway_without_a_file_has_none_to_write():
    async with conversation(ScriptedAgent()) as chat:
        await chat.says("/config set messages.response_prefix B:")
        assert "commands.config = true turns it on" in (await chat.hears()).text
