"""The operator's commands on a store, with and without a gateway that has it open."""

import asyncio
import contextlib
import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import Empty, Queue

import pytest
from click.testing import Result
from typer.testing import CliRunner

from rejoinder.channels.web.logins import hashed
from rejoinder.cli.commands import app
from rejoinder.events import Attachment, Chat, Inbound, Sender
from rejoinder.session import Session
from rejoinder.store.base import Accept, EndRun, MarkSent, PlanParts, QuarantineEvent, TranscriptEntry
from rejoinder.store.sql.reader import SqlReader
from rejoinder.store.sql.values import seal
from rejoinder.store.sqlite.store import open_store
from rejoinder.testing.patience import PATIENCE
from tests.channels.web.browser import a_channel
from tests.cli.a_store import ANNA, NOW, SESSION, TEAM, TEAM_SESSION, asked, came, make, received, said, sending


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One store for all: each test gets a copy."""
    path = tmp_path_factory.mktemp("made") / "rejoinder.db"
    make(path)
    return path


@pytest.fixture
def folder(tmp_path: Path, made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "rejoinder.db").write_bytes(made.read_bytes())
    settings = '[agents.helper]\nkind = "tour"\n[channels.telegram]\ntoken = "1:x"\n[channels.web]\n'
    (tmp_path / "rejoinder.toml").write_text(settings)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(app, arguments, input=given)


def told(*arguments: str, given: str | None = None) -> str:
    result = run(*arguments, given=given)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(status: int, *arguments: str) -> str:
    """One sentence on stderr, nothing on stdout."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (status, ""), result.output
    assert result.stderr.startswith("rejoinder: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("rejoinder: ").rstrip()


def document(*arguments: str) -> dict:
    return json.loads(told(*arguments, "--json"))


# --- explain ------------------------------------------------------------------------------------


def test_explain_tells_the_whole_way(folder):
    """Each stage with its reason and time, the turn, each part with its receipt."""
    lines = told("explain", "17").splitlines()
    assert lines[0] == "message 17 m1 from Anna (anna) in telegram 1001"
    assert any(line.split() == ["access", "continue", "12", "µs", "let", "in", "as", "owner"] for line in lines)
    assert "  turn 1  answered after 2.0 s" in lines
    assert any(line.split()[:7] == ["1", "sent", "2.0", "s", "1", "m2", "18"] for line in lines)
    assert any("dead" in line and "403 Forbidden: bot was blocked by the user" in line for line in lines)


def test_explain_as_a_document(folder):
    """The same with stable keys and exact numbers."""
    explained = document("explain", "17")
    assert [explained[key] for key in ("message", "handle", "channel", "chat", "sender")] == [
        "17",
        "m1",
        "telegram",
        "1001",
        "anna",
    ]
    (event,) = explained["events"]
    assert [stage["stage"] for stage in event["stages"]][:4] == ["finalise", "own_message", "bot_rules", "access"]
    assert event["stages"][0] == {
        "at": event["accepted"],
        "stage": "finalise",
        "decision": "continue",
        "reason": None,
        "took": 0.000_041,
        "agent": "",
    }
    (handed,) = event["sessions"]
    turn = handed["turn"]
    assert (handed["session"], turn["outcome"], turn["attempts"], turn["seconds"]) == (SESSION, "answered", 1, 2.0)
    first, _, third = turn["parts"]
    assert (first["part"]["text"], first["part"]["receipt"], first["handle"]) == (
        "It is **4 °C** and raining.",
        "18",
        "m2",
    )
    assert (third["part"]["state"], third["sent"]) == ("dead", None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["17"], "17"),
        (["m1", "--chat", "1001"], "17"),
        (["m1", "--channel", "discord"], "700"),
        (["m2", "--chat", TEAM.chat, "--thread", str(TEAM.thread)], "701"),
        (["last"], "702"),
        (["last", "--channel", "telegram"], "17"),
    ],
)
def test_a_message_is_named_by_id_or_handle_or_last(folder, arguments, message):
    assert document("explain", *arguments)["message"] == message


