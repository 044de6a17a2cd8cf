"""The tree proves itself: who waits, who makes tasks, who imports whom, and what a quick command costs."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import rejoinder
from rejoinder import testing

HOUSE = Path(rejoinder.__file__).parent
FLOORS = ("inbound", "turns", "outbound", "rendering")
WAITING = (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)
NOT_ON_A_FLOOR = {
    "asyncio",
    "time",
    "os",
    "random",
    "secrets",
    "threading",
    "socket",
    "subprocess",
    "pathlib",
}


def files(*rooms: str) -> list[str]:
    found = [path for room in rooms for path in (HOUSE / room).rglob("*.py")]
    return sorted(str(path.relative_to(HOUSE)) for path in found)


def tree(name: str) -> ast.Module:
    return ast.parse((HOUSE / name).read_text())


def imports(name: str) -> Iterator[str]:
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize("name", files(*FLOORS))
def test_floors_never_wait(name):
    """A floor takes values and returns values: nothing in it can be awaited, and it knows no clock."""
    assert not [ast.unparse(node) for node in ast.walk(tree(name)) if isinstance(node, WAITING)]
    assert not {module.partition(".")[0] for module in imports(name)} & NOT_ON_A_FLOOR


LINES, STATEMENTS, PARAMETERS, ATTRIBUTES = 500, 60, 7, 27
"""How long a file and a function may be, how much a constructor may take, and how much an object may have."""
LONGER = {
    "outbound/reader.py: _in_text": "one state of the reader, a branch for each character that matters",
    "web/pages.py: routes": "a list of routes",
    "web/chat.py: routes": "a list of routes",
    "programs/page_services.py: page_services": "what the pages are given, field by field",
    "runtime/engine.py: __init__": "what is built on what, read from top to bottom",
    "config/describe.py: json_schema": "the frame of one document",
}
"""What is over a bar, and why. Nothing is added here that could be two ideas."""


def attributes(made: ast.ClassDef) -> set[str]:
    """What its methods set on `self`."""
    stored = (node for node in ast.walk(made) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return {node.attr for node in stored if isinstance(node.value, ast.Name) and node.value.id == "self"}


def over_the_bars(name: str) -> Iterator[str]:
    if len((HOUSE / name).read_text().splitlines()) > LINES:
        yield name
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            taken = len(node.args.posonlyargs) + len(node.args.args) - 1 + len(node.args.kwonlyargs)
            long = (node.end_lineno or 0) - node.lineno + 1 > STATEMENTS
            if long or (node.name == "__init__" and taken > PARAMETERS):
                yield f"{name}: {node.name}"
        elif isinstance(node, ast.ClassDef) and len(attributes(node)) > ATTRIBUTES:
            yield f"{name}: {node.name}"


def test_nothing_grows_into_two_ideas():
    """Files, functions, constructors and objects stay of a size that one reader holds in mind; what does not is named
    with its reason, and leaves the list when it shrinks."""
    assert {each for name in files(".") for each in over_the_bars(name)} == LONGER.keys()


SET_LATER = {
    # what belongs to a library or to Python has its own ways
    "agents/local/agent.py": {"path", "port", "api_keys", "n_ctx", "n_parallel", "verbosity", "n_threads"},
    "channels/discord/client.py": {"warn_nacl", "warn_dave", "http", "_update_references"},
    "channels/discord/connection.py": {"ws", "_max_heartbeat_timeout"},
    "cli/explain_view.py": {"no_wrap", "overflow"},
    "cli/log_lines.py": {"message"},
    "cli/parts.py": {"no_wrap", "overflow"},
    "inbound/patterns.py": {"case_sensitive", "log_errors"},
    "media/document_worker.py": {
        "connect", "getaddrinfo", "create_connection", "ignore_images", "MAX_IMAGE_PIXELS",
    },
    "programs/python_worker.py": {"stdout"},
    "rendering/markdown_parsers.py": {"line", "open"},
    "store/postgresql/wire.py": {"nonblocking"},
    "web/server.py": {"should_exit"},
    # a connection is told what its database says of itself, once it is open
    "store/postgresql/asking.py": {"shards"},
    "store/postgresql/connection.py": {"read_only"},
    "store/postgresql/store.py": {"db", "numbers", "shards"},
    "store/postgresql/whole.py": {"shards"},
    "store/postgresql/writer.py": {"touched", "shards", "numbers"},
    "store/sqlite/__init__.py": {"db", "numbers"},
    # state that changes, kept by one object and changed by its owner in the file beside it
    "config/environment.py": {"written"},
    "runtime/outbox/pacing.py": {"bucket", "frames", "until"},
}  # fmt: skip
"""What is set on an object of another file, and why it may be."""


def fields(made: ast.ClassDef) -> set[str]:
    declared = (node.target for node in made.body if isinstance(node, ast.AnnAssign))
    return attributes(made) | {target.id for target in declared if isinstance(target, ast.Name)}


def set_from_outside(name: str) -> set[str]:
    """Attributes set on anything but `self`, unless another class of the same file has them: its records are its own.
    The class that sets one does not count, as it would say `self`."""
    everything = list(ast.walk(tree(name)))
    classes = {node: fields(node) for node in everything if isinstance(node, ast.ClassDef)}
    inside = {node: made for made in classes for node in ast.walk(made)}
    stored = (node for node in everything if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    outside = (node for node in stored if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")))
    return {
        node.attr
        for node in outside
        if not any(node.attr in own for made, own in classes.items() if made is not inside.get(node))
    }


def test_an_object_is_complete_when_it_is_made():
    """Nothing is set on an object by others after it is made: what it needs is given to its constructor, what it is
    told later is a method. What is done otherwise is named, and leaves the list when it is gone."""
    product = (name for name in files(".") if not name.startswith("testing/"))
    assert {name: outside for name in product if (outside := set_from_outside(name))} == SET_LATER


WORDS_OF_OTHERS = re.compile(r"channels/[^/]+/(wire|nouns|protocol)\.py|agents/[^/]+/wire\.py|testing/|web/v1/")
"""Files in the words of a platform, a page, another process or an API: a `wire.Message` is what the platform means."""
SAME_IDEA = {
    "CanCheck": "an ability, of channels and of agents",
    "CanClose": "an ability, of channels and of agents",
    "Invitations": "what the pages are given, and who gives it",
    "Settings": "of an agent kind, and of the gateway: the record of a section",
    "WakeAfter": "a timer of a state machine",
    "Woke": "its end",
}
OF_EACH = {
    "channels": {"Account", "Api", "BotIdentity", "Cursor", "Files", "Intake", "Ok", "Places", "Refused"}
    | {"RetryingCalls", "Timings", "WebhookAddress"},
    "store": {"Connection", "PendingWrite", "Writer"},
}
"""What several platforms, or both engines, have: one in each folder, and nobody else has one."""


def test_a_class_name_means_one_thing():
    """Whoever reads a name does not have to ask from which room it comes."""
    rooms: dict[str, list[str]] = {}
    for name in files("."):
        if not WORDS_OF_OTHERS.match(name):
            for node in ast.walk(tree(name)):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    rooms.setdefault(node.name, []).append(name)
    several = {name: where for name, where in rooms.items() if len(where) > 1 and name not in SAME_IDEA}
    assert SAME_IDEA.keys() <= {name for name, where in rooms.items() if len(where) > 1}
    assert several.keys() == set.union(*OF_EACH.values())
    for room, names in OF_EACH.items():
        for name in names:
            folders = [where.split("/")[:2] for where in several[name]]
            assert all(folder[0] == room for folder in folders), name
            assert len({folder[1] for folder in folders}) == len(folders), name


RUNTIME = ["runtime", *(f"runtime/{room}" for room in ("place", "session", "answer", "outbox", "ownership"))]


@pytest.mark.parametrize("room", ["agents", "config", "events", "outbound", "rendering", *RUNTIME, "session", "turns"])
def test_a_large_room_names_its_files(room):
    """Who opens it reads in its first lines what is where."""
    told = re.findall(r"\w+", ast.get_docstring(tree(f"{room}/__init__.py")) or "")
    assert {path.stem for path in (HOUSE / room).glob("*.py")} - {"__init__", *told} == set()


def test_tasks_are_made_in_one_place():
    """Own every task: in the product, `create_task` appears in runtime/runs.py only."""
    makers = {
        name
        for name in files(".")
        if not name.startswith("testing/")
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Attribute | ast.Name)
        and (node.attr if isinstance(node, ast.Attribute) else node.id) in ("create_task", "ensure_future")
    }
    assert makers == {"runtime/runs.py"}


@pytest.mark.parametrize("name", files("runtime"))
def test_the_runtime_knows_no_concrete_edge(name):
    edges = {module for module in imports(name) if module.split(".")[1:2] in (["channels"], ["agents"], ["store"])}
    assert edges <= {"rejoinder.channels.base", "rejoinder.agents.base", "rejoinder.store.base"}


@pytest.mark.parametrize("room", ["channels", "agents"])
def test_concrete_edges_do_not_know_each_other(room):
    """A file that opens a channel imports no other such file; agents likewise. What they share is no edge."""
    edges = {
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in files(room)
        if any(isinstance(node, ast.FunctionDef) and node.name.startswith("open_") for node in tree(name).body)
    }
    known = {
        (edge, module)
        for edge in edges
        for name in files(room)
        if name.removesuffix(".py").replace("/", ".").startswith(edge)
        for module in imports(name)
        if module.removeprefix("rejoinder.") in edges - {edge}
    }
    assert not known


@pytest.mark.parametrize("module", [rejoinder, testing], ids=lambda module: module.__name__)
def test_every_public_name_is_there(module):
    """Names that are imported when they are first used are the public ones, and those."""
    assert {*module._HOME} == {*module.__all__} - {"__version__"}
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_an_unknown_name_says_what_there_is():
    with pytest.raises(AttributeError, match=r"there are: .*read_reply"):
        _ = rejoinder.read_replies


HEAVY = (
    "prompt_toolkit",
    "aiohttp",
    "starlette",
    "uvicorn",
    "discord",
    "slack_bolt",
    "nio",
    "emoji",
    "sqlite3",
)


@pytest.mark.parametrize(
    "command", [["--help"], ["--version"], ["chat", "--help"], ["explain", "--help"], ["dead", "--help"]]
)
def test_a_quick_command_imports_nothing_heavy(command):
    """No channel SDK, web server or terminal library is paid for by a command that does not use it."""
    program = f"""
import sys
from rejoinder.cli import main
sys.argv = ["rejoinder", *{command!r}]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(*sorted({{name.partition(".")[0] for name in sys.modules}} & set({HEAVY!r})), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.split() == []
