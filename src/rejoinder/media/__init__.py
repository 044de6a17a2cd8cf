"""EDGE: the guarded doors between an agent's files and the chats."""