def test_an_answer_is_explained_by_what_it_answers(folder):
    """Also a message of ours can be named."""
    for reference in (["18"], ["m2", "--chat", ANNA.chat]):
        explained = document("explain", *reference)
        assert (explained["message"], explained["answer_of"]) == ("17", "18")


def test_so_is_an_answer_that_its_room_told_of(folder):
    """A room of several agents tells of their messages as of anybody's: that is no message of its own."""
    echo = received(ANNA, 18, "It is 4 °C and raining.", "Helper")

    async def heard() -> None:
        store = open_store("sqlite:rejoinder.db")
        await store.write(Accept((echo,), NOW))
        await store.close()

    asyncio.run(heard())
    for reference in ("18", "last"):
        explained = document("explain", reference)
        assert (explained["message"], explained["answer_of"]) == ("17", "18")


@pytest.mark.parametrize(
    ("sender", "entry", "told_of"),
    [("", "cron", "a turn that was not started by a message, in"), ("coder", "text", "handed over by coder in")],
)
def test_what_was_no_message_is_explained_alone(folder, sender, entry, told_of):
    """The answer of a tick, or after a handoff, leads to that one, not to all that have no id; `last` is a message."""

    async def ticks() -> None:
        store = open_store("sqlite:rejoinder.db")
        for number in (1, 2):
            asking = Inbound("telegram", f"e{number}", "", Chat("1001"), Sender(sender), f"Tick {number}.", entry=entry)
            (event,) = await store.write(Accept((asking,), NOW))
            run = await asked(store, "helper:cron:tick", ANNA, event.id)
            await store.write(PlanParts((said(ANNA, f"t:{number}", f"Tock {number}."),), NOW, run, final=True))
            await store.write(MarkSent(await sending(store, ANNA), f"9{number}", NOW, "Tock.", "helper"))
            await store.write(EndRun(run, "answered", NOW))
        await store.close()

    asyncio.run(ticks())
    shown = told("explain", "91")
    assert shown.startswith(f"91 is an answer to this:\n{told_of} telegram 1001\n")
    assert "Tick 1." in shown
    assert "Tick 2." not in shown
    assert document("explain", "last")["message"] == "702"


def test_explain_gives_a_draft_no_time_that_is_not_its_own(folder):
    """A draft and what it became are one message, whose time is that of the newest edit."""

    async def answer() -> None:
        store = open_store("sqlite:rejoinder.db")
        question = await came(store, ANNA, 95, "And tomorrow?")
        run = await asked(store, SESSION, ANNA, question)
        await store.write(PlanParts((said(ANNA, "e:1", "It"), said(ANNA, "e:2", "It snows.")), NOW, run, final=True))
        for seconds in (1, 9):
            at = NOW + timedelta(seconds=seconds)
            await store.write(MarkSent(await sending(store, ANNA), "96", at, "It snows.", "helper"))
        await store.write(EndRun(run, "answered", NOW))
        await store.close()

    asyncio.run(answer())
    ((said_first, said_last),) = (each["turn"]["parts"] for each in document("explain", "95")["events"][0]["sessions"])
    assert (said_first["handle"], said_first["sent"]) == (said_last["handle"], None)
    assert said_last["sent"].startswith("2024-01-02T03:04:14")


def test_explain_says_where_the_reason_of_a_failure_is(folder):
    """The store knows its kind only."""

    async def fail() -> None:
        store = open_store("sqlite:rejoinder.db")
        question = await came(store, ANNA, 97, "And now?")
        run = await asked(store, SESSION, ANNA, question)
        await store.write(EndRun(run, "failed", NOW, "crashed"))
        await store.close()

    asyncio.run(fail())
    assert "failed after 0 µs: crashed; the gateway's log of that time has the reason\n" in told("explain", "97")


