"""`rejoinder init`: questions in, a configuration out that can be run, and never a secret in it."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from rejoinder.agents.discover import keys, offers
from rejoinder.cli import init
from rejoinder.cli.commands import app
from rejoinder.config.kinds import agent_kinds
from rejoinder.config.load import load
from rejoinder.testing import FakePlatform
from rejoinder.testing.platform.discord.world import token_of
from rejoinder.testing.platform.slack.world import APP_TOKEN, BOT_TOKEN

EVERY = init._setups()
TOKEN = "700000001:a-token-for-tests-only_0123456789ab"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is installed here, and nothing is in the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    for variable in [*(key.variable for _, key in keys(agent_kinds())), "TELEGRAM_TOKEN"]:
        monkeypatch.delenv(variable, raising=False)
    asked_about(monkeypatch, "web", "telegram")
    return tmp_path


def asked_about(monkeypatch: pytest.MonkeyPatch, *channels: str) -> None:
    """No other channel is offered, so that one more of them changes no answer here."""
    monkeypatch.setattr(init, "_setups", lambda: [each for each in EVERY if each[0] in channels])


def answered(*answers: str, status: int = 0, more: tuple[str, ...] = ()) -> str:
    """Enter is the answer to the last question, whether voice is wanted."""
    result = CliRunner().invoke(app, ["init", *more], input="".join(f"{each}\n" for each in (*answers, "")))
    assert result.exit_code == status, result.output
    return result.output


@contextmanager
def beside(personality: str = "telegram") -> Iterator[FakePlatform]:
    """A platform beside the command, which has a loop of its own."""
    started, ended = threading.Event(), asyncio.Event()
    platform = FakePlatform(personality)
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with platform:
            started.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert started.wait(10)
        yield platform
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()


def test_a_number_that_is_none_of_these_is_asked_for_again(folder):
    said = answered("9", "x", "1", "y", "65536", "8766", "n")
    assert said.count("Enter a whole number from 1 to 4.") == 2
    assert "Enter a number from 0 to 65535." in said
    assert "port = 8766" in (folder / "rejoinder.toml").read_text()


def test_a_model_without_a_name_is_asked_for_again(folder):
    """The question does not just come back: it says that Enter is no answer to it."""
    said = answered("4", "http://127.0.0.1:1/v1", "y", "", "llama3.2", "y", "", "n")
    assert said.count("Its model, such as llama3.2:") == 2
    assert said.count("This cannot be left empty.") == 1
    assert 'model = "llama3.2"' in (folder / "rejoinder.toml").read_text()


def test_answers_that_end_too_early_write_nothing(folder):
    result = CliRunner().invoke(app, ["init"], input="1\ny\n")
    assert result.exit_code == 1
    assert "rejoinder: stopped before the last question, so rejoinder.toml is not written\n" in result.output
    assert "Aborted" not in result.output
    assert not (folder / "rejoinder.toml").exists()


def test_ctrl_c_says_that_nothing_is_written(folder, monkeypatch):
    """With the shell's own exit status, as everywhere."""

    def interrupted(*_, **__):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise typer.Abort from None

    monkeypatch.setattr(typer, "prompt", interrupted)
    result = CliRunner().invoke(app, ["init"])
    assert result.exit_code == 130
    assert result.output.endswith("\nrejoinder: stopped before the last question, so rejoinder.toml is not written\n")


def test_the_shortest_way(folder):
    """Enter all the way: the guide on the usual page."""
    said = answered("", "", "", "")
    assert "1  tour, the built-in guide without a model" in said
    assert said.endswith("Start it with `rejoinder run`; `rejoinder doctor` checks it.\n")
    assert (folder / "rejoinder.toml").read_text() == (
        '[agents.helper]\nkind = "tour"\n\n[channels.web]\nport = 8765\n'
    )


@pytest.mark.parametrize(("typed", "served"), [("perhaps\nY", True), ("YES", True), ("2\nno", False), ("", True)])
def test_a_question_of_yes_or_no_says_what_to_type(folder, typed, served):
    """An answer that is neither is asked for again, with what to type; nothing typed is the default."""
    told = answered("1", *typed.split("\n"), *(["8765"] if served else []), "n")
    assert ("Type y for yes or n for no." in told) is ("\n" in typed)
    assert ("[channels.web]" in (folder / "rejoinder.toml").read_text()) is served


