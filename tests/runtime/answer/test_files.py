"""DE-37, DU-2, ME-10: a file on its way from an agent's folder into a conversation."""

from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from rejoinder.blobs import whole
from rejoinder.channels.base import Delivered, Limits, Rejected
from rejoinder.errors import FileRefused
from rejoinder.media_services import RemoteFile
from rejoinder.outbound.directives import default_registry
from rejoinder.runtime.answer.action_log import MOST_ACTIONS
from rejoinder.runtime.answer.context import AnswerContext
from rejoinder.store.base import Retention, Sweep
from rejoinder.testing import FakeFiles
from tests.runtime.places import place

PICTURE = b"\x89PNG\r\n\x1a\n"


class Messages:
    """The smallest channel."""

    name = "bare"
    limits = Limits()

    def __init__(self):
        self.sent = []

    async def listen(self, deliver): ...

    async def send(self, part):
        self.sent.append(part)
        return Delivered(f"id-{len(self.sent)}")


class Opened:
    def __init__(self, name, content):
        self.name, self.mime, self.size = name, "image/png" if name.endswith(".png") else "text/plain", len(content)
        self.rest = content
        self.closed = False

    def read(self, most):
        piece, self.rest = self.rest[:most], self.rest[most:]
        return piece

    def close(self):
        self.closed = True


class Folder:
    """Each file can be opened once; then the agent has taken it away."""

    path = "/outbox"

    def __init__(self, *names, content=b"x"):
        self.names = list(names)
        self.content = content
        self.removed = []
        self.opened = []

    def open(self, name, limit):
        if name not in self.names:
            raise FileRefused(f"there is no file {name!r}")
        self.names.remove(name)
        self.opened.append(Opened(name, self.content))
        return self.opened[-1]

    def remove(self, name):
        self.removed.append(name)


def context(folder, *more):
    return AnswerContext("id-0", "bot", "ann", granted=frozenset({"send_file", *more}), folder=folder)


async def test_asked_again_after_a_restart_it_is_sent_once_though_the_file_is_gone():
    """DU-2: an action equal in name and arguments is not done again."""
    script = '<send-file path="a.txt" caption="Look"/>'
    folder = Folder("a.txt")
    async with place(FakeFiles()) as here:
        run = await here.turn()
        for _ in range(2):
            answer = await here.says(script, run=run, context=context(folder))
            assert "send_file a.txt: done" in answer.outcomes.sentence()
            here.restart()
        assert [(part.text, part.author) for part in here.channel.parts] == [("Look", "bot")]
        assert [(file.name, file.content) for file in here.channel.files] == [("a.txt", b"x")]
    assert all(each.closed for each in folder.opened)


async def test_it_takes_its_place_among_the_words():
    """OD-50: behind what was said before it; a caption is redacted like any text (DE-35)."""
    script = (
        '<actions><send-file path="a.txt" caption="key sk-aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6kL9"/></actions>Done.'
    )
    async with place(FakeFiles()) as here:
        await here.says(script, run=await here.turn(), context=context(Folder("a.txt")))
        first, second = here.channel.parts
        assert [file.name for file in first.files] == ["a.txt"]
        assert "sk-aB3" not in first.text
        assert (second.text, second.files) == ("Done.", ())


async def test_files_named_one_after_the_other_share_a_message():
    """ME-10: as many as fit; words, another caption or another place between them begin a new message."""
    tags = '<send-file path="1.txt" caption="Three"/>\n<send-file path="2.txt"/>\n\nMEDIA: 3.png\n'
    script = f'{tags}<send-file path="4.txt"/><send-file path="5.txt" caption="Own"/>\nand\n<send-file path="6.txt"/>'
    folder = Folder("1.txt", "2.txt", "3.png", "4.txt", "5.txt", "6.txt")
    async with place(FakeFiles()) as here:
        answer = await here.says(script, run=await here.turn(), context=context(folder))
        shown = [(part.text, [file.name for file in part.files]) for part in here.channel.parts if part.files]
    assert shown == [("Three", ["1.txt", "2.txt", "3.png"]), ("", ["4.txt"]), ("Own", ["5.txt"]), ("", ["6.txt"])]
    assert [file.kind for file in here.channel.files][:3] == ["document", "document", "photo"]
    assert answer.outcomes.sentence().count(": done") == 6


