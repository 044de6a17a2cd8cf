"""Every key the standard library finds has a line, and it is the line on which it stands."""

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rejoinder.config.positions import positions

EXAMPLE = '''\
# a comment with [brackets] and = signs
title = "x # no comment"
a.b."c d" = [1, 2,  # one
  { x = 1, y = [3] }, "]" ]

[t."q\\u0041".'lit.eral']
s = """
k = 1 \\""" ""
[not.a.table]
"""""
lit = \'\'\'a\'\'\'\'
d = 1979-05-27 07:32:00
[[arr]]
n = 1
[[ arr ]]
n = 2
[arr.sub]
m = 1
[[arr.deep]]
[[arr.deep]]
z = { }
'''


def test_the_example():
    """Tables, dotted and quoted keys, inline tables, lists, arrays of tables, strings of several lines."""
    assert positions(EXAMPLE) == {
        ("title",): 2,
        ("a",): 3,
        ("a", "b"): 3,
        ("a", "b", "c d"): 3,
        ("a", "b", "c d", 0): 3,
        ("a", "b", "c d", 1): 3,
        ("a", "b", "c d", 2): 4,
        ("a", "b", "c d", 2, "x"): 4,
        ("a", "b", "c d", 2, "y"): 4,
        ("a", "b", "c d", 2, "y", 0): 4,
        ("a", "b", "c d", 3): 4,
        ("t",): 6,
        ("t", "qA"): 6,
        ("t", "qA", "lit.eral"): 6,
        ("t", "qA", "lit.eral", "s"): 7,
        ("t", "qA", "lit.eral", "lit"): 11,
        ("t", "qA", "lit.eral", "d"): 12,
        ("arr",): 13,
        ("arr", 0): 13,
        ("arr", 0, "n"): 14,
        ("arr", 1): 15,
        ("arr", 1, "n"): 16,
        ("arr", 1, "sub"): 17,
        ("arr", 1, "sub", "m"): 18,
        ("arr", 1, "deep"): 19,
        ("arr", 1, "deep", 0): 19,
        ("arr", 1, "deep", 1): 20,
        ("arr", 1, "deep", 1, "z"): 21,
    }


def paths(value: Any, path: tuple = ()) -> list[tuple]:
    match value:
        case dict():
            inner = value.items()
        case list():
            inner = enumerate(value)
        case _:
            inner = ()
    return [found for key, item in inner for found in ((*path, key), *paths(item, (*path, key)))]


class Writer:
    """Writes TOML by chance. No key is used twice, so each text is valid and each key has one line."""

    def __init__(self, draw) -> None:
        self.draw = draw
        self.number = 0

    def choice(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def key(self) -> str:
        self.number += 1
        name = f"k{self.number}_"
        return self.choice(name, name, f'"{name}"', f"'{name}'", f'"{name} x"', f'"{name}\\u0041"', f"'{name}.#'")

    def dotted(self) -> str:
        return self.choice(".", " . ").join(self.key() for _ in range(self.draw(st.integers(1, 3))))

    def value(self, depth: int = 0) -> str:
        kind = self.choice("plain", "plain", "string", "list", "table") if depth < 3 else "plain"
        if kind == "list":
            gap = self.choice("", " ", "\n", " # ] no\n")
            items = [gap + self.value(depth + 1) for _ in range(self.draw(st.integers(0, 3)))]
            return "[" + ",".join(items) + (self.choice("", ",") if items else "") + gap + "]"
        if kind == "table":
            pairs = (f" {self.dotted()} = {self.value(depth + 1)}" for _ in range(self.draw(st.integers(0, 3))))
            return "{" + ",".join(pairs) + " }"
        if kind == "string":
            return self.choice(
                '"a # = [b] \\" c"',
                "'a # = [b] \\'",
                '"""\nx = 1\n[y]\n\\""" "" z"""',
                '""""two"" quotes"""""',
                "'''\nx = 1\n[y]\n'' z'''",
                '""',
                "''",
                '""""""',
            )
        return self.choice("1", "-1.5e3", "true", "1979-05-27 07:32:00", "07:32:00", "0xff", "inf")

    def document(self) -> str:
        lines = []
        for _ in range(self.draw(st.integers(0, 8))):
            lines.append(
                self.choice(
                    f"{self.dotted()}{self.choice('=', ' = ')}{self.value()}",
                    f"[{self.dotted()}] # [no]",
                    f"[[ {self.dotted()} ]]",
                    "",
                    "# a = 1",
                    "\t",
                )
            )
        return self.choice("\n", "\r\n").join(lines) + self.choice("", "\n")


@given(st.data())
def test_every_key_has_its_line(data):
    """Every path the standard library finds has a line, no other has, and the key stands on that line."""
    text = Writer(data.draw).document()
    found = positions(text)
    assert set(found) == set(paths(tomllib.loads(text)))
    lines = text.replace("\r\n", "\n").split("\n")
    for path, line in found.items():
        if isinstance(path[-1], str):
            assert path[-1].split("_")[0] + "_" in lines[line - 1]


def test_arrays_of_tables_grow():
    """Each element of an array of tables has its own line, however many there are."""
    text = "\n".join(f"[[a.b]]\nn = {n}\n[a.b.c]\nm = {n}" for n in range(50))
    found = positions(text)
    assert set(found) == set(paths(tomllib.loads(text)))
    assert all(found["a", "b", n, "c", "m"] == 4 * n + 4 for n in range(50))


def test_long_texts_are_walked_once():
    """A string of a million escapes and a list of many items are read without going back."""
    text = 'a = """' + '\\"' * 500_000 + '"""\nb = [' + "1," * 50_000 + "]\n"
    found = positions(text)
    assert found["b",] == 2
    assert len(found) == 50_002
