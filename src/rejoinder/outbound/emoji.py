"""Reactions: what an agent calls an emoji, and what each platform calls it (OD-70, OD-71).

Rule 1: the names are those of the `emoji` package; there is no second list of them here.
Rule 2: a platform is a style, and a style is a projection of the one table: `unicode` takes any emoji,
        `telegram` a fixed set, `slack` short names. Only what differs from the rule has a row.
Rule 3: nothing raises, and nothing is guessed silently: what is changed or refused carries a note.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType

from msgspec import Struct

from rejoinder.events import ReactionStyle
from rejoinder.outbound.slack_names import slack_name


class Projection(Struct, frozen=True):
    """What a platform is sent for an emoji; `value` is None if it has nothing like it."""

    value: str | None
    note: str | None = None


def resolve(name: str) -> str | None:
    """The one emoji meant by a name, `:name:` or Unicode, fully qualified and without skin tone.

    >>> resolve("thumbs_up"), resolve(":+1::skin-tone-3:"), resolve("👍🏽"), resolve("thumbup")
    ('👍', '👍', '👍', None)
    """
    book = _book()
    word = name.strip()
    return book.forms.get(_bare(word)) or book.names.get(_folded(word))


def project(emoji: str, style: ReactionStyle, custom: Mapping[str, str] = MappingProxyType({})) -> Projection:
    """What to send to a platform of this style; `custom` holds the channel's own emoji by name."""
    found = resolve(emoji)
    if found is None:
        return _project_custom(emoji.strip(), style, custom)
    match style:
        case "unicode":
            return Projection(found)
        case "telegram":
            return _project_telegram(found)
        case "slack":
            return _project_slack(found)


def every_name() -> tuple[str, ...]:
    """Every name `resolve` knows."""
    return tuple(_book().names)


# --- the table of names -------------------------------------------------------------------------


class _Book(Struct, frozen=True):
    forms: dict[str, str]  # bare emoji -> its fully qualified form
    names: dict[str, str]  # folded name -> emoji
    aliases: dict[str, tuple[str, ...]]  # bare emoji -> names as the package spells them
    versions: dict[str, float]  # bare emoji -> the Emoji version that brought it


@cache
def _book() -> _Book:
    import emoji  # noqa: PLC0415  45 ms and 8 MB that a reply without a reaction should not cost

    fully_qualified = emoji.STATUS["fully_qualified"]
    qualified = [(form, data) for form, data in emoji.EMOJI_DATA.items() if data["status"] <= fully_qualified]
    untoned = [(form, data) for form, data in qualified if not any(tone in form for tone in _TONES)]
    forms = {_bare(form): form for form, _ in untoned}
    forms |= {pair: forms[whole] for pair, whole in _PAIRS.items()}

    names: dict[str, str] = {}
    # Aliases before English names, as the package itself reads them: `cat` is 🐱, whose alias it is,
    # not 🐈, whose description it is. Capitals last: `turkey` is the bird.
    spelled = [(alias, form) for form, data in qualified for alias in data.get("alias", ())]
    spelled += [(data["en"], form) for form, data in qualified]
    for spelling, form in sorted(spelled, key=lambda pair: pair[0] != pair[0].lower()):
        if whole := forms.get(_bare(form)):
            names.setdefault(_folded(spelling), whole)

    aliases = {
        _bare(form): tuple(spelling.strip(":") for spelling in (*data.get("alias", ()), data["en"]))
        for form, data in untoned
    }
    versions: dict[str, float] = {_bare(form): data["E"] for form, data in untoned}
    for nickname, form in _NICKNAMES.items():
        names.setdefault(nickname, form)
    book = _Book(forms=forms, names=names, aliases=aliases, versions=versions)
    for bare, form in forms.items():
        if bare in aliases and (slack := _slack_name(book, bare)):
            names.setdefault(_folded(slack), form)  # what people write in Slack is understood everywhere
    return book


# What models write and the package lacks.
_NICKNAMES = {"check": "✅", "checkmark": "✅", "cross": "❌", "party": "🎉", "lol": "😂"}

_SELECTORS = "\ufe0e\ufe0f"
_TONES = "🏻🏼🏽🏾🏿"
_WITHOUT_DRESS = dict.fromkeys(map(ord, _SELECTORS + _TONES))
_GENDERLESS = str.maketrans({"♀": None, "♂": None, "\u200d": None})

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


def _bare(emoji: str) -> str:
    """Without variation selectors and skin tones: the key under which all its forms meet."""
    return emoji.translate(_WITHOUT_DRESS)


def _folded(name: str) -> str:
    """`:Thumbs-Up::skin-tone-2:` and `thumbs_up` are the same name."""
    word = name.strip(":").partition("::")[0].lower()
    return word[:1] + word[1:].replace("-", "_").replace(" ", "_")  # `-1` keeps its sign


# --- what is no emoji ---------------------------------------------------------------------------


def _project_custom(word: str, style: ReactionStyle, custom: Mapping[str, str]) -> Projection:
    name = _custom_name(word)
    if name in custom:
        return Projection(custom[name])
    shown = repr(word if len(word) <= 40 else word[:40] + "…")
    near = get_close_matches(_folded(name), _book().names, n=1, cutoff=0.75)
    hint = f"; did you mean {near[0]}?" if near else ""
    if style == "slack" and _slack_would_take(name):
        return Projection(name, f"{shown} is no standard emoji, taken for one of the workspace's own{hint}")
    return Projection(None, f"{shown} is not an emoji{hint}")