async def test_an_agent_that_groups_them_differently_after_a_restart_sends_each_once():
    """DU-2: what an earlier run has planned is not sent again in other company."""
    folder = Folder("1.txt", "2.txt", "3.txt")
    async with place(FakeFiles()) as here:
        run = await here.turn()
        await here.says('<send-file path="1.txt"/><send-file path="2.txt"/>', run=run, context=context(folder))
        here.restart()
        again = '<send-file path="2.txt"/>\n<send-file path="3.txt"/>\nfirst\n<send-file path="1.txt"/>'
        answer = await here.says(again, run=run, context=context(folder))
        assert [file.name for file in here.channel.files] == ["1.txt", "2.txt", "3.txt"]
        assert answer.outcomes.sentence().count(": done") == 3


async def test_the_same_file_twice_is_sent_once_and_with_two_captions_twice():
    script = '<send-file path="a.txt"/><send-file path="a.txt"/>'
    async with place(FakeFiles()) as here:
        await here.says(script, run=await here.turn(), context=context(Folder("a.txt", "a.txt")))
        assert len(here.channel.files) == 1
    async with place(FakeFiles()) as here:
        script = '<send-file path="a.txt" caption="1"/><send-file path="a.txt" caption="2"/>'
        await here.says(script, run=await here.turn(), context=context(Folder("a.txt", "a.txt")))
        assert len(here.channel.files) == 2


async def test_a_long_caption_goes_on_below_the_file():
    async with place(FakeFiles()) as here:
        script = f'<send-file path="a.txt" caption="{"word " * 50}"/>'
        await here.says(script, run=await here.turn(), context=context(Folder("a.txt")))
        first, *more = here.channel.parts
        assert (len(first.files), len(more)) == (1, 2)
        assert sum(part.text.count("word") for part in here.channel.parts) == 50


async def test_a_large_picture_is_sent_as_a_document_and_a_refused_one_too():
    """ME-10: a platform's limit of a kind, and what it says itself."""
    async with place(FakeFiles()) as here:
        large = Folder("a.png", content=PICTURE + b"x" * 100_000)
        await here.says('<send-file path="a.png"/>', context=context(large))
        here.channel.fails(Rejected("this is no picture", "kind"))
        small = Folder("b.png", content=PICTURE)
        await here.says('<send-file path="b.png"/>', context=context(small))
        assert [(file.name, file.kind) for file in here.channel.files] == [("a.png", "document"), ("b.png", "document")]


async def test_the_store_holds_the_file_as_long_as_the_part_may_have_to_be_sent():
    """SC-14: days later a part that was not taken is sent with its file."""
    async with place(FakeFiles()) as here:
        here.channel.refuse = "the chat is closed"
        await here.says('<send-file path="a.txt"/>', run=await here.turn(), context=context(Folder("a.txt")))
        assert here.channel.files == []
        later = here.now().replace(year=2090)
        while await here.store.write(Sweep(Retention(ended_before=here.now().replace(year=2000)), later)):
            continue
        here.channel.refuse = None
        assert await here.outbox.resend(here.route) == 1
        await here.rests()
        assert [file.content for file in here.channel.files] == [b"x"]


async def test_the_store_holds_it_no_longer_than_a_day_after_the_platform_has_it():
    """SC-14, DU-4: the part stays, for operators to ask about; the bytes are needed no more."""
    async with place(FakeFiles()) as here:
        await here.says('<send-file path="a.txt"/>', run=await here.turn(), context=context(Folder("a.txt")))
        ((file,),) = [part.files for part in here.channel.parts]
        young = Retention(ended_before=here.now().replace(year=2000))
        await here.store.write(Sweep(young, here.now() + timedelta(hours=23)))
        assert await here.store.blob(file.id) is not None
        await here.store.write(Sweep(young, here.now() + timedelta(hours=25)))
        assert await here.store.blob(file.id) is None
        assert (await here.store.count_rows()).parts == {"sent": 1}


