"""What can be plugged in is found by its name; the error is the help."""

from importlib.metadata import EntryPoint, EntryPoints

import pytest

from rejoinder import channels, plugins
from rejoinder.errors import BadConfiguration


def test_a_file_is_found_by_its_name():
    assert plugins.find("agent", "tour").__name__ == "rejoinder.agents.tour"
    assert plugins.find("channel", "terminal").__name__ == "rejoinder.channels.terminal"
    assert plugins.find("directive", "react").DIRECTIVE.name == "react"


def test_what_is_no_plugin_is_not_listed():
    assert {"tour", "scripted"} <= set(plugins.names("agent"))
    assert "base" not in plugins.names("agent")
    assert "declaration" not in plugins.names("directive")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("tuor", r"^no agent called 'tuor'; did you mean tour\? there are: .*scripted.*tour"),
        ("zzz", r"^no agent called 'zzz'; there are: .*scripted.*tour"),
        ("base", r"^no agent called 'base'; "),
        ("", r"^no agent called ''; "),
        ("../tour", r"^no agent called '../tour'; "),
    ],
)
def test_the_error_is_the_help(name, sentence):
    with pytest.raises(BadConfiguration, match=sentence):
        plugins.find("agent", name)


@pytest.fixture
def fresh():
    """Nothing is remembered of what is installed, before and after."""
    remembers = (plugins.installed, plugins._points, plugins._warn_of_unused)
    for each in remembers:
        each.cache_clear()
    yield
    for each in remembers:
        each.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_two_packages_that_bring_the_same_name_are_both_named(monkeypatch):
    """CH-1: neither wins silently."""
    points = [EntryPoint("zulip", module, "rejoinder.channels") for module in ("one.zulip", "two.zulip", "two.zulip")]
    monkeypatch.setattr(plugins, "entry_points", lambda: EntryPoints(points))
    with pytest.raises(BadConfiguration, match=r"a channel called 'zulip': one\.zulip and two\.zulip; remove"):
        plugins.find("channel", "zulip")


@pytest.mark.usefixtures("fresh")
def test_a_package_with_a_name_of_ours_is_not_used_and_named(monkeypatch, caplog):
    """CH-1: said once, with both; a channel that cannot connect yet gives way without a word."""
    theirs = [EntryPoint("tour", "their.tour", "rejoinder.agents"), EntryPoint("matrix", "json", "rejoinder.channels")]
    monkeypatch.setattr(plugins, "entry_points", lambda: EntryPoints(theirs))
    for _ in range(2):
        assert plugins.find("agent", "tour").__name__ == "rejoinder.agents.tour"
    plugins.find("channel", "matrix")
    (said,) = caplog.messages
    assert "'tour' of another package, their.tour, is not used" in said
    assert "rejoinder.agents.tour" in said


@pytest.mark.usefixtures("fresh")
def test_an_entry_point_of_somebody_else(monkeypatch):
    theirs = {"mine": "rejoinder.agents.tour", "tour": "json"}
    monkeypatch.setattr(plugins, "installed", lambda: {"rejoinder.agents": theirs})
    assert plugins.find("agent", "mine").__name__ == "rejoinder.agents.tour"
    assert plugins.find("agent", "tour").__name__ == "rejoinder.agents.tour", "a package took a built-in's name"


def test_a_module_that_is_no_plugin(monkeypatch):
    monkeypatch.setattr(plugins, "installed", lambda: {"rejoinder.agents": {"odd": "json"}})
    with pytest.raises(BadConfiguration, match=r"^the module json cannot be used as an agent: .* AGENT$"):
        plugins.find("agent", "odd")


def test_one_of_ours_whose_package_is_missing(monkeypatch, tmp_path):
    """A channel that needs a package of others names its extra, and the command that installs it here."""
    (tmp_path / "local.py").write_text("import not_there_at_all\n\nCHANNEL = None\n")
    monkeypatch.setattr(channels, "__path__", [*channels.__path__, str(tmp_path)])
    expected = r"^the channel 'local' needs the extra 'local'; it is not installed: .* -m pip install 'xllamacpp"
    with pytest.raises(BadConfiguration, match=expected):
        plugins.find("channel", "local")