def test_explain_names_the_files_of_a_message_without_words(folder):
    """A platform that gives a photo no name says at least what it is."""

    async def receive() -> None:
        store = open_store("sqlite:rejoinder.db")
        files = (Attachment("f1", "plan.pdf"), Attachment("f2", kind="photo"))
        await store.write(
            Accept((Inbound("telegram", "e9", "900", Chat("1001"), Sender("7"), attachments=files),), NOW)
        )
        await store.close()

    asyncio.run(receive())
    assert "“plan.pdf, photo”" in told("explain", "900")


def test_explain_says_what_it_cannot_tell(folder):
    assert refused(1, "explain", "999").startswith("no message '999' is known; name it by the platform's id")
    assert refused(2, "explain", "m1").startswith("'m1' is a message of several chats; choose with --channel")
    assert refused(1, "explain", "last", "--channel", "web") == "no message has come there yet"
    assert refused(2, "explain", "last", "--account", "one") == "`last` can be looked for by --channel and --chat only"


def test_explain_finds_a_message_that_two_accounts_have_seen(folder):
    """CH-4: two bots in one group are told of the same message under the same id."""

    async def receive() -> None:
        store = open_store("sqlite:rejoinder.db")
        heard = [Inbound("telegram", "e9", "9", Chat("-5"), Sender("7"), "hi", account=name) for name in ("one", "two")]
        await store.write(Accept(tuple(heard), NOW))
        await store.close()

    asyncio.run(receive())
    assert refused(2, "explain", "9").endswith("telegram/one -5, telegram/two -5")
    assert document("explain", "9", "--account", "two")["account"] == "two"


def test_what_a_stranger_wrote_does_not_move_the_cursor(folder):
    """No control character and no change of direction reaches the operator's terminal."""
    shown = told("explain", "702")
    assert "lunch?" in shown
    assert not set(shown) & set("\x1b\x07\u202e")


# --- sessions -----------------------------------------------------------------------------------


def test_sessions(folder):
    """Agent, place, last touched, model, tokens, and what waits."""
    page = document("sessions")
    assert (page["gateway"], page["total"]) == (None, 2)
    first, second = page["sessions"]
    assert (first["key"], first["agent"], first["place"]) == (SESSION, "helper", SESSION.removeprefix("helper:"))
    assert (first["model"], first["input_tokens"], first["output_tokens"]) == ("gpt-x", 12_345, 678)
    assert (second["key"], second["waiting"], second["unsent"], second["stuck"]) == (TEAM_SESSION, 1, 1, 1)
    _, helper, coder = told("sessions").splitlines()
    assert helper.split()[:5] == ["2024-01-02", "gpt-x", "12.3k+678", "helper", "telegram:default:direct:anna"]
    assert helper.endswith("  1 dead or held")
    assert coder.endswith("release room  interrupted, 1 waiting, 1 unsent, 1 dead or held")


def test_a_limit_says_that_there_is_more(folder):
    assert told("sessions", "--limit", "1").endswith("1 of 2, the most recently used first; --limit 0 shows all.\n")
    assert len(document("sessions", "--limit", "1")["sessions"]) == 1
    assert len(document("dead", "--limit", "0")["parts"]) == 2
    assert run("sessions", "--limit", "-1").exit_code == 2


# --- dead ---------------------------------------------------------------------------------------


def test_dead_lists_what_was_given_up_and_what_was_never_confirmed(folder):
    """DE-33: with the reason, the latest first."""
    page = document("dead")
    assert [(part["id"], part["state"], part["why"]) for part in page["parts"]] == [
        (4, "held", "the connection was lost"),
        (3, "dead", "403 Forbidden: bot was blocked by the user"),
    ]
    _, held, dead = told("dead").splitlines()
    assert held.split()[:2] == ["4", "held"]
    assert dead.endswith("“By the way, the museum is closed on Mondays.”")
    assert page["quarantined"] == []


