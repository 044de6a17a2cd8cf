"""How an answer ends, once its agent has ended (OD-41, OD-44, OD-45)."""

from typing import Literal

Ending = Literal["words", "silence", "repetition", "no response", "actions"]
"""What is left of it: its words; silence that the agent chose; a heartbeat's words of the last day, which are not said
again; nothing, where somebody waits for an answer and is told so; what it did, or nothing that anybody waits for."""


def ending_of(*, silent: bool, has_words: bool, repeats: bool, acted: bool, waited_for: bool) -> Ending:
    """`silent`: the agent has asked for silence. `repeats`: its words were said within the last day. `acted`: it has
    asked for something besides the shape of the reply. `waited_for`: somebody is to get an answer."""
    if silent:
        return "silence"
    if has_words:
        return "repetition" if repeats else "words"
    return "no response" if waited_for and not acted else "actions"


def silence_is_noted(*, heartbeat: bool, waited_for: bool, among_agents: bool) -> bool:
    """Whether the operator is told of a silence: in a heartbeat it is normal, and among agents where nobody waits."""
    return not heartbeat and (waited_for or not among_agents)
