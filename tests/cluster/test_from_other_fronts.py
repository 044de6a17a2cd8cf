"""What one process hands out is good at all others: invitations, logins, files (SC-14, SC-15)."""

import asyncio
from typing import Any

from rejoinder.secret import Secret
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import PATIENCE, until
from tests.cluster.beside import NoAgent, worker_for
from tests.postgres import Server, a_database, database_of
from tests.web.running import Site, running, settings

TOKEN = "the owner's own token"
ROOM = "scripted~you"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "X-Rejoinder": "1"}


async def test_an_invitation_of_a_worker_opens_every_front(postgres: Server) -> None:
    """SC-15: `/invite` comes to a front, and is carried out by a worker, which serves no page; the link that it gives
    lets its person in at both fronts."""
    url = a_database(postgres, "one_shard")
    here = settings(agents=("scripted",), store=url, token=Secret(TOKEN))
    async with (
        asyncio.timeout(2 * PATIENCE),
        running(here, agents={"scripted": NoAgent()}, role="front") as one,
        running(here, agents={"scripted": NoAgent()}, role="front") as two,
        worker_for(here, {"scripted": ScriptedAgent()}),
        one.page(headers=bearer(TOKEN)) as page,
    ):
        await page.send(type="say", client="1", room=ROOM, text="/invite Bob")
        told = await page._until(lambda frame: "/join/" in str(frame.get("message", "")))
        link = told["message"]["text"].rpartition(" ")[2]
        token = link.rpartition("/")[2]
        for site in (one, two):
            await until(lambda site=site: _is_let_in(site, token))


async def _is_let_in(site: Site, token: str) -> bool:
    async with site.http.get(f"{site.url}/join/{token}", allow_redirects=False) as answer:
        return answer.status == 303 and "set-cookie" in answer.headers


async def test_a_login_at_one_front_is_good_at_the_other(postgres: Server) -> None:
    """SC-14: the key of the cookie is in the store."""
    here = settings(agents=("scripted",), store=a_database(postgres, "one_shard"), token=Secret(TOKEN))
    async with (
        asyncio.timeout(2 * PATIENCE),
        running(here, agents={"scripted": NoAgent()}, role="front") as one,
        running(here, agents={"scripted": NoAgent()}, role="front") as two,
    ):
        async with one.http.post(f"{one.url}/login", data=TOKEN, allow_redirects=False) as answer:
            assert answer.status == 303, await answer.text()
            cookie = answer.headers["set-cookie"].partition(";")[0]
        one.http.cookie_jar.clear()
        two.http.cookie_jar.clear()
        for site in (one, two):
            for sent, status in ((cookie, 200), (f"{cookie}x", 401)):
                assert (await site.get("/api/channels", headers={"Cookie": sent}))[0] == status


async def test_a_file_that_was_given_to_one_front_is_read_from_the_other(postgres: Server) -> None:
    """SC-14: it is in the store before anybody names it."""
    here, content = settings(agents=("scripted",), store=a_database(postgres, "one_shard")), b"\0chunk" * 100_000
    async with (
        asyncio.timeout(2 * PATIENCE),
        running(here, agents={"scripted": NoAgent()}, role="front") as one,
        running(here, agents={"scripted": NoAgent()}, role="front") as two,
    ):
        status, file = await one.post("/files?name=a.bin", data=content, headers={"X-Rejoinder": "1"})
        assert status == 201
        async with two.http.get(f"{two.url}/files/{file['id']}") as answer:
            assert (answer.status, await answer.read()) == (200, content)


async def test_who_no_longer_hears_notifications_looks(postgres: Server) -> None:
    """SC-12: the server ends the connection that listens, and nothing else: messages are still answered, and words are
    shown while they are written again."""
    url = a_database(postgres, "one_shard")
    here = settings(agents=("scripted",), store=url)
    agent = ScriptedAgent("One.", "Two.")
    ended = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        f"WHERE datname = '{database_of(url)}' AND query ILIKE 'LISTEN%'"
    )
    async with (
        asyncio.timeout(2 * PATIENCE),
        running(here, agents={"scripted": NoAgent()}, role="front") as site,
        worker_for(here, {"scripted": agent}),
        site.page() as page,
    ):
        await _answered(page, "first", "One.")
        assert len(postgres.execute(ended)) == 2
        await _answered(page, "second", "Two.")


async def _answered(page: Any, text: str, answer: str) -> None:
    await page.send(type="say", client=text, room=ROOM, text=text)
    await page.hears(answer)
