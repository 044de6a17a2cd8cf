"""The server of the pages: chat, console, `/api`, `/v1`, health, metrics. The wiring opens it; it imports no floor."""
