"""The tree proves itself: who waits, who makes tasks, who imports whom, and what a quick command costs."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import grimp
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


def files(*rooms: str, house: Path = HOUSE) -> list[str]:
    found = [path for room in rooms for path in (house / room).rglob("*.py")]
    return sorted(str(path.relative_to(house)) for path in found)


def tree(name: str, house: Path = HOUSE) -> ast.Module:
    return ast.parse((house / name).read_text())


def imports(name: str, house: Path = HOUSE) -> Iterator[str]:
    """What a file imports. What it takes from a package may be a module, too."""
    for node in ast.walk(tree(name, house)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}: an import names the whole way"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_in(module: str, package: str) -> bool:
    """Whether it is the package, or anything below it."""
    return module == package or module.startswith(f"{package}.")


def module_of(name: str) -> str:
    return "rejoinder." + name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@pytest.mark.parametrize("name", files(*FLOORS))
def test_floors_never_wait(name):
    """A floor takes values and returns values: nothing in it can be awaited, and it knows no clock."""
    assert not [ast.unparse(node) for node in ast.walk(tree(name)) if isinstance(node, WAITING)]
    assert not {module.partition(".")[0] for module in imports(name)} & NOT_ON_A_FLOOR


LINES, STATEMENTS, PARAMETERS, ATTRIBUTES = 500, 60, 7, 25
"""How long a file and a function may be, how much a constructor may take, and how much an object may have."""
LONGER = {
    "outbound/reader.py: _in_text": "one state of the reader, a branch for each character that matters",
    "web/pages.py: routes": "a list of routes",
    "web/chat.py: routes": "a list of routes",
    "programs/page_services.py: page_services": "what the pages are given, field by field",
    "config/describe.py: json_schema": "the frame of one document",
    "events/inbound.py: Inbound": "what a channel knows of an event, fact by fact; most have few of them",
}
"""What is over a bar, and why. Nothing is added here that could be two ideas."""


def set_on_self(made: ast.AST) -> set[str]:
    """What a class or a function sets on `self`."""
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
        elif isinstance(node, ast.ClassDef) and len(fields(node)) > ATTRIBUTES and not WORDS_OF_OTHERS.match(name):
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
    "store/postgresql/pipelined_reader.py": {"shards"},
    "store/postgresql/connection.py": {"read_only"},
    "store/postgresql/store.py": {"db", "numbers", "shards"},
    "store/postgresql/whole.py": {"shards"},
    "store/sqlite/store.py": {"db", "shards"},
    # state that changes, kept by one object and changed by its owner in the file beside it
    "config/environment.py": {"written"},
    "runtime/outbox/pacing.py": {"bucket", "frames", "until"},
    # the same within one file, of a class that also does something: counts, marks and results, never a callback
    "agents/python/process.py": {"is_over"},
    "channels/slack/socket_mode.py": {"unacknowledged"},
    "channels/terminal/transcript.py": {"growing", "text"},
    "listener.py": {"requests", "since", "transport"},
    "runtime/session/run.py": {"asking", "last_seen"},
    "store/postgresql/pipelined.py": {"owner", "given", "wanted"},
    "store/postgresql/writer.py": {"shards", "numbers", "result", "error", "queued", "is_careful"},
    "store/sqlite/writer.py": {"result", "error"},
    "web/bodies.py": {"held"},
}  # fmt: skip
"""What is set on an object that is no record of the same file, and why it may be."""


def fields(made: ast.ClassDef) -> set[str]:
    declared = (node.target for node in made.body if isinstance(node, ast.AnnAssign))
    return set_on_self(made) | {target.id for target in declared if isinstance(target, ast.Name)}


def is_record(made: ast.ClassDef) -> bool:
    """It has values and perhaps a constructor, but nothing that it does: others change it."""
    functions = (node for node in made.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return all(node.name == "__init__" or node.decorator_list for node in functions)


def set_from_outside(name: str) -> set[str]:
    """Attributes set on anything but `self`, unless another class of the same file has them and does nothing itself:
    a file's records are its own. The class that sets one does not count, as it would say `self`."""
    everything = list(ast.walk(tree(name)))
    classes = {
        node: fields(node) if is_record(node) else set() for node in everything if isinstance(node, ast.ClassDef)
    }
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


