"""A login is a person: who has which token is who, whatever name a browser says (IN-12, IN-61)."""

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from rejoinder.channels.web import sockets
from rejoinder.config.load import load
from rejoinder.errors import BadConfiguration
from rejoinder.programs import invitations
from rejoinder.secret import Secret
from rejoinder.store.sqlite.operator import open_for_operator
from rejoinder.testing.patience import PATIENCE
from tests.web.running import Page, Site, running, settings

OWNERS = "the owner's own token"
MARK = {"X-Rejoinder": "1"}


def guarded(tmp_path: Path, **more: Any) -> Any:
    return settings(token=Secret(OWNERS), store=f"sqlite:{tmp_path}/rejoinder.db", **more)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def invited(site: Site, name: str) -> str:
    """The token of a new invitation."""
    status, answer = await site.post(f"/api/people/{name}/invite", headers={**bearer(OWNERS), **MARK})
    assert status == 200, answer
    return answer["link"].rpartition("/")[2]


async def me(site: Site, token: str, name: str) -> dict[str, Any]:
    async with site.page(name, headers=bearer(token)) as page:
        return page.frames[0]["me"]


async def until_closed(page: Page) -> int | None:
    async with asyncio.timeout(PATIENCE):
        while (message := await page.socket.receive()).type is aiohttp.WSMsgType.TEXT:
            pass
    assert message.type is aiohttp.WSMsgType.CLOSE
    return page.socket.close_code


@pytest.mark.parametrize("name", ["", "you", "Ann", "🎉", "!!!", "person-you"])
async def test_no_name_makes_another_person_of_a_login(tmp_path: Path, name: str) -> None:
    """A name that is typed changes neither an invited person nor the owner into anybody else."""
    async with running(guarded(tmp_path)) as site:
        token = await invited(site, "Bob")
        seen = await me(site, token, name)
        assert (seen["id"], seen["name"]) == ("bob", "Bob")
        assert (await me(site, OWNERS, name))["id"] == "you"


async def test_an_invited_person_gets_the_chat_and_nothing_else(tmp_path: Path) -> None:
    """Everything beside the chat shows what others say: it is the owner's."""
    async with running(guarded(tmp_path, replies=("Hello.", "Hello."))) as site:
        token = await invited(site, "Bob")
        for path in ("/console", "/api", "/api/sessions", "/api/people", "/v1/models", "/metrics", "/nothing"):
            status, _ = await site.get(path, headers=bearer(token), allow_redirects=False)
            assert status == 403, path
        for path in ("/api/people/Eve/invite", "/api/people/bob/revoke", "/v1/chat/completions"):
            assert (await site.post(path, headers={**bearer(token), **MARK}))[0] == 403
        browser = {**bearer(token), "Accept": "text/html,*/*;q=0.8"}
        async with site.http.get(site.url + "/console", headers=browser) as page:
            seen = await page.text()
            assert (page.status, page.content_type) == (403, "text/html")
            assert "This page is for the owner" in seen
            assert '<a href="/">the chat</a>' in seen
            assert "frame-ancestors" in page.headers["content-security-policy"]
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await site.http.ws_connect(site.url + "/console/socket", headers=bearer(token))
        assert (await site.get("/", headers=bearer(token)))[0] == 200
        async with site.page(headers=bearer(OWNERS)) as owner, site.page(headers=bearer(token)) as bob:
            await owner.send(type="say", client="1", room="helper~you", text="secret")
            await owner.hears("Hello.")
            await bob.send(type="history", client="h", room="helper~you")
            await bob.told("refused", client="h")
            await bob.send(type="say", client="r", room="helper~bob", text="/restart")
            await bob.send(type="say", client="2", room="helper~bob", text="Hello?")
            await bob.hears("Hello.")
            said = [frame["message"] for frame in bob.frames if frame["type"] == "message"]
            assert [each["text"] for each in said if each["author"] != "helper"] == ["/restart", "Hello?"]


async def test_the_link_of_an_invitation_logs_in(tmp_path: Path) -> None:
    """By its cookie too; where it leads is the chat, wherever it was meant to lead."""
    async with running(guarded(tmp_path)) as site:
        token = await invited(site, "Zoë")
        async with site.http.get(f"{site.url}/join/{token}?to=console", allow_redirects=False) as answer:
            assert answer.headers["location"] == "/"
            cookie = {"Cookie": f"rejoinder_login={answer.cookies['rejoinder_login'].value}"}
        async with site.page(headers=cookie) as page:
            assert page.frames[0]["me"]["id"] == "zoë"
            assert page.frames[0]["known_by"] == "login"
        assert (await site.get("/console", headers=cookie, allow_redirects=False))[0] == 403
        forged = cookie["Cookie"].replace(cookie["Cookie"].split(".")[1], "eW91")  # `you`
        assert (await site.get("/", headers={"Cookie": forged}, allow_redirects=False))[0] == 303
        async with site.http.post(site.url + "/logout", headers=cookie, allow_redirects=False) as answer:
            assert answer.cookies["rejoinder_login"].value == ""
            assert '"cache"' in answer.headers["clear-site-data"]


async def test_a_link_that_ended_says_so(tmp_path: Path) -> None:
    """Its reader has a link and no token, and is asked for none."""
    async with running(guarded(tmp_path)) as site:
        for path in ("/join/ended", "/join/ended?to=console"):
            async with site.http.get(site.url + path, allow_redirects=False) as answer:
                assert answer.headers["location"].startswith("/login?")
                assert answer.headers["location"].endswith("wrong=link")


