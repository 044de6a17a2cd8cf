"""Slack calls an emoji by its short name, and accepts the names of emoji that a workspace added (OD-71)."""

from rejoinder.rendering.emoji import Projection, ReactionNames, emoji_called_by_slack, resolve, slack_name_of


def _short_name(emoji: str) -> Projection:
    name = slack_name_of(emoji)
    return Projection(name, None if name else f"Slack does not know {emoji} yet")


def _may_be_of_the_workspace(name: str) -> bool:
    letters = name.translate({ord(mark): None for mark in "_-+'"})
    return len(name) <= 100 and letters.isalnum() and name == name.lower()


REACTIONS = ReactionNames(_short_name, _may_be_of_the_workspace, "its names")


SKIN_TONES = {f"skin-tone-{number}": tone for number, tone in zip(range(2, 7), "🏻🏼🏽🏾🏿", strict=True)}


def shown(name: str) -> str:
    """The emoji with this name, with its skin tone; `:name:` for one of the workspace's own."""
    plain, _, tone = name.strip(":").partition("::")
    emoji = emoji_called_by_slack(plain)
    return f":{plain}:" if emoji is None else emoji + SKIN_TONES.get(tone, "")


def name_of(emoji: str) -> str:
    """Slack's name for it: a name stays as it is, a Unicode emoji becomes its short name with its skin tone."""
    known = None if emoji.isascii() else resolve(emoji)
    name = slack_name_of(known) if known is not None else None
    if name is None:
        return emoji.strip(":")
    tone = next((each for each, mark in SKIN_TONES.items() if mark in emoji), "")
    return f"{name}::{tone}" if tone else name
