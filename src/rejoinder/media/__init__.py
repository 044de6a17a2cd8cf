"""EDGE: the guarded ways between an agent's files and the chats."""
