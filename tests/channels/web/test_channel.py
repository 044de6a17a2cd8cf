"""The web channel as the gateway sees it: keys, replies, edits, reactions, growing messages, the cursor."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from rejoinder.channels import base
from rejoinder.channels.base import Delivered, Rejected
from rejoinder.channels.web.avatars import OWNER, person_id
from rejoinder.channels.web.channel import WebChannel
from rejoinder.events import Choice, EarlierMessage, Part, Route
from rejoinder.testing.patience import until
from tests.channels.web.browser import a_channel, browsers

LOBBY = Route("web", "lobby")


@pytest_asyncio.fixture
async def channel() -> AsyncIterator[WebChannel]:
    opened = await a_channel()
    yield opened
    await opened.close()


async def sent(channel: WebChannel, text: str = "Hello.", **more: object) -> str:
    outcome = await channel.send(Part(LOBBY, text, author="helper", **more))  # type: ignore[arg-type]
    assert isinstance(outcome, Delivered)
    return outcome.message


@pytest.mark.parametrize(
    "ability",
    [
        "DeduplicatesByKey",
        "CanStream",
        "CanEdit",
        "CanDelete",
        "CanReact",
        "CanType",
        "CanNotifyOperator",
        "NamesAgents",
        "KnowsItself",
        "CanClose",
    ],
)
async def test_it_says_what_it_can_do(channel, ability):
    """Everything a chat of its own can do is native."""
    assert isinstance(channel, getattr(base, ability))


async def test_a_key_is_taken_once(channel):
    """DU-4: the same part twice is one message, and both times its id is the answer."""
    async with browsers(channel, "") as [page]:
        first, second = await sent(channel, key="k1"), await sent(channel, key="k1")
        assert first == second
        await sent(channel, "last")
        await page.told("message", since=0)
        assert list(page.shown("lobby").values()).count("Hello.") == 1


@pytest.mark.parametrize("name", ["", "Ann B."])
async def test_a_direct_chat_is_there_before_somebody_opens_the_page(channel, name):
    """TU-28: what a job says is found there, once, and by nobody else."""
    person = person_id(name, {}) if name else OWNER
    for key in ("k1", "k1"):
        assert isinstance(await channel.send(Part(Route("web", f"helper~{person}"), "Tea.", key=key)), Delivered)
    async with browsers(channel, name, "Bob") as [page, other]:
        found = await page.ask("history", room=f"helper~{person}")
        assert [message["text"] for message in found["messages"]] == ["Tea."]
        assert (await other.ask("history", room=f"helper~{person}"))["type"] == "refused"


@pytest.mark.parametrize("room", ["cellar", "nobody~you", "helper~", "helper~all", "helper~Ann", "~you", "helper"])
async def test_a_room_that_is_not_there_is_gone(channel, room):
    outcome = await channel.send(Part(Route("web", room), "Hello."))
    assert isinstance(outcome, Rejected)
    assert outcome.why == "gone"


async def test_a_reply_shows_the_line_it_answers(channel):
    """A native reply carries author and first words of its target."""
    async with browsers(channel, "") as [page]:
        asked = (await page.ask("say", room="lobby", text="How\nare  you?"))["id"]
        await sent(channel, "Fine.", reply_to=asked)
        frame = await page.told("message", since=len(page.frames) - 1)
        assert frame["message"]["reply_to"] == {"id": asked, "author": "you", "text": "How are you?"}
        assert frame["message"]["author"] == "helper"


async def test_a_reply_to_nothing_is_refused(channel):
    """OD-61: nothing is sent, so that it can be sent once without."""
    outcome = await channel.send(Part(LOBBY, "yes", reply_to="w999"))
    assert isinstance(outcome, Rejected)
    assert outcome.why == "target"
    async with browsers(channel, "") as [page]:
        assert (await page.ask("history", room="lobby"))["messages"] == []


async def test_a_deleted_message_of_ours_stays_for_its_thread_too(channel):
    async with browsers(channel, "") as [page]:
        said = await sent(channel)
        await page.ask("say", room="lobby", text="below it", thread=said)
        for _ in range(2):
            assert await channel.delete(LOBBY, said) == Delivered(said)
        [left] = (await page.ask("history", room="lobby"))["messages"]
        assert left["gone"]
        assert len([frame for frame in page.frames if frame["type"] == "deleted"]) == 1


async def test_edits_and_deletes_of_ours(channel):
    async with browsers(channel, "") as [page]:
        id = await sent(channel)
        assert await channel.edit(LOBBY, id, Part(LOBBY, "Bye.")) == Delivered(id)
        assert (await page.told("edited"))["text"] == "Bye."
        assert (await page.told("edited"))["edited"] is True
        assert await channel.delete(LOBBY, id) == Delivered(id)
        await page.told("deleted", message=id)
        assert await channel.delete(LOBBY, id) == Delivered(id), "what is gone is gone"
        refused = await channel.edit(LOBBY, id, Part(LOBBY, "Again."))
        assert isinstance(refused, Rejected)
        assert refused.why == "target"


async def test_reactions_of_ours_come_and_go(channel):
    async with browsers(channel, "") as [page]:
        room = "helper~you"
        asked = (await page.ask("say", room=room, text="Look!"))["id"]
        route = Route("web", room)
        assert await channel.react(route, asked, "👀") == Delivered(asked)
        assert (await page.told("reacted"))["reactions"] == [{"emoji": "👀", "who": ["helper"]}]
        await channel.react(route, asked, "👀", remove=True)
        assert (await page.told("reacted", reactions=[]))["message"] == asked
        assert isinstance(await channel.react(route, "w999", "👀"), Rejected)


async def test_a_growing_message(channel):
    """DE-20: each delta is shown at once; the final text is kept; nothing late overwrites it."""
    async with browsers(channel, "") as [page]:
        begun = await channel.begin(Part(LOBBY, "One 🦊", key="slot", author="helper"))
        assert isinstance(begun, Delivered)
        for word in (" two", " drei 🐻", " four"):
            await channel.append(LOBBY, begun.message, word)
        async with browsers(channel, "ann") as [late]:
            await channel.append(LOBBY, begun.message, " five")
            await late.told("delta")
            assert late.shown("lobby")[begun.message] == "One 🦊 two drei 🐻 four five"
        final = Part(LOBBY, "One, two, three.", author="helper", choices=(Choice("More", "go on"),))
        assert await channel.edit(LOBBY, begun.message, final) == Delivered(begun.message)
        edited = await page.told("edited")
        assert edited["text"] == "One, two, three."
        assert "edited" not in edited
        assert edited["choices"] == [{"label": "More", "says": "go on"}]
        await channel.append(LOBBY, begun.message, " late")
        await channel.complete(LOBBY, begun.message)
        history = await page.ask("history", room="lobby")
        assert [message["text"] for message in history["messages"]] == ["One, two, three."]


async def test_complete_keeps_what_grew(channel):
    async with browsers(channel, "") as [page]:
        begun = await channel.begin(Part(LOBBY, "a", author="helper"))
        assert isinstance(begun, Delivered)
        await channel.append(LOBBY, begun.message, "b")
        assert (await page.ask("history", room="lobby"))["messages"][0]["growing"] is True
        await channel.complete(LOBBY, begun.message)
        assert (await page.told("edited"))["text"] == "ab"


async def test_what_an_earlier_owner_left_growing_ends_unless_it_has_ended_meanwhile(channel):
    """SC-14: whoever claims its room ends it; what its last owner has completed since it was read stays as it is."""
    async with browsers(channel, "") as [page]:
        begun = [await channel.begin(Part(LOBBY, text, author="helper")) for text in ("half", "done")]
        left = tuple([await channel.journal.log.entry(each.message) for each in begun])
        await channel.edit(LOBBY, begun[1].message, Part(LOBBY, "done and whole", author="helper"))
        await channel.end_abandoned_messages(left)
        states = [(await channel.journal.log.entry(entry.id)).state for entry in left]
        assert states == ["interrupted", "whole"]
        assert [each["text"] for each in (await page.ask("history", room="lobby"))["messages"]] == [
            "half",
            "done and whole",
        ]


async def test_only_one_person_sees_it(channel):
    """An ephemeral message reaches its person alone, live, in history and in search."""
    async with browsers(channel, "", "ann") as [page, ann]:
        await sent(channel, "a secret", only_for="ann")
        await sent(channel, "for all")
        assert (await ann.told("message"))["message"]["only_for"] == "ann"
        assert (await page.told("message"))["message"]["text"] == "for all"
        for who, seen in ((page, 0), (ann, 1)):
            assert len((await who.ask("search", query="secret"))["messages"]) == seen
            assert len((await who.ask("history", room="lobby"))["messages"]) == seen + 1


async def test_typing_is_live_only(channel):
    async with browsers(channel, "", "ann") as [page, ann]:
        await channel.typing(Route("web", "helper~you"))
        assert (await page.told("typing"))["who"] == "helper"
        assert not [frame for frame in ann.frames if frame["type"] == "typing"]


async def test_a_note_is_kept_and_the_owners_alone(channel):
    """That an agent chose silence, or why something was not done, is still there after a reload."""
    async with browsers(channel, "", "ann") as [page, ann]:
        await channel.notify_operator(LOBBY, "helper chose to stay silent")
        assert (await page.told("message"))["message"]["note"]
        found = (await page.ask("history", room="lobby"))["messages"]
        assert [(each["text"], each["note"]) for each in found] == [("helper chose to stay silent", True)]
        assert (await ann.ask("history", room="lobby"))["messages"] == []


async def test_a_note_is_not_counted(channel):
    """OD-51: a note is nobody's message: it is neither unread nor what a room's line in the list shows."""
    async with browsers(channel, "") as [page]:
        await page.ask("say", room="lobby", text="hello")
        await channel.notify_operator(LOBBY, "send_message was denied")
    async with browsers(channel, "") as [again]:
        (lobby,) = (room for room in (await again.told("welcome"))["rooms"] if room["id"] == "lobby")
    assert (lobby.get("unread", 0), lobby["latest"]["text"]) == (0, "hello")


async def test_an_answer_is_outdated_when_its_question_is_edited(channel):
    """Only the answers to this message, only those from before the edit, and still after a reload."""
    async with browsers(channel, "") as [page]:
        asked = (await page.ask("say", room="lobby", text="Which day?"))["id"]
        other = (await page.ask("say", room="lobby", text="Which month?"))["id"]
        first = await sent(channel, "Tuesday.", answers=asked)
        await sent(channel, "May.", answers=other)
        await page.ask("edit", message=asked, text="Which day is tomorrow?")
        assert (await page.told("marked"))["message"] == first
        await sent(channel, "Wednesday.", answers=asked)
        found = (await page.ask("history", room="lobby"))["messages"]
        assert [each["text"] for each in found if each.get("outdated")] == ["Tuesday."]


async def test_reactions_of_agents_are_taken_back_when_their_message_is_edited(channel):
    """They were about the old words, like the answers. Those of people stay, and so does what is given afterwards."""
    async with browsers(channel, "", "ann") as [page, ann]:
        asked = (await page.ask("say", room="lobby", text="Rain?"))["id"]
        for emoji in ("👍", "☔"):
            await channel.react(LOBBY, asked, emoji, author="helper")
        await ann.ask("react", message=asked, emoji="👍")
        await page.ask("edit", message=asked, text="Sun?")
        await channel.react(LOBBY, asked, "☀️", author="helper")
        await page.ask("edit", message=asked, text="Sun?")
        [found] = (await page.ask("history", room="lobby"))["messages"]
        shown = [frame["reactions"] for frame in page.frames if frame["type"] == "reacted"]
    people = {"emoji": "👍", "who": ["ann"]}
    assert shown[-2:] == [[people], [people, {"emoji": "☀️", "who": ["helper"]}]]
    assert (found["text"], found["reactions"]) == ("Sun?", shown[-1])


async def test_stop_is_heard_and_marks_the_answer(channel):
    """The button says `/stop` to the agent that spoke last, without a message; what it said until then is marked."""
    async with browsers(channel, "") as [page]:
        asked = (await page.ask("say", room="lobby", text="Tell me all."))["id"]
        answer = await sent(channel, "It began", answers=asked)
        await page.ask("stop", room="lobby")
        stop = (channel.got)[-1]
        assert stop.text == "/stop"
        assert stop.reply_to is not None
        assert stop.reply_to.message_id == answer
        await channel.was_stopped(asked, "helper")
        assert (await page.told("marked"))["stopped"]
        found = (await page.ask("history", room="lobby"))["messages"]
        assert [(each["text"], each.get("stopped", False)) for each in found] == [
            ("Tell me all.", False),
            ("It began", True),
        ]


# --- what the gateway is told -----------------------------------------------------------------------


async def test_what_people_do_is_told(channel):
    """A message, an edit, a reaction and a button are events with entries of their own."""
    async with browsers(channel, "Ann Lee") as [ann]:
        said = (await ann.ask("say", room="lobby", text="Hello @coder and @nobody"))["id"]
        await ann.ask("edit", message=said, text="Hello @all")
        await ann.ask("react", message=said, emoji="🎉")
        asks = await sent(channel, "Sure?", choices=(Choice("Yes", "/approve 1"),))
        await ann.ask("press", message=asks, says="/approve 1")
        *got, button = [message for message in channel.got if not message.sender.is_bot]
    first, edit, reaction = got
    assert (first.entry, edit.entry, reaction.entry, button.entry) == ("text", "edit", "reaction", "button")
    assert (first.chat.id, first.chat.kind, first.sender.id) == ("lobby", "group", "ann-lee")
    assert first.sender.display_name == "Ann Lee"
    assert [(mention.id, mention.token) for mention in first.mentions] == [("coder", "@coder")]
    assert [(mention.id, mention.kind) for mention in edit.mentions] == [("all", "everyone")]
    assert (edit.message_id, edit.text) == (said, "Hello @all")
    assert (reaction.message_id, reaction.text) == (said, "🎉")
    assert (button.text, button.sender.id, button.reply_to.message_id) == ("/approve 1", "ann-lee", asks)
    assert button.message_id not in (said, asks), "it is no message of the bot's, but a person's"
    assert len({message.event_id for message in got}) == 3


async def test_buttons_that_go_are_no_edit(channel):
    """TU-34: the words are the same, so nobody is told that they were changed."""
    async with browsers(channel, "Ann Lee") as [ann]:
        asks = await sent(channel, "Sure?", choices=(Choice("Yes", "/approve 1"),))
        await channel.edit(LOBBY, asks, Part(LOBBY, "Sure?"))
        shown = await ann.told("edited")
        await channel.edit(LOBBY, asks, Part(LOBBY, "Surely?"))
        changed = await ann.told("edited", text="Surely?")
    assert "edited" not in shown
    assert "choices" not in shown
    assert changed["edited"]


async def test_agents_of_a_room_hear_each_other_when_whole(channel):
    """IN-21: an agent's message is told as a bot's, once, when it is complete; the gateway's own never."""
    async with browsers(channel, "") as [page]:
        begun = await channel.begin(Part(LOBBY, "Hey", author="helper"))
        assert isinstance(begun, Delivered)
        await channel.send(Part(LOBBY, "the gateway says"))
        await channel.send(Part(Route("web", "helper~you"), "direct", author="helper"))
        await channel.edit(LOBBY, begun.message, Part(LOBBY, "Hey @coder", author="helper"))
        await page.ask("say", room="lobby", text="end")
        bot, human = channel.got
    assert (bot.sender.id, bot.sender.is_bot, bot.text, bot.message_id) == ("helper", True, "Hey @coder", begun.message)
    assert [mention.id for mention in bot.mentions] == ["coder"]
    assert human.text == "end"


