"""A package of somebody else: a channel, an agent kind, a store engine, a directive, a command and hooks."""
