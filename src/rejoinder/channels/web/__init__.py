"""The chat page as a platform of its own: a durable room log, sockets that resume, a channel on top."""
