"""The page offers each person the commands that they may use, the same as `/commands` tells them (IN-14)."""

from typing import Any

import pytest
from msgspec.structs import replace

from rejoinder.config import schema
from rejoinder.inbound.commands.registry import BUILT_IN
from rejoinder.runtime.place import access
from tests.web.running import Site, running, settings

ALL = {command.name for command in BUILT_IN if command.scope != "text"}
FOR_ANYONE = {command.name for command in BUILT_IN if command.auth == "anyone"}
FOR_SENDERS = {command.name for command in BUILT_IN if command.auth != "owner"} & ALL
DIRECT_ONLY = {command.name for command in BUILT_IN if command.owner_in_groups}


def made(**common: Any) -> schema.Settings:
    base = settings(agents=("ada", "bee"))
    web = base.channels["web"]
    return replace(base, channels={"web": replace(web, common=replace(web.common, allow=("sam",), **common))})


async def offered(site: Site, name: str, kind: str) -> set[str]:
    async with site.page(name) as page:
        told = page.frames[0]["commands"]
        assert {each["name"] for each in told} == ALL, "it draws the commands of others, too"
        return {each["name"] for each in told if kind not in each.get("not_in", ())}


@pytest.mark.parametrize(
    ("name", "direct", "group"),
    [
        ("", ALL, ALL),
        ("Sam", FOR_SENDERS, FOR_SENDERS - DIRECT_ONLY),
        ("Ann", FOR_ANYONE, FOR_ANYONE),
    ],
    ids=["owner", "sender", "guest"],
)
async def test_each_person_is_offered_what_they_may_use(name: str, direct: set[str], group: set[str]) -> None:
    """IN-14, IN-12: a command that would be passed over in silence is not offered."""
    assert FOR_ANYONE < FOR_SENDERS - DIRECT_ONLY < FOR_SENDERS < ALL, "each list shows a difference"
    async with running(made()) as site:
        assert await offered(site, name, "direct") == direct
        assert await offered(site, name, "group") == group


async def test_what_a_channel_restricts_is_not_offered() -> None:
    """IN-12: commands for the owner only, a group that is not served, and direct chats that are closed to strangers."""
    async with running(made(owner_only_commands=True)) as site:
        assert await offered(site, "Sam", "direct") == FOR_ANYONE
    async with running(made(dm="allowlist", groups="allowlist", allow_groups=("lobby",))) as site:
        assert await offered(site, "Ann", "direct") == set()
        assert await offered(site, "Ann", "group") == FOR_ANYONE, "the lobby is served"


async def test_who_is_let_in_is_offered_more_with_the_next_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """IN-14: the owner's `/allowlist add` makes a guest a sender."""
    monkeypatch.setattr(access, "FRESH", 0.0)
    async with running(made()) as site, site.page() as owner:
        assert await offered(site, "Ann", "direct") == FOR_ANYONE
        await owner.send(type="say", client="c1", room="ada~you", text="/allowlist add ann")
        await owner.hears("ann is on the allow-list of web; to make that permanent, add it to channels.web.allow.")
        assert await offered(site, "Ann", "direct") == FOR_SENDERS
