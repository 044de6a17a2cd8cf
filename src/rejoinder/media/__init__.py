"""Edge: the guarded ways for files, voice and links between agents and chats."""
