"""The server of the pages: chat, console, `/api`, `/v1`, health, metrics. `programs` opens it; it imports no floor."""