def test_voice_is_one_question_and_off_by_default(folder):
    """CH-12, ME-1, ME-2: what is missing is said with what to install; what is chosen is complete."""
    said = answered("", "", "", "", "3", "n", "9", "3", "y")
    assert "there is no program 'whisper-cli': install it" in said
    assert "there is no program 'flite': install it (Debian: apt-get install flite)" in said
    assert said.count("Hear voice messages, and answer them by voice?") == 2
    settings = load("rejoinder.toml", {})
    assert settings.media.speech_to_text.command[0] == "whisper-cli"
    assert settings.media.text_to_speech.command[0] == "flite"
    assert settings.channels["web"].common.tts == "inbound"
    said = answered("", "", "", "", "2", more=("--force",))
    assert "OPENAI_API_KEY is not set here" in said
    assert "Set OPENAI_API_KEY in the environment before you start" in said
    assert "media" not in answered("", "", "", "", more=("--force",))
    assert "media" not in (folder / "rejoinder.toml").read_text()


def test_a_file_of_another_name_is_named_in_what_comes_next(folder):
    said = CliRunner().invoke(app, ["init", "-c", "my own.toml"], input="\n" * 5).output
    assert "`rejoinder run -c 'my own.toml'`; `rejoinder doctor -c 'my own.toml'`" in said


def test_a_token_is_verified_and_not_kept(folder):
    with beside() as platform:
        said = answered("", "n", "y", platform.url, TOKEN, "477663347")
    assert "it is @testbot" in said
    assert "Set TELEGRAM_TOKEN in the environment before you start" in said
    text = (folder / "rejoinder.toml").read_text()
    assert TOKEN not in text
    settings = load("rejoinder.toml", {"TELEGRAM_TOKEN": TOKEN})
    telegram_ = settings.channels["telegram"]
    assert (telegram_.settings.api_root, telegram_.common.owners) == (platform.url, ("477663347",))
    assert '"hold" never sends it twice' in said
    assert 'on_unknown = "hold"' in text


def test_a_discord_bot_is_verified(folder, monkeypatch):
    """CH-12: who it is, and the link that invites it with the right scopes; a name is not an id, and Enter leaves one
    out."""
    asked_about(monkeypatch, "web", "discord")
    monkeypatch.delenv("DISCORD_TOKEN", raising=False)
    token = token_of("testbot")
    with beside("discord") as platform:
        said = answered(
            "",
            "n",
            "y",
            platform.url,
            "wrong",
            "n",
            f"{platform.url}/api",
            "",
            "n",
            "",
            token,
            "ann",
            "80351110224678912",
            "",
        )
    assert '"ann" is not an id' in said
    assert "That does not work: What answers under this api_root is not Discord" in said
    assert "That does not work: Discord does not know this bot" in said
    assert "it is testbot (application " in said
    assert "scope=bot+applications.commands" in said
    text = (folder / "rejoinder.toml").read_text()
    assert token not in text
    assert load("rejoinder.toml", {"DISCORD_TOKEN": token}).channels["discord"].common.owners == ("80351110224678912",)


def test_a_slack_app_is_verified(folder, monkeypatch):
    """CH-12: both tokens, each with its own fault; a name is not an id, and Enter leaves an id out."""
    asked_about(monkeypatch, "slack")
    for variable in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    with beside("slack") as platform:
        root = f"{platform.url}/api/"
        bad = ("n", "", BOT_TOKEN, BOT_TOKEN, "n", "")
        said = answered(
            "", "y", root, "xoxb-wrong", APP_TOKEN, *bad, BOT_TOKEN, APP_TOKEN, "@ann", "", "#team", "C024BE91L"
        )
    assert "set its new token as `bot_token`" in said
    assert "it begins with xapp-" in said
    assert "it is @testbot in Example, by Socket Mode" in said
    assert 'That does not work: "@ann" is not an id' in said
    assert 'That does not work: "#team" is not an id' in said
    text = (folder / "rejoinder.toml").read_text()
    assert BOT_TOKEN not in text
    common = load("rejoinder.toml", {"SLACK_BOT_TOKEN": "x", "SLACK_APP_TOKEN": "y"}).channels["slack"].common
    assert (common.owners, common.allow_groups) == ((), ("C024BE91L",))