async def test_a_login_that_is_revoked_ends_at_once(tmp_path: Path) -> None:
    """Its socket, its cookie and its token; a new invitation ends the earlier one in the same way."""
    async with running(guarded(tmp_path)) as site:
        for end in ("/api/people/bob/revoke", "/api/people/Bob/invite"):
            token = await invited(site, "Bob")
            async with site.page(headers=bearer(token)) as bob, site.page(headers=bearer(OWNERS)) as owner:
                assert (await site.post(end, headers={**bearer(OWNERS), **MARK}))[0] == 200
                assert await until_closed(bob) == sockets.LOGGED_OUT
                assert (await site.get("/", headers=bearer(token), allow_redirects=False))[0] == 303
                await owner.send(type="ping")
                await owner.told("pong")


async def test_tokens_are_kept_as_hashes_and_outlive_the_process(tmp_path: Path) -> None:
    made = guarded(tmp_path)
    async with running(made) as site:
        token = await invited(site, "Bob")
    assert token.encode() not in (tmp_path / "rejoinder.db").read_bytes()
    async with running(made) as site:
        assert (await me(site, token, ""))["id"] == "bob"
        _, listed = await site.get("/api/people", headers=bearer(OWNERS))
        assert [(each["person"], each["name"]) for each in listed["people"]] == [("bob", "Bob")]


async def test_the_owner_invites_from_the_chat(tmp_path: Path) -> None:
    """`/invite NAME`, `/invite list`, `/invite revoke NAME`; never where others read the link."""
    async with (
        running(guarded(tmp_path, agents=("helper", "coder"))) as site,
        site.page(headers=bearer(OWNERS)) as owner,
    ):

        async def says(text: str, room: str = "helper~you") -> str:
            await owner.send(type="say", client=text, room=room, text=text)
            while (message := (await owner.told("message"))["message"])["author"]:
                pass
            return message["text"]

        link = (await says("/invite Ann Lee")).rpartition(" ")[2]
        assert link.startswith(f"{site.url}/join/")
        assert (await me(site, link.rpartition("/")[2], ""))["name"] == "Ann Lee"
        told, _, again = (await says("/invite  Ann Lee")).rpartition(" ")
        assert told.endswith("and so does another /invite Ann Lee:"), "the first link has ended"
        assert (await me(site, again.rpartition("/")[2], ""))["name"] == "Ann Lee"
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await me(site, link.rpartition("/")[2], "")
        assert (await says("/invite list")).startswith("- Ann Lee (ann-lee), since 20")
        assert await says("/invite revoke ann lee") == "Ann Lee can no longer log in."
        assert await says("/invite revoke Eve") == "Nobody called Eve is invited."
        assert await says("/invite  list") == "Nobody is invited."
        assert await says("/invite Eve", "lobby") == "Write this in a direct chat: everybody here could use the link."


async def test_what_is_done_beside_the_gateway_counts_for_it(tmp_path: Path) -> None:
    """`rejoinder pair invite` and `revoke` write into the store's room log; the running gateway notices."""
    async with running(guarded(tmp_path)) as site:
        store = open_for_operator(f"sqlite:{tmp_path}/rejoinder.db")
        name, link = await invitations.invite_by_operator(store, "helper")
        assert name == "helper (guest)", "an agent has that name"
        token = link.rpartition("/")[2]
        async with asyncio.timeout(PATIENCE):
            while (await site.get("/", headers=bearer(token), allow_redirects=False))[0] != 200:
                pass
        async with site.page(headers=bearer(token)) as page:
            assert page.frames[0]["me"]["id"] == "person-helper"
            assert await invitations.revoke_by_operator(store, "helper") == name
            assert await until_closed(page) == sockets.LOGGED_OUT
        assert await invitations.invited_by_operator(store) == ()
        await store.close()


async def test_nobody_is_invited_where_nobody_logs_in(tmp_path: Path) -> None:
    """On loopback people say who they are, and the page knows that it proves nothing."""
    made = settings(store=f"sqlite:{tmp_path}/rejoinder.db")
    async with running(made) as site, site.page() as page:
        assert page.frames[0]["known_by"] == "name"
        await page.send(type="say", client="1", room="helper~you", text="/invite Ann")
        said = (await page.told("message"))["message"], (await page.told("message"))["message"]
        assert said[1]["text"].startswith("Nobody needs a login here")


def test_a_token_that_can_be_guessed_is_refused(tmp_path: Path) -> None:
    """One character on an address that others reach is no lock."""
    file = tmp_path / "rejoinder.toml"
    for said, works in (
        ('host = "0.0.0.0"\ntoken = "x"', False),
        ('trusted_proxies = ["127.0.0.1"]\ntoken = "x"', False),
        ('trusted_proxies = ["127.0.0.300"]', False),
        ('token = "x"', True),
        ('host = "0.0.0.0"\ntoken = "correct horse"', True),
    ):
        file.write_text(f'[agents.a]\nkind = "tour"\n[channels.web]\n{said}\n')
        if works:
            load(str(file), {})
        else:
            with pytest.raises(BadConfiguration):
                load(str(file), {})


async def test_behind_a_proxy_loopback_needs_a_login_too() -> None:
    """Whoever the proxy serves comes from elsewhere, though the connection is from this machine."""
    async with running(settings(trusted_proxies=("127.0.0.1",))) as site:
        assert site.token is not None
        assert (await site.get("/", allow_redirects=False))[0] == 303