async def test_a_channel_without_files_says_so_to_the_agent():
    """OD-51, OD-72: unsupported; the words go out, nothing is read."""
    folder = Folder("a.txt")
    async with place(Messages()) as here:
        answer = await here.says('<send-file path="a.txt"/>\nHi.', run=await here.turn(), context=context(folder))
        assert [part.text for part in here.channel.sent] == ["Hi."]
    assert "send_file a.txt: unsupported (bare cannot send files)" in answer.outcomes.sentence()
    assert folder.names == ["a.txt"]


async def test_a_file_is_taken_away_only_where_that_is_granted():
    async with place(FakeFiles()) as here:
        for grants, gone in (((), []), (("cleanup",), ["a.txt"])):
            folder = Folder("a.txt")
            run = await here.turn(message=f"id-{len(grants)}")
            await here.says('<send-file path="a.txt" cleanup="true"/>', run=run, context=context(folder, *grants))
            assert folder.removed == gone


@pytest.mark.parametrize("between", ["", "words"])
async def test_beyond_the_most_actions_nothing_is_even_read(between):
    """OD-50: at most 20 act per turn."""
    names = [f"{number}.txt" for number in range(MOST_ACTIONS + 2)]
    script = "".join(f'<send-file path="{name}"/>\n{between}\n' for name in names)
    folder = Folder(*names)
    async with place(FakeFiles()) as here:
        await here.says(script, run=await here.turn(), context=context(folder))
        assert len(here.channel.files) == MOST_ACTIONS
    assert len(folder.names) == 2


class Loads:
    """Files at addresses. Each can be loaded once."""

    most = 3

    def __init__(self, *known):
        self.known = list(known)
        self.asked = []

    @asynccontextmanager
    async def open(self, address, limit):
        self.asked.append(address)
        if address not in self.known:
            raise FileRefused(f"{address} cannot be sent: it took too long")
        self.known.remove(address)
        yield RemoteFile(address.rpartition("/")[2], "image/png", whole(PICTURE))


def linked(loads, *texts, granted=("send_file",)):
    registry = default_registry(links=loads is not None)
    return AnswerContext(
        "id-0",
        "bot",
        "ann",
        texts=texts,
        granted=frozenset(granted),
        folder=Folder(),
        loads_files=loads,
        directives=registry,
    )


async def test_a_file_at_an_address_is_loaded_once_and_sent_once():
    """OD-58, DU-2: asked again after a restart, it is not loaded again; the same address in a tag is the same."""
    script, loads = "Look:\nMEDIA: https://a.example/a.png", Loads("https://a.example/a.png")
    async with place(FakeFiles()) as here:
        run = await here.turn()
        for _ in range(2):
            answer = await here.says(script, run=run, context=linked(loads))
            assert "send_file https://a.example/a.png: done" in answer.outcomes.sentence()
            here.restart()
        await here.says('<send-file path="https://a.example/a.png"/>', run=run, context=linked(loads))
        assert [(file.name, file.kind) for file in here.channel.files] == [("a.png", "photo")]
    assert len(loads.asked) == 1


async def test_an_address_needs_the_grant_the_setting_and_is_no_echo():
    """OD-58, OD-52, OD-53: the same authority as for a file of the folder."""
    script, loads = "Look:\nMEDIA: https://a.example/a.png", Loads()
    async with place(FakeFiles()) as here:
        await here.says(script, context=linked(loads, granted=()))
        await here.says(script, context=linked(loads, f"write this: {script}"))
        answer = await here.says(script, context=linked(None))
        assert answer.outcomes.sentence() is None
        assert [part.text for part in here.channel.parts] == ["Look:", "Look:", script]
        refused = await here.says(script, context=linked(loads))
        assert "failed (https://a.example/a.png cannot be sent: it took too long)" in refused.outcomes.sentence()
    assert len(loads.asked) == 1


async def test_few_files_of_an_answer_are_loaded():
    """DE-38: at most 3."""
    addresses = [f"https://a.example/{number}.png" for number in range(5)]
    loads = Loads(*addresses)
    async with place(FakeFiles()) as here:
        answer = await here.says("\n".join(f"MEDIA: {each}" for each in addresses), context=linked(loads))
        assert len(here.channel.files) == 3
    assert loads.asked == addresses[:3]
    assert answer.outcomes.sentence().count("at most 3 files of an answer are loaded from an address") == 2
