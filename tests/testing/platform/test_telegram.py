"""The fake Telegram is as strict as the real one, and says so in the same words."""

import asyncio

import aiohttp
import pytest

from rejoinder.testing import FakePlatform
from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.platform import oracles
from rejoinder.testing.platform.telegram.world import TOKEN, group_id, person_id

ANN, TEAM = person_id("ann"), group_id("#team")


class Bot:
    """Calls the Bot API as any program would."""

    def __init__(self, platform: FakePlatform, session: aiohttp.ClientSession) -> None:
        self.platform = platform
        self._session = session

    async def ask(self, method: str, token: str = TOKEN, **payload):
        async with self._session.post(f"{self.platform.url}/bot{token}/{method}", json=payload) as answer:
            said = await answer.json()
            assert said["ok"] == (answer.status == 200)
            return answer.status, said.get("result", said.get("description"))

    async def does(self, method: str, **payload):
        status, result = await self.ask(method, **payload)
        assert status == 200, result
        return result


@pytest.fixture
async def bot():
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("telegram") as platform, aiohttp.ClientSession() as session:
        await platform.says("ann", "ann", "hello")
        await platform.says("#team", "ann", "hello all")
        yield Bot(platform, session)


TEXT = {"chat_id": ANN, "text": "hello"}
BOLD = {"type": "bold", "offset": 0, "length": 1}


@pytest.mark.parametrize(
    ("payload", "description"),
    [
        ({"text": "x"}, "chat_id is empty"),
        ({**TEXT, "chat_id": 12}, "chat not found"),
        ({"chat_id": ANN}, "message text is empty"),
        ({**TEXT, "text": " \n "}, "text must be non-empty"),
        ({**TEXT, "text": "x" * 4097}, "message is too long"),
        ({**TEXT, "text": "😀" * 2049}, "message is too long"),
        ({**TEXT, "message_thread_id": 5}, "message thread not found"),
        ({**TEXT, "reply_parameters": {"message_id": 1}}, "message to be replied not found"),
        (
            {**TEXT, "entities": [{**BOLD, "length": 9}]},
            "entity beginning at UTF-16 offset 0 ends after the end of the text at UTF-16 offset 9",
        ),
        (
            {**TEXT, "entities": [{**BOLD, "offset": 9}]},
            "entity begins after the end of the text at UTF-16 offset 9",
        ),
        (
            {**TEXT, "text": "😀", "entities": [BOLD]},
            "entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at UTF-16 offset 1",
        ),
        (
            {**TEXT, "entities": [{**BOLD, "length": 3}, {"type": "italic", "offset": 1, "length": 4}]},
            "entity beginning at UTF-16 offset 1 ends after the end of the text at UTF-16 offset 5",
        ),
        ({**TEXT, "entities": [{**BOLD, "type": "loud"}]}, "can't parse MessageEntity: Unsupported type specified"),
        (
            {**TEXT, "reply_markup": {"inline_keyboard": [[{"text": "x", "callback_data": "é" * 33}]]}},
            "BUTTON_DATA_INVALID",
        ),
    ],
)
async def test_what_is_wrong_with_a_message(bot, payload, description):
    """DU-21: 400, and nobody sees anything."""
    assert await bot.ask("sendMessage", **payload) == (400, f"Bad Request: {description}")
    assert not bot.platform.truth.messages("ann")


@pytest.mark.parametrize("text", ["x" * 4096, "😀" * 2048, "x" * 4096 + "\n\n"])
async def test_what_just_fits(bot, text):
    await bot.does("sendMessage", chat_id=ANN, text=text)


