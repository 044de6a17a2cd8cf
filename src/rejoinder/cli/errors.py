"""The one place where an error becomes a sentence and an exit status.

0    success
1    something failed
2    wrong usage or bad configuration
130  Ctrl-C, 141 closed pipe, 143 SIGTERM: the shell's own numbers, and nothing is printed
"""

import os
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from typer.core import TyperGroup

from rejoinder.cli import INTERRUPTED as INTERRUPTED
from rejoinder.errors import BadConfiguration, BadUse, RejoinderError

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

T = TypeVar("T")

FAILED, WRONG_USE = 1, 2
UNREAD, TERMINATED = 141, 143


class ErrorReportingGroup(TyperGroup):
    """Every command is called through here, so none has to catch anything itself."""

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        try:
            return super().make_context(*arguments, **more)
        except Exception as error:
            _say_misuse(error)
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if self.get_command(ctx, args[0]) is None:
            from rejoinder.config.wording import did_you_mean

            there = ", ".join(self.list_commands(ctx))
            raise BadUse(
                f"there is no command {args[0]!r}; {did_you_mean(args[0], self.commands, f'there are: {there}')}"
            )
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (BadUse, BadConfiguration) as error:
            _say(error)
            sys.exit(WRONG_USE)
        except RejoinderError as error:
            _say(error)
            sys.exit(FAILED)
        except UnicodeEncodeError:
            if not any(map(_is_no_text, sys.argv)):
                raise
            _say(BadUse("an argument is not valid UTF-8 text; copy it as rejoinder prints it"))
            sys.exit(WRONG_USE)
        except BrokenPipeError:
            # Python flushes stdout once more when it ends, and would complain about it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(UNREAD)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)
        except BaseException as error:
            from asyncio import CancelledError  # importing it costs a tenth of a short command, so only here

            if isinstance(error, Exception):
                _say_misuse(error)
            if not isinstance(error, CancelledError):
                raise
            sys.exit(TERMINATED)


def _say_misuse(error: Exception) -> None:
    """Prints the library's error about a command line in our own form: one line, even in a pipe."""
    words, ctx = getattr(error, "format_message", None), getattr(error, "ctx", None)
    if words is None or type(error).__name__ == "NoArgsIsHelpError":  # the help was printed instead
        return
    sentence = words().rstrip(".")
    for kind in ("int range", "int"):
        sentence = sentence.replace(f"is not a valid {kind}", "is not a whole number")
    command = "rejoinder" if ctx is None else ctx.command_path
    _say(BadUse(f"{sentence[0].lower()}{sentence[1:]}; see `{command} --help`"))
    sys.exit(WRONG_USE)


def _is_no_text(argument: str) -> bool:
    return argument != argument.encode("utf-8", "replace").decode()


def _say(error: RejoinderError) -> None:
    from rejoinder.unicode_repair import harmless

    print(f"rejoinder: {harmless(str(error))}", file=sys.stderr)


def run(work: Coroutine[Any, Any, T], new_loop: "Callable[[], AbstractEventLoop] | None" = None) -> T:
    """Runs it to its end, or until SIGTERM or SIGHUP ends it cleanly."""
    import asyncio

    from rejoinder.cli import process_end
    from rejoinder.cli.log_lines import format_last_resort

    format_last_resort()

    async def until_told() -> T:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().set_default_executor(process_end.UnwaitedExecutor())
        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        return await work

    runner = asyncio.Runner(loop_factory=new_loop)
    try:
        return runner.run(until_told())
    finally:
        process_end.close(runner)