SET_BY_ITSELF_LATER = {
    "alarms.py: timeout": {"_alarm", "_cancelling", "_task"},  # a block sets what it needs when it is entered
    "crashpoint.py: calling": {"_before"},
    "channels/discord/http.py: SingleAttemptClient": {"connector"},  # a library's class asks for it
    "channels/web/channel.py: WebChannel": {"journal"},  # the ability `UsesStore` brings it
    "runtime/session/run_driver.py: RunDriver": {"run", "_offering"},  # the lane that is made of it has them
}
"""What an object sets on itself that its constructor has not set, and why it may."""
CONSTRUCTORS = ("__init__", "__post_init__")


def called_on_self(function: ast.AST) -> set[str]:
    calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    own = (each for each in calls if isinstance(each, ast.Attribute) and ast.unparse(each.value) in ("self", "super()"))
    return {each.attr for each in own}


def functions_of(made: ast.ClassDef) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in made.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def set_at_first(line: list[ast.ClassDef]) -> set[str]:
    """What the classes of one line of inheritance have from the beginning: the values of their bodies, and what their
    constructors set, also by methods that these call. A bare annotation is a field of a record, and else no value."""
    is_struct = any(ast.unparse(base) == "Struct" for made in line for base in made.bases)
    there, left, done = set[str](), [*CONSTRUCTORS], set[str]()
    for made in line:
        for node in made.body:
            if isinstance(node, ast.Assign):
                there |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                there |= {node.target.id} if is_struct or node.value is not None else set()
    while left:
        done.add(name := left.pop())
        for function in (each for made in line for each in functions_of(made) if each.name == name):
            there |= set_on_self(function)
            left += called_on_self(function) - done
    return there


def set_later(names: list[str]) -> dict[str, set[str]]:
    """Attributes that a class sets on `self`, and has not from the beginning."""
    classes = [(name, node) for name in names for node in ast.walk(tree(name)) if isinstance(node, ast.ClassDef)]
    by_name: dict[str, list[ast.ClassDef]] = {}
    for _, made in classes:
        by_name.setdefault(made.name, []).append(made)

    def line_of(made: ast.ClassDef) -> list[ast.ClassDef]:
        bases = [ast.unparse(base).partition("[")[0] for base in made.bases]
        known = [each for base in bases for each in by_name.get(base, []) if each is not made]
        return [made, *(each for base in known for each in line_of(base))]

    found: dict[str, set[str]] = {}
    for name, made in classes:
        setters = {each.name for each in functions_of(made) if each.decorator_list}
        if later := set_on_self(made) - set_at_first(line_of(made)) - setters:
            found[f"{name}: {made.name}"] = later
    return found


def test_an_object_has_from_the_beginning_what_it_will_have():
    """Nobody asks with `hasattr` whether an object is ready: what comes later is one value that may be None, or another
    object, made in one step."""
    product = [name for name in files(".") if not name.startswith("testing/")]
    assert set_later(product) == SET_BY_ITSELF_LATER
    asked = {name for name in product if re.search(r"hasattr\(self\b", (HOUSE / name).read_text())}
    assert asked == set()


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


def renamed_classes(name: str) -> set[str]:
    """Classes of ours that a file calls otherwise than they are called, unless only a word is put before the name."""
    taken = [
        node for node in ast.walk(tree(name)) if isinstance(node, ast.ImportFrom) and is_in(node.module, "rejoinder")
    ]
    renamed = [(alias.name, alias.asname) for node in taken for alias in node.names if alias.asname]
    classes = [(own, called) for own, called in renamed if own[0].isupper() and not own.isupper()]
    return {f"{own} as {called}" for own, called in classes if not called.endswith(own)}


def test_a_class_has_one_name():
    """Whoever searches for a class finds all who use it."""
    found = {
        name: renamed for name in files(".") if not name.startswith("testing/") and (renamed := renamed_classes(name))
    }
    assert found == {}


RUNTIME = ["runtime", *(f"runtime/{room}" for room in ("place", "session", "answer", "outbox", "ownership"))]


@pytest.mark.parametrize("room", ["agents", "config", "events", "outbound", "rendering", *RUNTIME, "session", "turns"])
def test_a_large_room_names_its_files(room):
    """Who opens it reads in its first lines what is where; a kind says so itself, by its declaration."""
    told = re.findall(r"\w+", ast.get_docstring(tree(f"{room}/__init__.py")) or "")
    kinds = {kind.rpartition(".")[2] for kind in edges(room)} if room in DECLARES else set()
    assert {path.stem for path in (HOUSE / room).glob("*.py")} - {"__init__", *told} - kinds == set()


