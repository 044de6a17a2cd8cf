"""Emoji for reactions: the names that agents use, and the names on each platform (OD-70, OD-71).

Rule 1: the names come from the `emoji` package; there is no second list here.
Rule 2: a platform's names are a projection of this one table, declared by its channel (`ReactionNames`).
Rule 3: nothing raises, and nothing is guessed silently: a changed or refused emoji carries a note.
"""

from collections.abc import Callable
from difflib import get_close_matches
from functools import cache

from msgspec import Struct

from rejoinder.rendering.slack_names import slack_name


class Projection(Struct, frozen=True):
    """What is sent to a platform for an emoji; `value` is None if the platform has no such emoji."""

    value: str | None
    note: str | None = None


def _no(name: str) -> bool:
    return False


class ReactionNames(Struct, frozen=True):
    """A platform's names for emoji; by default it takes any emoji."""

    named: Callable[[str], Projection] = Projection
    """Returns what to send for a fully qualified emoji without skin tone."""
    takes_own: Callable[[str], bool] = _no
    """Whether a name that is no emoji may be a custom emoji that people added there."""
    words: str = "any emoji"
    """What it takes, in the words of the docs."""


ANY_EMOJI = ReactionNames()


def resolve(name: str) -> str | None:
    """The emoji that a name, `:name:` or Unicode stands for, fully qualified and without skin tone.

    >>> resolve("thumbs_up"), resolve(":+1::skin-tone-3:"), resolve("👍🏽"), resolve("thumbup")
    ('👍', '👍', '👍', None)
    """
    tables = _emoji_tables()
    word = name.strip()
    return tables.forms.get(bare(word)) or tables.names.get(_folded(word))


def project(emoji: str, names: ReactionNames) -> Projection:
    """What to send to a platform with these names."""
    found = resolve(emoji)
    return names.named(found) if found is not None else _project_custom(emoji.strip(), names)


def slack_name_of(emoji: str) -> str | None:
    """Slack's short name for an emoji; None if it has none."""
    return _slack_name(_emoji_tables(), bare(emoji))


def emoji_called_by_slack(name: str) -> str | None:
    """The reverse: the emoji with this short name on Slack, or one of its other names; None if there is none."""
    return _by_slack_name().get(name) or resolve(name)


@cache
def _by_slack_name() -> dict[str, str]:
    tables = _emoji_tables()
    named = ((_slack_name(tables, plain), form) for plain, form in tables.forms.items() if plain in tables.aliases)
    return {name: form for name, form in named if name}


def _slack_name(tables: "_EmojiTables", plain: str) -> str | None:
    return slack_name(plain, tables.aliases[plain], tables.versions[plain])


def every_name() -> tuple[str, ...]:
    """Every name `resolve` knows."""
    return tuple(_emoji_tables().names)


# --- the table of names -------------------------------------------------------------------------


class _EmojiTables(Struct, frozen=True):
    forms: dict[str, str]  # bare emoji -> its fully qualified form
    names: dict[str, str]  # folded name -> emoji
    aliases: dict[str, tuple[str, ...]]  # bare emoji -> names as the package spells them
    versions: dict[str, float]  # bare emoji -> the Emoji version that introduced it


@cache
def _emoji_tables() -> _EmojiTables:
    import emoji  # noqa: PLC0415  45 ms and 8 MB that a reply without a reaction should not cost

    fully_qualified = emoji.STATUS["fully_qualified"]
    qualified = [(form, data) for form, data in emoji.EMOJI_DATA.items() if data["status"] <= fully_qualified]
    untoned = [(form, data) for form, data in qualified if not any(tone in form for tone in _TONES)]
    forms = {bare(form): form for form, _ in untoned}
    forms |= {pair: forms[whole] for pair, whole in _PAIRS.items()}

    names: dict[str, str] = {}
    # Aliases before English names, as the package itself reads them: `cat` is 🐱, whose alias it is,
    # not 🐈, whose description it is. Capitals last: `turkey` is the bird.
    spelled = [(alias, form) for form, data in qualified for alias in data.get("alias", ())]
    spelled += [(data["en"], form) for form, data in qualified]
    for spelling, form in sorted(spelled, key=lambda pair: pair[0] != pair[0].lower()):
        if whole := forms.get(bare(form)):
            names.setdefault(_folded(spelling), whole)

    aliases = {
        bare(form): tuple(spelling.strip(":") for spelling in (*data.get("alias", ()), data["en"]))
        for form, data in untoned
    }
    versions: dict[str, float] = {bare(form): data["E"] for form, data in untoned}
    for nickname, form in _NICKNAMES.items():
        names.setdefault(nickname, form)
    tables = _EmojiTables(forms=forms, names=names, aliases=aliases, versions=versions)
    for plain, form in forms.items():
        if plain in aliases and (slack := _slack_name(tables, plain)):
            names.setdefault(_folded(slack), form)  # Slack's names are understood everywhere
    return tables


# Names that models write and the package lacks.
_NICKNAMES = {"check": "✅", "checkmark": "✅", "cross": "❌", "party": "🎉", "lol": "😂"}

_SELECTORS = "\ufe0e\ufe0f"
_TONES = "🏻🏼🏽🏾🏿"
_WITHOUT_DRESS = dict.fromkeys(map(ord, _SELECTORS + _TONES))

# Two people with a skin tone each are spelled out as a sequence; their toneless form is another emoji.
_PAIRS = {
    "🧑‍❤‍🧑": "💑",
    "🧑‍❤‍💋‍🧑": "💏",
    "🫱‍🫲": "🤝",
    "👨‍🤝‍👨": "👬",
    "👩‍🤝‍👨": "👫",
    "👩‍🤝‍👩": "👭",
    "👨‍🐰‍👨": "👯‍♂",
    "🧑‍🐰‍🧑": "👯",
    "👩‍🐰‍👩": "👯‍♀",
    "👨‍🫯‍👨": "🤼‍♂",
    "🧑‍🫯‍🧑": "🤼",
    "👩‍🫯‍👩": "🤼‍♀",
}


def bare(emoji: str) -> str:
    """The emoji without variation selectors and skin tones: the common key of all its forms."""
    return emoji.translate(_WITHOUT_DRESS)


def _folded(name: str) -> str:
    """`:Thumbs-Up::skin-tone-2:` and `thumbs_up` are the same name."""
    word = name.strip(":").partition("::")[0].lower()
    return word[:1] + word[1:].replace("-", "_").replace(" ", "_")  # `-1` keeps its sign


# --- names that are no emoji --------------------------------------------------------------------


def _project_custom(word: str, names: ReactionNames) -> Projection:
    name = _custom_name(word)
    shown = repr(word if len(word) <= 40 else word[:40] + "…")
    near = get_close_matches(_folded(name), _emoji_tables().names, n=1, cutoff=0.75)
    hint = f"; did you mean {near[0]}?" if near else ""
    if names.takes_own(name):
        return Projection(name, f"{shown} is not a standard emoji, taken for one of the workspace's own{hint}")
    return Projection(None, f"{shown} is not an emoji{hint}")


def _custom_name(word: str) -> str:
    """The name in `:name:` and in Discord's `<:name:id>` and `<a:name:id>`."""
    if word.startswith("<") and word.endswith(">"):
        return word[1:-1].removeprefix("a").strip(":").partition(":")[0]
    return word.strip(":")
