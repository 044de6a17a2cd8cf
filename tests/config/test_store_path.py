"""Where the store lies: named from the folder of the configuration, wherever the gateway is started."""

import pytest

from rejoinder.config.load import load, load_gateway
from rejoinder.errors import BadConfiguration


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("sqlite:rejoinder.db", "sqlite:{folder}/rejoinder.db"),
        ("sqlite:kept/here.db", "sqlite:{folder}/kept/here.db"),
        ("sqlite:/var/lib/r.db", "sqlite:/var/lib/r.db"),
        ("sqlite:~/r.db", "sqlite:/home/anna/r.db"),
        ("sqlite::memory:", "sqlite::memory:"),
    ],
)
def test_a_relative_file_lies_beside_the_configuration(tmp_path, monkeypatch, written, found):
    monkeypatch.setenv("HOME", "/home/anna")
    file = tmp_path / "rejoinder.toml"
    file.write_text(f'[gateway]\nstore = "{written}"\n')
    assert load(str(file), {}).gateway.store == found.format(folder=tmp_path)
    assert load_gateway(str(file), {}) == load(str(file), {}).gateway


def test_a_relative_configuration_names_a_relative_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rejoinder.toml").write_text("")
    assert load("rejoinder.toml", {}).gateway.store == "sqlite:rejoinder.db"


def test_who_looks_into_the_store_needs_no_token(tmp_path):
    """The section [gateway] is read alone; what is wrong in it is said as ever."""
    file = tmp_path / "rejoinder.toml"
    file.write_text('[channels.telegram]\ntoken = "${UNSET}"\n')
    assert load_gateway(str(file), {}).store == f"sqlite:{tmp_path / 'rejoinder.db'}"
    file.write_text('[gateway]\nstoer = "sqlite:x"\n')
    with pytest.raises(BadConfiguration, match='did you mean "store"'):
        load_gateway(str(file), {})
