"""What rejoinder is tested with, shipped: test your own bots, channels and agents with the same.

Names are imported when first used, so that nobody pays for a fake they do not use.
"""

from importlib import import_module

_HOME = {
    "AgentContract": "rejoinder.testing.contracts",
    "ModelServer": "rejoinder.testing.model_server",
}


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"rejoinder.testing has no name {name!r}; there are: {', '.join(sorted(_HOME))}")