def test_dead_lists_what_is_quarantined(folder):
    """DU-14: below the parts, and where there are none; to explain what cannot be read is refused in a sentence."""

    async def quarantined():
        store = open_store("sqlite:rejoinder.db")
        (event,) = await store.write(Accept((received(ANNA, 99, "odd"),), NOW))
        await store.write(QuarantineEvent(event.id, "it cannot be read: so it is"))
        await store.close()

    asyncio.run(quarantined())
    with contextlib.closing(sqlite3.connect("rejoinder.db")) as db, db:
        db.execute("UPDATE inbox SET body = ? WHERE message = '99'", (seal(b'{"channel": 7}'),))
    assert [each["id"] for each in document("dead")["quarantined"]] == ["99"]
    *_, line = told("dead").splitlines()
    assert line.split("  ")[1:3] == ["message 99", "telegram"]
    assert line.endswith("it cannot be read: so it is")
    told("dead", "--drop", "3", "--drop", "4")
    assert told("dead").splitlines()[-1] == line
    retry = document("dead")["quarantined"][0]["retry"]
    assert refused(1, "dead", "--retry", retry).startswith(
        f"{retry} cannot be run again: this row was written by another version"
    )
    assert refused(1, "explain", "99").startswith("this row was written by another version of rejoinder")
    told("explain", "last")


def test_dead_says_why_where_no_reason_is_kept(folder):
    """DU-14: earlier versions quarantined what they had tried too often without a word, and a session has none."""
    with contextlib.closing(sqlite3.connect("rejoinder.db")) as db, db:
        db.execute("UPDATE inbox SET state = 'quarantined', reason = '' WHERE id = (SELECT min(id) FROM inbox)")
        db.execute("INSERT INTO session (key, version, touched, body) VALUES ('helper:a%aside-1', 1, 0, x'')")
    *_, message, session = told("dead").splitlines()
    assert message.endswith("it was tried too often")
    assert session.endswith("it cannot be read")
    assert [each["why"] for each in document("dead")["quarantined"]] == ["it was tried too often", "it cannot be read"]


def test_what_is_quarantined_is_run_again(folder):
    """DU-2: by its id, which is none of a part; the next gateway does it."""

    async def quarantined():
        store = open_store("sqlite:rejoinder.db")
        (event,) = await store.write(Accept((received(ANNA, 99, "odd"),), NOW))
        await store.write(QuarantineEvent(event.id, "it ended the process"))
        await store.close()
        return event.id

    event = asyncio.run(quarantined())
    said = told("dead", "--retry", f"e{event}")
    assert said == f"To be run again: e{event}. No gateway runs on this store; the next one that starts runs it.\n"


def test_retry_and_drop(folder):
    """DE-33: sent again when a gateway starts, or never."""
    later = "No gateway runs on this store; the next one that starts sends it.\n"
    twice = "4 may have arrived already: people may see it twice. "
    assert told("dead", "--retry", "4") == f"To be sent again: part 4. {twice}{later}"
    assert told("dead", "--drop", "3") == "Dropped: part 3.\n"
    assert told("dead").startswith("Nothing is dead, held or quarantined")
    assert told("dead", "--retry", "all") == "Nothing is dead, held or quarantined.\n"
    assert refused(1, "dead", "--drop", "3") == "part 3 is withdrawn, not dead or held; it was left as it is"


@pytest.mark.parametrize(
    ("status", "arguments", "sentence"),
    [
        (1, ["--retry", "99"], "there is no part 99; `rejoinder dead` lists those that are dead or held"),
        (1, ["--retry", "1"], "part 1 is sent, not dead or held; it was left as it is"),
        (
            2,
            ["--retry", "some"],
            "--retry takes an id that `rejoinder dead` lists, such as 7, t7 or e7, or all; not 'some'",
        ),
        (1, ["--retry", "t9"], "nothing quarantined has the id t9; `rejoinder dead` lists what is"),
        (2, ["--retry", "3", "--drop", "3"], "part 3 cannot be sent again and dropped at once"),
    ],
)
def test_retry_says_what_is_wrong(folder, status, arguments, sentence):
    """And changes nothing."""
    assert refused(status, "dead", *arguments) == sentence
    assert document("dead")["total"] == 2


