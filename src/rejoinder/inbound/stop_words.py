"""Words that stop a run when they are the whole message (IN-70), by language.

`wait` and its translations are not among them, nor are words that may answer an agent's question (`cancel`).
"""

import unicodedata

STOP_WORDS: dict[str, tuple[str, ...]] = {
    "en": ("stop", "esc", "abort", "exit", "interrupt", "halt", "please stop", "stop please"),
    "de": (
        *("stopp", "anhalten", "aufhören", "aufhoeren", "hör auf", "hoer auf"),
        *("bitte stopp", "stopp bitte", "abbrechen", "abbruch"),
    ),
    "es": ("para", "parar", "alto", "detente", "detén", "deten", "detener", "por favor para", "basta"),
    "fr": ("arrête", "arrete", "arrêtez", "arretez", "arrêter", "arreter", "stop s'il te plaît", "arrête-toi"),
    "pt": ("pare", "parar", "pára", "interromper", "por favor pare"),
    "it": ("ferma", "fermati", "fermo", "smettila", "interrompi"),
    "nl": ("stoppen", "hou op", "ophouden", "stop alsjeblieft"),
    "pl": ("zatrzymaj", "zatrzymaj się", "przestań", "przerwij"),
    "ru": ("стоп", "остановись", "останови", "остановить", "хватит", "прекрати", "прервать"),
    "uk": ("зупинись", "зупинити", "припини", "досить"),
    "tr": ("dur", "durdur", "yeter", "lütfen dur"),
    "zh": ("停", "停止", "停下", "停下来", "停一下", "请停止", "中止", "别说了"),
    "ja": ("止めて", "やめて", "止まれ", "ストップ", "停止", "中止", "中断", "止めてください"),
    "ko": ("멈춰", "그만", "중지", "정지", "중단", "멈춰줘"),
    "hi": ("रुको", "रुकें", "रुकिए", "रुक जाओ", "बंद करो", "बस करो"),
    "ar": ("توقف", "قف", "أوقف", "اوقف", "كفى"),
}
LONGEST = 64


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().replace("’", "'").replace("`", "'")


_ALL = frozenset(_folded(word) for words in STOP_WORDS.values() for word in words)
_MOST_WORDS = max(len(word.split()) for word in _ALL)


def is_stop_word(text: str) -> bool:
    """Whether this is a stop word and nothing else. Punctuation after it is ignored."""
    if len(text) > LONGEST:
        return False
    words = _unpunctuated(text).split(maxsplit=_MOST_WORDS)
    return len(words) <= _MOST_WORDS and _folded(" ".join(words)) in _ALL


def is_stop_command(text: str, our_name: str) -> bool:
    """Whether this is `/stop` and nothing else; `/stop!` counts too."""
    return text.startswith("/") and _unpunctuated(text).lower() in ("/stop", f"/stop@{our_name.lower()}")


def asks_to_stop(text: str) -> bool:
    """Whether the text may be a request to stop, which must not wait until an earlier recording has been listened
    to."""
    return is_stop_word(text) or is_stop_command(text, "")


def _unpunctuated(text: str) -> str:
    end = len(text)
    while end and (text[end - 1].isspace() or unicodedata.category(text[end - 1])[0] == "P"):
        end -= 1
    return text[:end]
