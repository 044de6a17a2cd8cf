"""`/exec`: where the agent's commands run, and who has to approve them (IN-53)."""

from collections.abc import Iterator
from typing import get_args

from msgspec.structs import replace

from rejoinder.inbound.directives.argument import Argument, Bad, Good, Word, one_of, option, quoted
from rejoinder.session import ExecAsk, ExecChoice, ExecHost, ExecSecurity

OPTIONS: dict[str, tuple[str, ...]] = {
    "host": get_args(ExecHost),
    "security": get_args(ExecSecurity),
    "ask": get_args(ExecAsk),
    "node": (),  # any id
}


def usage(*, takes_host: bool, has_list: bool) -> str:
    """What can be set; the place where commands run and the allow-list only for an agent that supports them."""
    offered = {key: values for key, values in OPTIONS.items() if takes_host or key not in ("host", "node")}
    if not has_list:
        offered["security"] = tuple(value for value in OPTIONS["security"] if value != "allowlist")
    return " ".join(f"{key}={'|'.join(values) or '<id>'}" for key, values in offered.items())


def read_exec(words: Iterator[Word]) -> Argument:
    choice, end, problem = ExecChoice(), None, None
    for word in words:
        pair = option(word.text)
        if pair is None or pair[0] not in OPTIONS:
            break
        key, value = pair
        valid = OPTIONS[key]
        chosen = value.lower() if valid else value
        if chosen and (not valid or chosen in valid):
            choice = replace(choice, **{key: chosen})
        else:
            problem = problem or f"exec {key} cannot be {quoted(value)}; {one_of(valid or ('<id>',))}"
        end = word.end
    if end is None:
        return None
    return Bad(problem, end) if problem else Good(choice, end)