async def test_edits(bot):
    sent = await bot.does("sendMessage", **TEXT)
    edit = {"chat_id": ANN, "message_id": sent["message_id"], "text": "hello!"}
    assert (await bot.does("editMessageText", **edit))["text"] == "hello!"
    status, description = await bot.ask("editMessageText", **edit)
    assert status == 400
    assert description.startswith("Bad Request: message is not modified")
    assert (await bot.ask("editMessageText", **{**edit, "message_id": 1}))[
        1
    ] == "Bad Request: message to edit not found"
    (theirs,) = bot.platform.truth.messages("ann", by="ann")
    refused = await bot.ask("editMessageText", **{**edit, "message_id": int(theirs.id)})
    assert refused[1] == "Bad Request: message can't be edited"


@pytest.mark.parametrize(
    ("reaction", "description"),
    [
        ([{"type": "emoji", "emoji": "🦖"}], "REACTION_INVALID"),
        ([{"type": "emoji", "emoji": "❤️"}], "REACTION_INVALID"),
        ([{"type": "emoji", "emoji": "👍"}, {"type": "emoji", "emoji": "🔥"}], "REACTIONS_TOO_MANY"),
    ],
)
async def test_reactions_of_its_own_set_only(bot, reaction, description):
    (hers,) = bot.platform.truth.messages("ann", by="ann")
    asked = {"chat_id": ANN, "message_id": int(hers.id), "reaction": reaction}
    assert await bot.ask("setMessageReaction", **asked) == (400, f"Bad Request: {description}")


@pytest.mark.parametrize(
    ("payload", "description"),
    [
        ({"chat_id": TEAM, "draft_id": 1, "text": "a"}, "method is available only in private chats"),
        ({"chat_id": ANN, "draft_id": 0, "text": "a"}, "draft_id must be non-zero"),
        ({"chat_id": ANN, "text": "a"}, "draft_id must be non-zero"),
        ({"chat_id": ANN, "draft_id": 1, "text": "a" * 4097}, "message is too long"),
    ],
)
async def test_what_is_no_preview(bot, payload, description):
    assert await bot.ask("sendMessageDraft", **payload) == (400, f"Bad Request: {description}")


async def test_a_preview_is_seen_and_is_no_message(bot):
    before = len(bot.platform.truth.messages())
    assert await bot.does("sendMessageDraft", chat_id=ANN, draft_id=7, text="Hel") is True
    assert (bot.platform.truth.frames[-1].kind, bot.platform.truth.frames[-1].text) == ("preview", "Hel")
    assert len(bot.platform.truth.messages()) == before
    assert oracles.typing_after_final(bot.platform.truth.frames) == ["ann"], "it would stay until it fades"


async def test_who_is_not_let_in(bot):
    assert await bot.ask("getMe", token="1:x") == (401, "Unauthorized")
    assert await bot.ask("getMe", token="x") == (404, "Not Found")
    assert await bot.ask("sendFax") == (404, "Not Found")
    bot.platform.people.closes("ann")
    assert await bot.ask("sendMessage", **TEXT) == (403, "Forbidden: bot was blocked by the user")


# --- updates ------------------------------------------------------------------------------------


async def test_the_offset_confirms(bot):
    """What is not confirmed comes again; what is confirmed is gone."""
    first = await bot.does("getUpdates")
    assert [update["message"]["text"] for update in first] == ["hello", "hello all"]
    assert await bot.does("getUpdates") == first
    assert await bot.does("getUpdates", offset=first[1]["update_id"]) == first[1:]
    assert await bot.does("getUpdates", offset=first[1]["update_id"] + 1) == []
    assert bot.platform.people.updates.unconfirmed == 0


async def test_a_long_poll_ends_with_the_message(bot):
    waiting = asyncio.create_task(bot.does("getUpdates", offset=-1, timeout=10))
    (last,) = await waiting
    waiting = asyncio.create_task(bot.does("getUpdates", offset=last["update_id"] + 1, timeout=10))
    await asyncio.sleep(0)
    await bot.platform.says("ann", "ann", "now")
    assert [update["message"]["text"] for update in await waiting] == ["now"]