async def test_who_is_meant_in_a_direct_chat(channel):
    """IN-25: a direct chat wakes its agent, whoever leads the rooms."""
    async with browsers(channel, "") as [page]:
        await page.ask("say", room="coder~you", text="Hi")
        [message] = channel.got
    assert message.chat.kind == "direct"
    assert [mention.id for mention in message.mentions] == ["coder"]


async def test_nobody_is_meant_by_a_message_of_a_room_that_names_nobody(channel):
    """IN-25: who takes it is for `wake` to say, in a room without the lead too."""
    async with browsers(channel, "") as [page]:
        made = await page.ask("make_room", title="Review", agents=["coder"])
        await page.ask("say", room=made["id"], text="Hi")
        [message] = channel.got
    assert (message.chat.agents, message.mentions) == (("coder",), ())


async def test_a_threads_starter_is_told_while_it_is_there(channel):
    """TU-31: as much of it as is worth telling with each message."""
    async with browsers(channel, "") as [page]:
        starter = (await page.ask("say", room="helper~you", text="x" * 5000))["id"]
        await page.ask("say", room="helper~you", thread=starter, text="one")
        await page.ask("edit", message=starter, text="y")
        await page.ask("say", room="helper~you", thread=starter, text="two")
        heard = channel.got
    told = [each.thread_starter for each in heard if each.thread]
    assert told == [EarlierMessage(starter, "you", "You", text) for text in ("x" * 4000, "y")]


