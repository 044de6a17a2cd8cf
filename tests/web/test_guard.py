"""Who is kept out: other sites, other names, who has no token, what is too large, what points elsewhere."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from types import SimpleNamespace

import aiohttp
import pytest
import yarl

from rejoinder.errors import BadUse
from rejoinder.programs.serving import serve
from rejoinder.secret import Secret
from rejoinder.testing.patience import PATIENCE
from rejoinder.web import throttle
from rejoinder.web.server import LARGEST_FRAME
from tests.web.running import Site, running, settings

EVIL = "http://evil.example"


async def status_of_socket(site: Site, path: str = "/socket", **headers: str) -> int:
    try:
        async with site.http.ws_connect(site.url + path, headers=headers):
            return 101
    except aiohttp.WSServerHandshakeError as refused:
        return refused.status


@pytest.mark.parametrize("path", ["/socket", "/console/socket"])
async def test_no_other_site_opens_a_socket(path):
    """Cross-site WebSocket hijacking: refused before it is accepted."""
    async with running(settings()) as site:
        port = site.url.rpartition(":")[2]
        assert await status_of_socket(site, path, Origin=EVIL) == 403
        assert await status_of_socket(site, path, Origin="null") == 403
        assert await status_of_socket(site, path, Origin=f"http://localhost.evil.example:{port}") == 403
        assert await status_of_socket(site, path, Origin=f"http://127.0.0.1:{int(port) + 1}") == 403
        assert await status_of_socket(site, path, Origin=site.url) == 101
        assert await status_of_socket(site, path) == 101, "a program sends no origin"


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "[::1"])
async def test_no_other_name_leads_here(host):
    """DNS rebinding: the page of another name is not ours, whoever points it here."""
    async with running(settings()) as site:
        assert (await site.get("/", headers={"Host": host}))[0] in (400, 421)
        assert await status_of_socket(site, Host=host, Origin=f"http://{host}") in (400, 403)


async def test_who_comes_by_another_name_is_told_what_to_do():
    """A program reads JSON, a person a sentence."""
    why = "this server does not answer to the name 'mybox'; if it should, add it to channels.web.hosts"
    async with running(settings()) as site:
        assert await site.get("/", headers={"Host": "mybox"}) == (421, {"error": why})
        assert await site.get("/", headers={"Host": "mybox", "Accept": "text/html"}) == (421, f"{why}\n")


async def test_our_names_lead_here():
    async with running(settings(hosts=("chat.example",))) as site:
        for host in ("localhost", "localhost:1", "127.0.0.1", "[::1]:8765", "CHAT.example"):
            assert (await site.get("/health", headers={"Host": host}))[0] == 200


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/api/outbox/1/retry", {"Origin": EVIL, "X-Rejoinder": "1"}),
        ("/api/outbox/1/retry", {"Sec-Fetch-Site": "cross-site", "X-Rejoinder": "1"}),
        ("/api/outbox/1/retry", {"Sec-Fetch-Site": "same-site", "X-Rejoinder": "1"}),
        ("/api/outbox/1/retry", {}),
        ("/api/pairing/ABC/approve", {"Origin": EVIL}),
        ("/files?name=x", {"Origin": EVIL, "X-Rejoinder": "1"}),
        ("/files?name=x", {}),
        ("/v1/chat/completions", {"Origin": EVIL}),
        ("/login", {"Origin": EVIL}),
    ],
)
async def test_no_other_site_changes_anything(path, headers):
    """CSRF: the origin is checked on every request that changes something, and our own header besides."""
    async with running(settings()) as site:
        assert (await site.post(path, data=b"x", headers=headers))[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/..%2fserver.py",
        "/static/%2e%2e/%2e%2e/app.py",
        "/static//etc/passwd",
        "/static/....//server.py",
        "/static/..%5cserver.py",
        "/static/index.html%00",
        "/files/../../etc/passwd",
        "/files/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    ],
)
async def test_no_path_leads_out(path):
    """What can be asked for is a list; nothing of a path reaches the file system."""
    async with running(settings()) as site, site.http.get(yarl.URL(site.url + path, encoded=True)) as answer:
        assert answer.status == 404
        assert b"import" not in await answer.read()


@pytest.mark.parametrize(
    ("path", "size"), [("/files?name=x", 21 << 20), ("/v1/chat/completions", 21 << 20), ("/login", 5 << 20)]
)
async def test_a_body_that_says_it_is_too_large_is_never_read(path, size):
    """The answer is there before a byte of the body was sent."""
    async with running(settings()) as site:
        reader, writer = await asyncio.open_connection(*site.url.removeprefix("http://").split(":"))
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nX-Rejoinder: 1\r\nContent-Length: {size}\r\n\r\n"
        writer.write(head.encode())
        async with asyncio.timeout(PATIENCE):
            assert (await reader.readline()).startswith(b"HTTP/1.1 413")
        writer.close()
        await writer.wait_closed()


async def test_a_body_that_never_ends_is_cut_off():
    """Without a length it is counted while it comes."""
    async with running(settings()) as site:
        sent = 0

        async def endless() -> AsyncIterator[bytes]:
            nonlocal sent
            while sent < 200 << 20:
                sent += 1 << 16
                yield b"x" * (1 << 16)

        with suppress(aiohttp.ClientConnectionError):  # it may hang up on who goes on sending
            assert (await site.post("/files?name=x", data=endless(), headers={"X-Rejoinder": "1"}))[0] == 413
        assert sent < 100 << 20
        assert (await site.get("/health"))[0] == 200


async def test_a_large_frame_ends_the_socket():
    async with running(settings()) as site, site.page() as page:
        await page.socket.send_str("x" * (LARGEST_FRAME + 1))
        assert (await page.socket.receive()).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)


async def test_pages_carry_the_headers():
    """No inline script, no frame, no sniffing."""
    async with running(settings()) as site, site.http.get(site.url + "/") as answer:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"


# --- login ------------------------------------------------------------------------------------------


async def test_beyond_loopback_a_token_is_needed(tmp_path):
    """Printed once, kept as a hash; without it nothing but health and the login page is told."""
    made = settings(host="0.0.0.0", store=f"sqlite:{tmp_path}/rejoinder.db")
    async with running(made) as site:
        token = site.token
        assert token is not None
        assert "Other machines reach both at this machine's address, on the same port." in site.said
        for path in ("/console", "/metrics", "/api/sessions", "/v1/models", "/files/x"):
            assert (await site.get(path, allow_redirects=False))[0] in (401, 303)
            assert (await site.get(path, allow_redirects=False, headers={"Accept": "text/html"}))[0] == 303
        assert await status_of_socket(site) == 403
        assert (await site.get("/health"))[0] == 200
        assert (await site.get("/v1/models", headers={"Authorization": f"Bearer {token}"}))[0] == 200
        assert (await site.get("/v1/models", headers={"Authorization": "Bearer wrong"}))[0] == 401
        async with site.http.post(site.url + "/login", data={"token": token}, allow_redirects=False) as answer:
            cookie = answer.headers["set-cookie"].casefold()
            assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/"))
    for file in tmp_path.iterdir():
        assert token.encode() not in file.read_bytes()
    async with running(made) as site:
        assert site.token is None, "it is shown once"
        assert (await site.get("/v1/models", headers={"Authorization": f"Bearer {token}"}))[0] == 200


@pytest.mark.parametrize(
    ("to", "place", "again"),
    [
        ("", "/", "/login?wrong"),
        ("?to=console", "/console", "/login?to=console&wrong"),
        ("?to=/evil.example", "/", "/login?wrong"),
        ("?to=files/x", "/", "/login?wrong"),
    ],
)
async def test_a_login_leads_to_our_own_pages_alone(to, place, again):
    async with running(settings(token=Secret("right"))) as site:
        for token, location in (("right", place), ("wrong", again)):
            data = {"token": token}
            async with site.http.post(f"{site.url}/login{to}", data=data, allow_redirects=False) as answer:
                assert answer.headers["location"] == location


async def test_a_cookie_opens_the_pages_and_cannot_be_made():
    async with running(settings(host="0.0.0.0")) as site:
        async with site.http.get(f"{site.url}/login?token={site.token}", allow_redirects=False) as answer:
            assert answer.headers["location"] == "/"
            cookie = answer.cookies["rejoinder_login"].value
        for value, status in ((cookie, 101), ("9999999999.00", 403), (cookie[:-1] + "ü", 403), ("x", 403)):
            site.http.cookie_jar.clear()
            assert await status_of_socket(site, Cookie=f"rejoinder_login={value}") == status


async def test_guessing_is_slow_and_locks_nobody_out(monkeypatch):
    """Wrong tokens are answered late and with 429 after ten in a minute; the right one is never refused."""
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    async with running(settings(host="0.0.0.0")) as site:
        monkeypatch.setattr(throttle, "asyncio", SimpleNamespace(sleep=wait))
        guess, right = {"Authorization": "Bearer guess"}, {"Authorization": f"Bearer {site.token}"}
        assert [(await site.get("/v1/models", headers=guess))[0] for _ in range(10)] == [401] * 10
        assert not waited
        assert (await site.get("/v1/models", headers=guess))[0] == 429
        assert waited == [throttle.PENALTY]
        assert (await site.get("/v1/models", headers=right))[0] == 200
        async with site.http.post(site.url + "/login", data={"token": site.token}, allow_redirects=False) as answer:
            assert "rejoinder_login" in answer.cookies
        assert len(waited) == 1


async def test_a_token_of_the_configuration_is_changed_there():
    """Whoever asks for a new one must not believe that the old one has stopped working."""
    with pytest.raises(BadUse, match=r"in the configuration \(channels\.web\.token\): --new-token cannot change it"):
        await serve(settings(token=Secret("open sesame")), print, new_token=True)


async def test_a_token_of_the_configuration():
    async with running(settings(token=Secret("open sesame"))) as site:
        assert site.token is None
        assert site.said[-1] == "Log in with the token of the configuration (channels.web.token)."
        assert (await site.get("/v1/models"))[0] == 401
        assert (await site.get("/v1/models", headers={"Authorization": "Bearer open sesame"}))[0] == 200
        for sent in ({"token": "open sesame"}, b"token=open sesame\r\n"):  # a program's form, and the page's own
            async with site.http.post(site.url + "/login", data=sent, allow_redirects=False) as answer:
                assert "rejoinder_login" in answer.cookies, sent