def test_tasks_are_made_in_one_place():
    """Own every task: in the product, `create_task` appears in runtime/tasks.py only."""
    makers = {
        name
        for name in files(".")
        if not name.startswith("testing/")
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Attribute | ast.Name)
        and (node.attr if isinstance(node, ast.Attribute) else node.id) in ("create_task", "ensure_future")
    }
    assert makers == {"runtime/tasks.py"}


DECLARES = {"channels": "CHANNEL", "agents": "AGENT", "store": "STORE"}
"""The rooms of edges, and the name under which each of their kinds declares itself."""
BASES = tuple(f"rejoinder.{room}.base" for room in DECLARES)


def edges(room: str, house: Path = HOUSE) -> set[str]:
    """The kinds of a room: a file or a folder each, however many files it has."""
    tops = {name for name in files(room, house=house) if name.removesuffix("/__init__.py").count("/") == 1}
    return {module_of(name) for name in tops if DECLARES[room] in assigned(tree(name, house))}


def assigned(module: ast.Module) -> set[str]:
    named = (node for top in module.body for node in ast.walk(top) if isinstance(top, ast.Assign | ast.AnnAssign))
    return {node.id for node in named if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def acquaintances(room: str, house: Path = HOUSE) -> set[tuple[str, str]]:
    """Which file of a room imports anything of a kind that it is no part of."""
    kinds = edges(room, house)
    return {
        (name, kind)
        for name in files(room, house=house)
        for module in imports(name, house)
        for kind in kinds
        if is_in(module, kind) and not is_in(module_of(name), kind)
    }


@pytest.mark.parametrize("name", files("runtime"))
def test_the_runtime_knows_no_concrete_edge(name):
    known = {module for module in imports(name) if any(is_in(module, f"rejoinder.{room}") for room in DECLARES)}
    assert {module for module in known if not any(is_in(module, base) for base in BASES)} == set()


MADE_OF = {("agents/cast_lines.py", "rejoinder.agents.tour")}
"""The cast of the demo is no kind: it does the tricks of the tour, and no kind knows it."""


@pytest.mark.parametrize("room", DECLARES)
def test_concrete_edges_do_not_know_each_other(room):
    """Nothing of a kind imports anything of another, nor does what they share: it would bring one to all others."""
    assert acquaintances(room) - MADE_OF == set()


def test_an_acquaintance_is_noticed_at_any_depth(tmp_path):
    """A test of the check above: it looks into folders, at what is imported late, and at modules that are taken from
    their package by name. A name that only begins alike is another's."""
    written = {
        "channels/base.py": "import asyncio",
        "channels/web/__init__.py": "from rejoinder.channels.base import Channel\nCHANNEL = 1",
        "channels/web/room.py": "from rejoinder.channels.web.text import plain",
        "channels/web/text.py": "def plain():\n    from rejoinder.channels.slack.text import escape",
        "channels/slack/__init__.py": "import rejoinder.channels.slacker.text\nCHANNEL = 1",
        "channels/slack/text.py": "from rejoinder.channels import telegram, together",
        "channels/slack/deep/er.py": "import rejoinder.channels.web as page",
        "channels/telegram.py": "from rejoinder.channels.web import CHANNEL as pages\nCHANNEL: int = 1",
        "channels/together.py": "from rejoinder.channels.telegram import Bot",
        "channels/slacker/text.py": "CHANNEL = 'no kind: it is not what the folder declares'",
    }
    for name, text in written.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert edges("channels", tmp_path) == {f"rejoinder.channels.{kind}" for kind in ("web", "slack", "telegram")}
    assert acquaintances("channels", tmp_path) == {
        ("channels/web/text.py", "rejoinder.channels.slack"),
        ("channels/slack/text.py", "rejoinder.channels.telegram"),
        ("channels/slack/deep/er.py", "rejoinder.channels.web"),
        ("channels/telegram.py", "rejoinder.channels.web"),
        ("channels/together.py", "rejoinder.channels.telegram"),
    }


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("rejoinder", cache_dir=None)


def strangers(graph: grimp.ImportGraph, *layers: grimp.Layer) -> set[tuple[str, str]]:
    """Who knows whom against the layers, over however many corners."""
    found = graph.find_illegal_dependencies_for_layers(layers=layers)
    return {(each.importer, each.imported) for each in found}


@pytest.mark.parametrize("room", DECLARES)
def test_no_kind_knows_another_over_any_corner(room, graph):
    """The kinds are found, not listed, so a new one is held to it too; and nobody in the runtime reaches one."""
    kinds = edges(room)
    assert len(kinds) > 1
    assert strangers(graph, grimp.Layer(*kinds, independent=True)) == set()
    assert strangers(graph, grimp.Layer(*kinds, independent=True), grimp.Layer("rejoinder.runtime")) == set()
    if room == "agents":
        kinds -= {"rejoinder.agents.tour"}  # the cast of the demo builds on it
        cast = grimp.Layer("rejoinder.agents.cast", "rejoinder.agents.cast_lines", independent=False)
        assert strangers(graph, cast, grimp.Layer(*kinds, independent=True)) == set()


def test_a_way_over_corners_is_noticed(graph):
    """A test of the check above."""
    two = ("rejoinder.channels.web", "rejoinder.agents.tour")
    known = deepcopy(graph)
    known.add_import(importer="rejoinder.channels.web.nouns", imported="rejoinder.corner")
    known.add_import(importer="rejoinder.corner", imported="rejoinder.agents.tour.guide")
    assert strangers(known, grimp.Layer(*two, independent=True)) == {two}


@pytest.mark.parametrize("module", [rejoinder, testing], ids=lambda module: module.__name__)
def test_every_public_name_is_there(module):
    """Names that are imported when they are first used are the public ones, and those."""
    assert {*module._HOME} == {*module.__all__} - {"__version__"}
    for name in module.__all__:
        assert getattr(module, name) is not None


PLATFORM_CALLS = (
    *("acknowledge_press", "append", "begin", "complete", "edit", "fetch", "find", "find_files", "find_opening"),
    *("notify_operator", "preview", "react", "send", "send_files", "show_transcript", "stop_typing", "thread_before"),
    "typing",
)
GUARDED_BY_CALLER = {
    ("outbox/performing.py", "perform"): "by the attempt, all of it",
    ("outbox/performing.py", "send_files"): "the same",
    ("outbox/performing.py", "_change"): "the same",
    ("outbox/performing.py", "_amend"): "the same",
    ("outbox/performing.py", "_remove"): "the same",
    ("outbox/delivery_attempt.py", "_find_opening"): "by `_look`",
    ("answer/drafting.py", "_edit"): "by the rotation, each step of a draft",
    ("answer/drafting.py", "_preview"): "the same",
    ("answer/drafting.py", "_feed"): "the same",
}
CHECKED_BY_CALLER = {
    ("outbox/performing.py", "perform"): "right before it, by the attempt",
    ("outbox/performing.py", "_change"): "by `perform`, after its last wait",
    ("outbox/performing.py", "_amend"): "the same; before the second call here",
    ("outbox/delivery_attempt.py", "_find_opening"): "by `_look`; what it reads before is short",
    ("answer/drafting.py", "_edit"): "by `_show`, which awaits the call",
    ("answer/drafting.py", "_preview"): "the same",
}


def platform_calls() -> Iterator[tuple[str, ast.AsyncFunctionDef, ast.Call]]:
    """Each with the file and the function it is in."""
    for name in files("runtime"):
        for function in (node for node in ast.walk(tree(name)) if isinstance(node, ast.AsyncFunctionDef)):
            for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
                if not isinstance(called := call.func, ast.Attribute) or called.attr not in PLATFORM_CALLS:
                    continue
                whose = (
                    called.value.attr if isinstance(called.value, ast.Attribute) else getattr(called.value, "id", "")
                )
                if whose in ("channel", "_channel", "able"):
                    yield name.removeprefix("runtime/"), function, call


def test_every_call_of_a_platform_asks_for_the_lease_first():
    """SC-3: in the function that makes it, before it; where that is done elsewhere, it is named."""
    unasked = set[tuple[str, str]]()
    for name, function, call in platform_calls():
        checks = (node for node in ast.walk(function) if isinstance(node, ast.Attribute) and node.attr == "check")
        if call.lineno < min((node.lineno for node in checks), default=sys.maxsize):
            unasked.add((name, function.name))
    assert unasked == {*CHECKED_BY_CALLER}


def test_every_call_of_a_platform_is_guarded():
    """A channel may be another package's: in the function that calls it; where that is done elsewhere, it is named."""
    unguarded = set[tuple[str, str]]()
    for name, function, _ in platform_calls():
        if not any(isinstance(node, ast.Name) and node.id == "guarded" for node in ast.walk(function)):
            unguarded.add((name, function.name))
    assert unguarded == {*GUARDED_BY_CALLER}


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