async def test_what_was_said_in_a_thread_is_told(channel):
    """TU-31: the latest before a message, in order, each with its author; nothing of the chat above it."""
    where = {"room": "helper~you"}
    async with browsers(channel, "") as [page]:
        root = (await page.ask("say", text="root", **where))["id"]
        ids = [(await page.ask("say", thread=root, text=text, **where))["id"] for text in ("one", "two", "three")]
        await page.ask("say", text="besides", **where)
        route = Route("web", "helper~you", root)
        answer = await channel.send(Part(route, "four", author="helper"))
        last = (await page.ask("say", thread=root, text="five", **where))["id"]
        told = await channel.thread_before(route, last, 3)
    assert told == (
        EarlierMessage(ids[1], "you", "You", "two"),
        EarlierMessage(ids[2], "you", "You", "three"),
        EarlierMessage(answer.message, "helper", "Helper", "four", is_bot=True),
    )
    assert await channel.thread_before(Route("web", "helper~you"), last, 3) == ()


async def test_a_page_shows_what_another_process_wrote(channel):
    """SC-14: the log is shared; whoever serves a page looks again, and tells each event once."""
    other = await a_channel(channel.inbox.store)
    async with asyncio.TaskGroup() as group:
        listening = group.create_task(other.listen(None))
        async with browsers(other, "") as [page]:
            await sent(channel, "From elsewhere.")
            other.poll_log()
            await page.told("message", since=0)
            other.poll_log()
            await sent(other, "From here.")
            await sent(channel, "And again.")
            other.poll_log()
            await until(lambda: "And again." in page.shown("lobby").values())
            texts = [frame["message"]["text"] for frame in page.frames if frame["type"] == "message"]
            assert texts == ["From elsewhere.", "From here.", "And again."]
        listening.cancel()