def _custom_name(word: str) -> str:
    """The name in `:name:` and in Discord's `<:name:id>` and `<a:name:id>`."""
    if word.startswith("<") and word.endswith(">"):
        return word[1:-1].removeprefix("a").strip(":").partition(":")[0]
    return word.strip(":")


def _slack_would_take(name: str) -> bool:
    letters = name.translate({ord(mark): None for mark in "_-+'"})
    return len(name) <= 100 and letters.isalnum() and name == name.lower()


# --- Slack --------------------------------------------------------------------------------------


def _project_slack(emoji: str) -> Projection:
    name = _slack_name(_book(), _bare(emoji))
    return Projection(name, None if name else f"Slack does not know {emoji} yet")


def _slack_name(book: _Book, bare: str) -> str | None:
    return slack_name(bare, book.aliases[bare], book.versions[bare])


# --- Telegram -----------------------------------------------------------------------------------


def _project_telegram(emoji: str) -> Projection:
    bare = _bare(emoji)
    if bare in TELEGRAM_REACTIONS:
        return Projection(bare)
    nearest = _telegram_nearest()
    near = nearest.get(bare) or nearest.get(bare.translate(_GENDERLESS))
    if near is None:
        return Projection(None, f"Telegram allows a fixed set of reactions, and none is near {emoji}")
    return Projection(near, f"Telegram has no {emoji} among its reactions; {near} is the nearest")


@cache
def _telegram_nearest() -> dict[str, str]:
    return {_bare(other): allowed for allowed, others in TELEGRAM_NEAREST.items() for other in others.split()}


# The Bot API's ReactionTypeEmoji, spelled as there: without variation selectors.
_TELEGRAM_ALLOWS = """
❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔
🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘
💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡
"""
TELEGRAM_REACTIONS = frozenset(_TELEGRAM_ALLOWS.split())

# What an allowed reaction may stand for. An emoji with no near equivalent is refused: a wrong feeling is worse
# than none (⚠️ is neither 😱 nor 👎).
TELEGRAM_NEAREST = {
    "👍": "✅ ☑️ ✔️ ➕ 💪 ✊ 👊 🟢 👆 ☝️ 🔝 📈",
    "👎": "❌ ❎ ✖️ ➖ 🚫 ⛔ 🛑 🙅 🔴 👇 📉",
    "👌": "🆗 🙆 🤙 🫰 🤏",
    "👏": "🙌 👐",
    "🙏": "🙇 🤲 🤞 🛐",
    "🤝": "🤜 🤛 🫱 🫲",
    "🤗": "👋 🫂 🙋 🖐️ ✋",
    "🫡": "🎖️ 💂 👮",
    "😁": "😄 😃 😀 😆 😅 🙂 😊 ☺️ 😉 😺 😸 😬 😏",
    "🤣": "😂 😹 💀",
    "😍": "😻",
    "🥰": "😌 🥹 💐 🌹 🌷 🌸",
    "😘": "😚 😙 😗 😽 💏",
    "😎": "🕶️ ✌️ 🤘 🤟",
    "🤩": "✨ ⭐ 🌟 💫 🤑 🌈",
    "🤪": "🙃 😜 😛 😝",
    "😐": "😑 😶 😕 🫤 🫥",
    "🤨": "🙄 😒 🧐",
    "🤔": "❓ ❔ 💭 💡",
    "🤯": "💥 😵‍💫 💣",
    "😱": "😮 😯 😲 🙀 🫢",
    "😨": "😰 😧 😦 😟 🫣 😖",
    "😢": "😞 😔 ☹️ 🙁 😥 😓 🥺 😿 😣",
    "😭": "😩 😫",
    "😡": "😠 😤 💢 😾",
    "😈": "👿",
    "🤮": "🤢 🤧",
    "🥴": "😵 🤤",
    "💊": "🤒 🤕 😷 🩹 💉",
    "😴": "💤 😪 🛌 🌙",
    "🙈": "🤦 😳 🐵",
    "🙊": "🤫 🤐 🤭",
    "👻": "☠️",
    "👾": "🤖 👽 🐛 🐞",
    "🤡": "🤥 🎭",
    "🤓": "🧠 📚 📖 🎓",
    "👀": "👁️ 🔍 🔎 ⏳ ⌛ 🕵️",
    "✍": "📝 ✏️ 🖊️ 🖋️ 📌",
    "👨‍💻": "👩‍💻 🧑‍💻 💻 🖥️ ⌨️ 🛠️ 🔧 🔨 ⚙️",
    "⚡": "🚀 ❗ ‼️ 🏃",
    "🎉": "🎊 🥳 🎂 🎁 🎈 🎆 🎇",
    "🏆": "🥇 🥈 🥉 🏅 👑",
    "💯": "🎯",
    "🍾": "🥂 🍻 🍺 🍷 🍸",
    "❤": "♥️ 🩷 🧡 💛 💚 💙 🩵 💜 🖤 🩶 🤍 🤎 ❣️ 💕 💞 💓 💗 💖 💝 💟 🫶 💑 ❤️‍🩹",
    "🐳": "🐋",
    "☃": "⛄ ❄️",
    "🦄": "🐴",
    "🌚": "🌑 🌝",
    "🌭": "🍔 🍕",
    "🍓": "🍒 🍎",
}