def test_a_wrong_token_is_asked_for_again(folder):
    with beside() as platform:
        said = answered("", "n", "y", platform.url, "800000001:wrong", "n", "", TOKEN, "0")
    assert "That does not work: Telegram does not know this bot" in said
    assert "it is @testbot" in said
    assert "owners" not in (folder / "rejoinder.toml").read_text()


def test_what_cannot_be_verified_is_said(folder):
    """An agent whose key is not there yet; one that does not answer is kept only when that is said."""
    said = answered("2", "", "", "", "", "")
    assert "ANTHROPIC_API_KEY is not set here, so nothing could be verified." in said
    assert load("rejoinder.toml", {"ANTHROPIC_API_KEY": "x"}).agents["helper"].kind == "anthropic"
    said = answered("4", "http://127.0.0.1:1/v1", "n", "1", "", "", "", more=("--force",))
    assert "Nothing answers at http://127.0.0.1:1/v1 (Connection refused)." in said
    assert load("rejoinder.toml", {}).agents["helper"].kind == "tour"
    answered("4", "http://127.0.0.1:1/v1", "y", "m", "", "", "", more=("--force",))
    assert load("rejoinder.toml", {}).agents["helper"].settings.model == "m"


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        (
            "localhost:11434",
            "That is not an address: expected an address that begins with http:// or https:// and a valid host, found",
        ),
        ("http://127.0.0.1:99999/v1", "Nothing answers at http://127.0.0.1:99999/v1 (Port out of range 0-65535)."),
        ("http://name.invalid/v1", "Nothing answers at http://name.invalid/v1 ("),
    ],
)
def test_an_address_is_looked_at_as_soon_as_it_is_typed(folder, typed, wrong):
    """Before the next question: nobody answers five of them to hear that the first was wrong."""
    said = answered("4", typed, status=1)
    before, _, after = said.partition(wrong)
    assert after, said
    assert "Its model" not in before


def test_who_is_at_an_address_is_asked_about_it(folder):
    """The endpoint is looked at in full once the model is known, too."""
    with beside() as platform:
        said = answered("4", f"{platform.url}/v1", "m", "", "", "n")
    assert "the endpoint answers, but has no list of models" in said


@pytest.mark.skipif(not Path("/sys").is_dir(), reason="no folder here in which not even root may write")
def test_a_folder_that_takes_nothing_is_said_before_any_question(folder):
    said = answered(status=2, more=("-c", "/sys/rejoinder.toml"))
    assert said.startswith("rejoinder: nothing can be written in /sys (")
    assert said.endswith("); go to another folder, or name a file elsewhere with -c\n")


def test_a_folder_in_the_place_of_the_file(folder):
    (folder / "mine").mkdir()
    said = answered("", "", "", "", status=2, more=("--force", "-c", "mine"))
    assert said.endswith("rejoinder: mine cannot be written (Is a directory); name another file with -c\n")


def test_a_file_that_is_there_stays(folder):
    (folder / "mine.toml").write_text("# mine\n")
    said = answered(status=2, more=("-c", "mine.toml"))
    assert "mine.toml exists already; change it by hand, name another one with -c, or use --force" in said
    assert (folder / "mine.toml").read_text() == "# mine\n"
    assert "there is no folder nowhere" in answered(status=2, more=("-c", "nowhere/x.toml"))


def test_who_goes_away_leaves_nothing(folder):
    answered("1", status=1)
    assert list(folder.iterdir()) == []


def test_what_is_here_is_offered_first():
    titles = [each.title for each in offers(agent_kinds(), ["codex-acp"], {"GROQ_API_KEY": "x"})]
    assert titles[0] == "Codex (codex-acp is on your PATH)"
    assert titles[1] == "openai/gpt-oss-120b of Groq (GROQ_API_KEY is set)"
    assert titles[2].startswith("tour")
    assert not [each for each in offers(agent_kinds(), ["codex-acp"], {}, {"acp"}) if each.section["kind"] == "acp"]