def test_what_was_done_as_a_document(folder):
    """Every command that changes something says so with stable keys, too."""
    assert document("dead", "--retry", "all") == {
        "resent": [3, 4],
        "dropped": [],
        "perhaps_twice": [4],
        "rerun": [],
        "missed": 0,
        "gateway": None,
    }
    assert document("send", "--channel", "telegram", "--chat", "1", "hi") == {"parts": [6], "gateway": None}
    let_in = {"channel": "telegram", "account": "default", "sender": "2002", "gateway": None}
    assert document("pair", "approve", "K7QX2M9A") == let_in
    assert document("backup", "monday.db") == {
        "file": "monday.db",
        "bytes": (folder / "monday.db").stat().st_size,
    }


def test_an_id_that_no_store_could_have(folder):
    assert refused(1, "dead", "--drop", "9" * 30).startswith("there is no part 999")


# --- send, pair, backup, export -----------------------------------------------------------------


def test_send_plans_what_the_gateway_sends(folder):
    """In the platform's own format, cut to its length."""
    assert told("send", "--channel", "telegram", "--chat", "1001", "It is **done**.").startswith("Planned: part 6. ")
    long = told("send", "--channel", "telegram", "--chat", "1001", given="word " * 2000)
    assert long.startswith("Planned: 3 parts. ")
    with sqlite3.connect(folder / "rejoinder.db") as db:
        bodies = [json.loads(row[0][4:]) for row in db.execute("SELECT body FROM part WHERE id >= 6 ORDER BY id")]
    db.close()
    parts = [body["part"] for body in bodies]
    assert (parts[0]["text"], bodies[0]["plain"]["text"]) == ("It is done.", "It is **done**.")
    assert parts[0]["entities"] == [{"type": "bold", "offset": 6, "length": 4}]
    assert all(len(part["text"]) <= 4096 for part in parts)
    assert len({part["key"] for part in parts}) == 4


def test_send_reaches_the_page_that_needs_no_configuration(tmp_path, monkeypatch):
    """`rejoinder run` serves the page where no channel is configured; so what is said there can be sent there."""
    monkeypatch.chdir(tmp_path)
    make("rejoinder.db")
    assert told("send", "--channel", "web", "--chat", "helper~you", "hello").startswith("Planned: part 6. ")
    wrong = refused(2, "send", "--channel", "wbe", "--chat", "helper~you", "hello")
    assert wrong == "no channel called 'wbe' is configured; there are: web"


def test_send_says_what_is_wrong(folder):
    wrong = refused(2, "send", "--channel", "telegarm", "--chat", "1", "hi")
    assert wrong == "no channel called 'telegarm' is configured; there are: telegram, web"
    assert refused(2, "send", "--channel", "web", "--chat", "1", " ") == "there is nothing to send: the text is empty"


def test_the_page_of_a_gateway_without_configuration_can_be_written_to(folder):
    """`rejoinder run` serves it where nothing is configured: it is there for `send` as well."""
    (folder / "rejoinder.toml").unlink()
    assert told("send", "--channel", "web", "--chat", "lobby", "hi").startswith("Planned: part 6. ")


async def a_page(address: str | None = None) -> None:
    """As a gateway with a page leaves it."""
    channel = await a_channel("sqlite:rejoinder.db", ("helper",))
    await channel.journal.keep_address(address)
    await channel.close()


