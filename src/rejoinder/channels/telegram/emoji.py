"""Telegram accepts a fixed set of reactions; for any other emoji the nearest of them is sent (OD-71)."""

from functools import cache

from rejoinder.rendering.emoji import Projection, ReactionNames, bare

_GENDERLESS = str.maketrans({"♀": None, "♂": None, "\u200d": None})


def _nearest(emoji: str) -> Projection:
    plain = bare(emoji)
    if plain in ALLOWED:
        return Projection(plain)
    stands_for = _stands_for()
    near = stands_for.get(plain) or stands_for.get(plain.translate(_GENDERLESS))
    if near is None:
        return Projection(None, f"Telegram allows a fixed set of reactions, and none is near {emoji}")
    return Projection(near, f"Telegram has no {emoji} among its reactions; {near} is the nearest")


@cache
def _stands_for() -> dict[str, str]:
    return {bare(other): allowed for allowed, others in NEAREST.items() for other in others.split()}


# The Bot API's ReactionTypeEmoji, spelled as there: without variation selectors.
_ALLOWED = """
❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔
🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘
💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡
"""
ALLOWED = frozenset(_ALLOWED.split())

# What an allowed reaction may stand for. An emoji with no near equivalent is refused: a wrong feeling is worse
# than none (⚠️ is neither 😱 nor 👎).
NEAREST = {
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

REACTIONS = ReactionNames(_nearest, words="its set")