async def test_there_is_one_reader(bot):
    """409 goes to who asked first; who came later reads."""
    offset = (await bot.does("getUpdates"))[-1]["update_id"] + 1
    readers = {asyncio.create_task(bot.ask("getUpdates", offset=offset, timeout=10)) for _ in range(2)}
    (ended,), (reader,) = await asyncio.wait(readers, return_when=asyncio.FIRST_COMPLETED)
    assert (await ended)[0] == 409
    await bot.platform.says("ann", "ann", "now")
    assert (await reader)[0] == 200


async def test_reactions_come_only_to_who_asks(bot):
    (hers,) = bot.platform.truth.messages("ann", by="ann")
    await bot.platform.reacts("ann", "ann", hers.id, "👍")
    assert len(await bot.does("getUpdates", allowed_updates=["message_reaction"])) == 2
    await bot.platform.reacts("ann", "ann", hers.id, "👍")
    assert "message_reaction" in (await bot.does("getUpdates"))[-1]


async def test_privacy_mode():
    """In a group the bot is told commands, mentions of it and replies to it."""
    async with FakePlatform("telegram", reads_everything=False) as platform, aiohttp.ClientSession() as session:
        bot = Bot(platform, session)
        for text in ("not for you", "/help", "hi @testbot"):
            await platform.says("#team", "ann", text)
        assert [update["message"]["text"] for update in await bot.does("getUpdates")] == ["/help", "hi @testbot"]


async def test_a_duplicate_and_a_latecomer(bot):
    """DU-21: the same message under a new number, and one after the one that follows it."""
    offset = (await bot.does("getUpdates"))[-1]["update_id"] + 1
    bot.platform.fault("duplicate", on="event")
    await bot.platform.says("ann", "ann", "twice")
    bot.platform.fault("reorder", on="event")
    await bot.platform.says("ann", "ann", "late")
    await bot.platform.says("ann", "ann", "early")
    updates = await bot.does("getUpdates", offset=offset)
    assert [update["message"]["text"] for update in updates] == ["twice", "twice", "early", "late"]
    assert len({update["update_id"] for update in updates}) == 4
    assert len({update["message"]["message_id"] for update in updates}) == 3


# --- faults -------------------------------------------------------------------------------------


async def test_too_fast(bot):
    """429 says how long, and who calls meanwhile is written down."""
    bot.platform.fault("429", seconds=30)
    assert await bot.ask("sendMessage", **TEXT) == (429, "Too Many Requests: retry after 30")
    assert (await bot.ask("sendMessage", **TEXT))[0] == 429
    assert (await bot.ask("sendMessage", chat_id=TEAM, text="elsewhere"))[0] == 200
    assert [call.too_early for call in bot.platform.truth.calls] == [False, True, False]


@pytest.mark.parametrize(("kind", "accepted"), [("drop", 0), ("accept-drop", 1)])
async def test_the_line_goes_dead(bot, kind, accepted):
    bot.platform.fault(kind)
    with pytest.raises(aiohttp.ClientError):
        await bot.ask("sendMessage", **TEXT)
    assert len(bot.platform.truth.messages("ann")) == accepted


async def test_the_seed_decides():
    """The same seed draws the same faults."""

    async def drawn(seed: int) -> list[int]:
        rates = {("send", "5xx"): 0.5}
        async with FakePlatform("telegram", seed=seed, rates=rates) as platform, aiohttp.ClientSession() as session:
            await platform.says("ann", "ann", "hello")
            return [(await Bot(platform, session).ask("sendMessage", **TEXT))[0] for _ in range(12)]

    first = await drawn(7)
    assert first == await drawn(7)
    assert set(first) == {200, 502}
    assert first != await drawn(8)


async def test_a_name_calls_its_person(bot):
    """What pings is known: a name in code does not."""
    await bot.does("sendMessage", chat_id=TEAM, text="ask @bob")
    await bot.does("sendMessage", chat_id=TEAM, text="ask @bob", entities=[{"type": "code", "offset": 4, "length": 4}])
    assert [frame.pinged for frame in bot.platform.truth.frames if frame.by == "bot"] == [("@bob",), ()]
