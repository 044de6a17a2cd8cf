"""A hostile server of ours, to which the guarded loader is led in place of the public internet."""

from contextlib import asynccontextmanager

from aiohttp import web

from rejoinder.media.guarded_client import Connect, GuardedClient

PUBLIC = "93.184.216.34"


class Local(Connect):
    """Leads connections to public addresses to a server of ours, without TLS, and remembers where they were to go."""

    def __init__(self, port):
        self.port = port
        self.went = []

    def requested(self, url):
        return url.replace("https://", "http://", 1)

    def session(self, addresses):
        self.went.append(addresses)
        return super().session(["127.0.0.1"])


@asynccontextmanager
async def hostile(handle, names=None):
    """`names`: what each name leads to, one list of addresses after the other."""
    seen = []

    async def answer(request):
        seen.append(request)
        return await handle(request)

    app = web.Application()
    app.router.add_get("/{tail:[\\s\\S]*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1, auto_decompress=False)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    connect = Local(runner.addresses[0][1])

    async def resolve(host):
        leads = (names or {}).get(host, [[PUBLIC]])
        return leads.pop(0) if len(leads) > 1 else leads[0]

    try:
        yield GuardedClient(resolve, connect), connect, seen
    finally:
        await runner.cleanup()
