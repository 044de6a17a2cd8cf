"""Every error rejoinder raises on purpose, and what to do about each.

    RejoinderError              something the operator can understand and mend
    +-- BadUse                  the command line or an argument is wrong: exit status 2
    +-- BadConfiguration        the configuration is wrong: file, line, key and the fix; exit status 2

The message is the help: what, where, what to do. No traceback reaches a user.
"""


class RejoinderError(Exception):
    """Base of all; its text is one clear sentence for the person who runs rejoinder."""


class BadUse(RejoinderError):
    """Never retry: the call itself is wrong."""


class BadConfiguration(RejoinderError):
    """Never retry: the configuration has to be changed first."""