def test_send_refuses_a_room_that_the_page_does_not_have(folder):
    """It would be given up a second later, when nobody looks any more. Other channels know their chats themselves."""
    assert told("send", "--channel", "web", "--chat", "nope", "hi").startswith("Planned: ")  # no page was served yet
    asyncio.run(a_page())
    wrong = refused(2, "send", "--channel", "web", "--chat", "nope", "hi")
    assert wrong == "there is no room nope; the id of a room is the end of its address, after the #"
    assert refused(2, "send", "--channel", "web", "--chat", "nobody~you", "hi").startswith(
        "there is no room nobody~you"
    )
    assert told("send", "--channel", "web", "--chat", "helper~ann", "hi").startswith("Planned: ")  # she may come yet
    assert told("send", "--channel", "telegram", "--chat", "nope", "hi").startswith("Planned: ")


def test_people_are_invited_beside_the_gateway(folder):
    """IN-61: the link is shown once, only its hash is kept, and it ends when it is revoked."""
    assert refused(2, "pair", "invite", "Ann").startswith("no chat page has been served from this store yet")
    assert document("pair")["invited"] == []
    asyncio.run(a_page())
    assert refused(2, "pair", "invite", "Ann").startswith("nobody needs a login here")
    asyncio.run(a_page("http://chat.example"))
    link = told("pair", "invite", "Ann", "Lee").splitlines()[0].rpartition(" ")[2]
    assert link.startswith("http://chat.example/join/")
    store = sqlite3.connect("rejoinder.db")
    [(person, kept)] = store.execute("SELECT key, body FROM fact WHERE scope = 'web/logins'")
    store.close()
    assert person == "ann-lee"
    assert hashed(link.rpartition("/")[2]).encode() in kept
    assert document("pair", "invite", "helper")["name"] == "helper (guest)"
    assert [each["person"] for each in document("pair")["invited"]] == ["ann-lee", "person-helper"]
    assert told("pair").splitlines()[-2].split()[:3] == ["ann-lee", "Ann", "Lee"]
    assert told("pair", "revoke", "ann", "lee").startswith("Ann Lee can no longer log in. No gateway runs")
    assert refused(2, "pair", "revoke", "Ann Lee") == "nobody called Ann Lee is invited"
    assert refused(2, "pair", "invite", "x" * 41) == "a name has 1 to 40 characters"
    assert refused(2, "pair", "invite").startswith("name the person")


def test_pair(folder):
    """The codes that wait, without those that have expired; a code lets in once."""
    _, line = told("pair").splitlines()
    assert line.split()[:3] == ["K7QX2M9A", "telegram", "2002"]
    assert [request["code"] for request in document("pair")["waiting"]] == ["K7QX2M9A"]
    assert told("pair", "approve", "k7qx2m9a").startswith("2002 is let in on telegram. No gateway runs")
    gone = "no pairing request has the code K7QX2M9A; it may have expired"
    assert refused(1, "pair", "K7QX2M9A") == gone
    assert refused(1, "pair", "approve", "EXPIRED1").startswith("no pairing request has the code EXPIRED1")
    assert told("pair") == "Nobody is waiting to be let in.\n"
    assert refused(2, "pair", "approve").startswith("which code?")
    assert refused(2, "pair", "approve", "A", "B").startswith("one code at a time")


def test_operators_go_by_the_clock_of_the_store(folder, monkeypatch):
    """SC-6: what a command writes and compares is not dated by the machine on which it was typed."""

    async def much_later(_):
        return datetime(2099, 1, 1, tzinfo=UTC)

    monkeypatch.setattr(SqlReader, "now", much_later)
    assert document("pair")["waiting"] == []
    assert refused(1, "pair", "K7QX2M9A").startswith("no pairing request has the code K7QX2M9A")
    told("send", "--channel", "telegram", "--chat", "1001", "It is done.")
    with sqlite3.connect(folder / "rejoinder.db") as db:
        (planned,) = db.execute("SELECT planned FROM part WHERE id = 6").fetchone()
    db.close()
    assert datetime.fromtimestamp(planned / 1e6, UTC).year == 2099


