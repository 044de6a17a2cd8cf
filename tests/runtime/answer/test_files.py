"""DE-37, DU-2: a file on its way from an agent's folder into a conversation."""

from msgspec.structs import replace

from rejoinder.channels.base import Delivered, Limits
from rejoinder.errors import FileRefused
from rejoinder.events import Attachment
from rejoinder.runtime.answer.acting import MOST_ACTIONS, Occasion
from tests.runtime.places import place


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


class WithFiles(Messages):
    file_limit = 10

    def __init__(self):
        super().__init__()
        self.kept = {}

    async def kept_file(self, key):
        return self.kept.get(key)

    async def keep_file(self, key, file):
        self.kept[key] = replace(file, id=f"f{len(self.kept)}", content=None)
        return self.kept[key]


class Folder:
    """Each file can be read once; then the agent has taken it away."""

    path = "/outbox"

    def __init__(self, *names):
        self.names = list(names)
        self.removed = []

    def read(self, name, limit):
        if name not in self.names:
            raise FileRefused(f"there is no file {name!r}")
        self.names.remove(name)
        return Attachment("", name, "text/plain", 1, content=b"x")

    def remove(self, name):
        self.removed.append(name)


def occasion(folder, *more):
    return Occasion("id-0", "bot", "ann", granted=frozenset({"send_file", *more}), folder=folder)


async def test_asked_again_after_a_restart_it_is_sent_once_though_the_file_is_gone():
    """DU-2: an action equal in name and arguments is not done again."""
    script = '<send-file path="a.txt" caption="Look"/>'
    folder = Folder("a.txt")
    async with place(WithFiles()) as here:
        run = await here.turn()
        for _ in range(2):
            answer = await here.says(script, run=run, occasion=occasion(folder))
            assert "send_file a.txt: done" in answer.outcomes.told()
            here.restart()
        assert [(part.text, [file.name for file in part.files], part.author) for part in here.channel.sent] == [
            ("Look", ["a.txt"], "bot")
        ]


async def test_it_takes_its_place_among_the_words():
    """OD-50: behind what was said before it; a caption is redacted like any text (DE-35)."""
    script = (
        '<actions><send-file path="a.txt" caption="key sk-aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6kL9"/></actions>Done.'
    )
    async with place(WithFiles()) as here:
        await here.says(script, run=await here.turn(), occasion=occasion(Folder("a.txt")))
        first, second = here.channel.sent
        assert [file.id for file in first.files] == ["f0"]
        assert "sk-aB3" not in first.text
        assert (second.text, second.files) == ("Done.", ())


async def test_a_channel_without_files_says_so_to_the_agent():
    """OD-51, OD-72: unsupported; the words go out, nothing is read."""
    folder = Folder("a.txt")
    async with place(Messages()) as here:
        answer = await here.says('<send-file path="a.txt"/>\nHi.', run=await here.turn(), occasion=occasion(folder))
        assert [part.text for part in here.channel.sent] == ["Hi."]
    assert "send_file a.txt: unsupported (bare cannot send files)" in answer.outcomes.told()
    assert folder.names == ["a.txt"]


async def test_a_file_is_taken_away_only_where_that_is_granted():
    async with place(WithFiles()) as here:
        for grants, gone in (((), []), (("cleanup",), ["a.txt"])):
            folder = Folder("a.txt")
            run = await here.turn(message=f"id-{len(grants)}")
            await here.says('<send-file path="a.txt" cleanup="true"/>', run=run, occasion=occasion(folder, *grants))
            assert folder.removed == gone


async def test_beyond_the_most_actions_nothing_is_even_read():
    """OD-50: at most 20 act per turn."""
    names = [f"{number}.txt" for number in range(MOST_ACTIONS + 2)]
    script = "".join(f'<send-file path="{name}"/>\n' for name in names)
    folder = Folder(*names)
    async with place(WithFiles()) as here:
        await here.says(script, run=await here.turn(), occasion=occasion(folder))
        assert len(here.channel.sent) == len(here.channel.kept) == MOST_ACTIONS
    assert len(folder.names) == 2
