"""Slack knows an emoji by its short name, and takes the names of emoji that a workspace added (OD-71)."""

from rejoinder.rendering.emoji import Projection, ReactionNames, slack_name_of


def _short_name(emoji: str) -> Projection:
    name = slack_name_of(emoji)
    return Projection(name, None if name else f"Slack does not know {emoji} yet")


def _may_be_of_the_workspace(name: str) -> bool:
    letters = name.translate({ord(mark): None for mark in "_-+'"})
    return len(name) <= 100 and letters.isalnum() and name == name.lower()


REACTIONS = ReactionNames(_short_name, _may_be_of_the_workspace, "its names")