def test_a_slip_in_a_word_of_pair_is_no_code(folder):
    slip = "there is no command 'pair aprove'; did you mean `rejoinder pair approve`?"
    assert refused(2, "pair", "aprove", "K7QX2M9A") == refused(2, "pair", "aprove") == slip
    assert refused(2, "pair", "invit", "Ann").endswith("did you mean `rejoinder pair invite`?")
    assert refused(1, "pair", "K7QX").startswith("no pairing request has the code K7QX")
    assert [request["code"] for request in document("pair")["waiting"]] == ["K7QX2M9A"]


def test_backup_is_a_store_and_replaces_nothing(folder):
    """DU-14: what is there stays, unless --force; the store itself is never overwritten."""
    assert told("backup", "copy.db").startswith("copy.db: ")
    (folder / "there.toml").write_text('[gateway]\nstore = "sqlite:copy.db"\n')
    assert document("sessions", "-c", "there.toml") == document("sessions")
    told("dead", "--drop", "3")
    sentence = "copy.db exists already; name another file for the backup, or use --force"
    assert refused(2, "backup", "copy.db") == sentence
    assert document("dead", "-c", "there.toml")["total"] == 2
    told("backup", "copy.db", "--force")
    assert document("dead", "-c", "there.toml")["total"] == 1
    for force in ((), ("--force",)):
        assert refused(2, "backup", "rejoinder.db", *force).startswith("rejoinder.db is the store itself")
    assert refused(2, "backup", "no/such/copy.db") == "there is no folder no/such for the backup; make it first"
    assert refused(2, "backup", ".") == ". is a folder; name a file for the backup"


def test_export(folder):
    """Markdown to read, JSON to work with; a piece of the key is enough."""
    page = told("export", "anna")
    assert page.startswith(f"# {SESSION}\n\n- agent: helper\n")
    assert "## helper, 2024-01-02 03:04:07 UTC\n\nIt is **4 °C** and raining.\n" in page
    assert "*(image/png, 4 bytes)*" in page
    assert "Earlier." not in page
    assert "Earlier." in told("export", "anna", "--all")
    exported = document("export", SESSION)
    assert exported["session"]["key"] == SESSION
    assert set(exported["session"]) == set(Session.__struct_fields__)
    assert [entry["role"] for entry in exported["entries"]] == ["user", "agent"]
    assert set(exported["entries"][0]) == set(TranscriptEntry.__struct_fields__)
    assert refused(1, "export", "zzz").startswith("no session has 'zzz' in its key")
    assert refused(2, "export", "default").startswith(
        "several sessions have 'default' in their key, so write more of it: "
    )


# --- beside a gateway ---------------------------------------------------------------------------


class Gateway:
    """The process of living_gateway.py."""

    def __init__(self, path: Path) -> None:
        program = [sys.executable, "-m", "tests.cli.living_gateway", str(path)]
        root = Path(__file__).parents[2]
        self.process = subprocess.Popen(program, cwd=root, stdin=-1, stdout=-1, text=True, bufsize=1)
        self._said = Queue[str]()
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()
        self.hears("ready")

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as said:
            for line in said:
                self._said.put(line.strip())

    def ends(self) -> int:
        """It ends with its stdin; its status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self._listening.join(PATIENCE)
        return self.process.wait(PATIENCE)

    def hears(self, line: str) -> None:
        """Waits for it to say this."""
        try:
            while self._said.get(timeout=PATIENCE) != line:
                pass
        except Empty:
            pytest.fail(f"the gateway never said {line!r}")


@pytest.fixture
def gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    (tmp_path / "rejoinder.toml").write_text('[channels.telegram]\ntoken = "1:x"\n[agents.helper]\nkind = "tour"\n')
    monkeypatch.chdir(tmp_path)
    gateway = Gateway(tmp_path / "rejoinder.db")
    yield gateway
    assert gateway.ends() == 0


def test_a_running_gateway_notices(gateway, tmp_path):
    """Looked at and written to by another process, it goes on, and does what it was told within moments."""
    process = f"process {gateway.process.pid}"
    page = document("sessions")
    assert page["gateway"] == process
    assert "runs " in told("sessions")
    assert document("explain", "17")["handle"] == "m1"
    told("backup", "copy.db")
    assert told("dead", "--retry", "3") == (
        f"To be sent again: part 3. The running gateway ({process}) sends it within about a second.\n"
    )
    gateway.hears("sent 3 1001")
    told("send", "--channel", "telegram", "--chat", "5005", "hello")
    gateway.hears("sent 6 5005")
    let_in = told("pair", "approve", "K7QX2M9A")
    assert let_in.endswith(f"The running gateway ({process}) lets them in within about a second.\n")
    gateway.hears("paired True")
    assert document("dead")["total"] == 1


# --- stores that cannot be looked at ------------------------------------------------------------

LOOKS = [["sessions"], ["dead"], ["explain", "last"], ["pair"], ["export", "x"], ["backup", "copy.db"]]
WRITES = [
    ["dead", "--retry", "all"],
    ["pair", "approve", "A"],
    ["send", "--channel", "telegram", "--chat", "1", "hi"],
]


@pytest.mark.parametrize("command", [*LOOKS, *WRITES], ids=" ".join)
def test_no_store(folder, command):
    """Nothing is made by looking for it."""
    (folder / "rejoinder.db").unlink()
    sentence = "The store rejoinder.db is unavailable (there is no such file). No gateway has run on it yet."
    assert refused(1, *command).startswith(sentence)
    assert [path.name for path in folder.iterdir()] == ["rejoinder.toml"]


@pytest.mark.parametrize("command", [*LOOKS, *WRITES], ids=" ".join)
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("PRAGMA user_version = 999", "It was written by a newer rejoinder."),
        ("PRAGMA application_id = 7", "It is not a rejoinder store."),
    ],
)
def test_a_store_of_another_time_or_of_somebody_else(folder, command, change, sentence):
    with sqlite3.connect(folder / "rejoinder.db") as db:
        db.execute(change)
    db.close()
    before = (folder / "rejoinder.db").read_bytes()
    assert sentence in refused(1, *command)
    assert (folder / "rejoinder.db").read_bytes() == before


@pytest.mark.parametrize("command", [*LOOKS, *WRITES], ids=" ".join)
@pytest.mark.parametrize("content", [b"this is no database" * 100, b""])
def test_a_file_that_is_no_store(folder, command, content):
    (folder / "rejoinder.db").write_bytes(content)
    assert refused(1, *command).startswith("The store rejoinder.db is unavailable (")


def test_a_damaged_row_is_said(folder):
    """A flipped bit in what somebody wrote is no different message."""
    path = folder / "rejoinder.db"
    path.write_bytes(path.read_bytes().replace(b"weather in Riga?", b"weather in Riga!"))
    assert "It is damaged." in refused(1, "explain", "17")


def test_somebody_holds_the_store(folder, monkeypatch):
    """Reading goes on; a write says who is in its way."""
    from rejoinder.store.sqlite import operator

    monkeypatch.setattr(operator.open_for_operator, "__kwdefaults__", {"patience": 0.05})
    db = sqlite3.connect(folder / "rejoinder.db", isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    assert document("dead")["total"] == 2
    assert "Another program holds it." in refused(1, "dead", "--retry", "3")
    db.close()


def test_a_store_in_memory_is_nobody_elses(folder):
    (folder / "rejoinder.toml").write_text('[gateway]\nstore = "sqlite::memory:"\n')
    assert refused(2, "sessions").startswith("sqlite::memory: is in the memory of its gateway")
