"""OD-70 and OD-71: one table of names, one projection per style of platform."""

import subprocess
import sys
from pathlib import Path

import emoji as package
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.channels.slack.emoji import REACTIONS as SLACK_NAMES
from rejoinder.channels.telegram.emoji import ALLOWED, NEAREST
from rejoinder.channels.telegram.emoji import REACTIONS as TELEGRAM
from rejoinder.rendering import slack_names
from rejoinder.rendering.emoji import (
    ANY_EMOJI,
    Projection,
    ReactionNames,
    every_name,
    project,
    resolve,
)
from rejoinder.rendering.slack_names import slack_name

STYLES = (ANY_EMOJI, TELEGRAM, SLACK_NAMES)
SELECTORS = "\ufe0e\ufe0f"
TONES = "🏻🏼🏽🏾🏿"

# Bare emoji and the short names Slack has for it: emoji-datasource 16.0.0, the list Slack goes by.
SLACK = {
    emoji: names
    for emoji, *names in (
        line.split()
        for line in (Path(__file__).parent.parent / "data" / "slack-emoji-names.txt").read_text("utf-8").splitlines()
    )
}


def bare(emoji: str) -> str:
    return "".join(mark for mark in emoji if mark not in SELECTORS + TONES)


@pytest.mark.parametrize(
    ("name", "emoji"),
    [
        ("eyes", "👀"),
        ("thumbsup", "👍"),
        ("thumbs_up", "👍"),
        ("+1", "👍"),
        ("-1", "👎"),
        ("heart", "❤️"),
        ("fire", "🔥"),
        ("smile", "😄"),
        ("laughing", "😆"),
        ("tada", "🎉"),
        ("clap", "👏"),
        ("ok_hand", "👌"),
        # as models and people write them
        (":tada:", "🎉"),
        (" Tada ", "🎉"),
        ("thumbs-up", "👍"),
        ("white check mark", "✅"),
        ("check", "✅"),
        ("flag-de", "🇩🇪"),
        ("male-technologist", "👨‍💻"),
        # Unicode is itself
        ("👀", "👀"),
        ("✅", "✅"),
        # and one emoji whatever it wears
        ("❤", "❤️"),
        ("❤︎", "❤️"),
        ("👍🏽", "👍"),
        (":+1::skin-tone-3:", "👍"),
        ("thumbs_up_dark_skin_tone", "👍"),
        ("🫱🏻‍🫲🏿", "🤝"),
    ],
)
def test_a_name_means_one_emoji(name: str, emoji: str) -> None:
    """OD-70: names, `:names:` and Unicode all lead to the same emoji; OD-71: whatever it wears."""
    assert resolve(name) == emoji


@pytest.mark.parametrize("word", ["", " ", ":", "::", "1", "thumbup", "👍👍", "🏽", "\ufe0f", "\u200d", "not a name"])
def test_what_is_no_emoji_has_no_meaning(word: str) -> None:
    """OD-70: no guess is made."""
    assert resolve(word) is None


def test_every_name_on_every_platform() -> None:
    """OD-71: every name of the package means what the package says, and every style takes it as it takes
    that emoji: as it is, as one of Telegram's set, under Slack's name; what it does not take has a note."""
    assert len(every_name()) > 5000
    for name in every_name():
        emoji = resolve(f":{name}:")
        assert emoji is not None
        assert package.EMOJI_DATA[emoji]["status"] <= package.STATUS["fully_qualified"]
        assert not set(emoji) & set(TONES)
        assert project(name, ANY_EMOJI) == Projection(emoji)

        telegram = project(name, TELEGRAM)
        if bare(emoji) in ALLOWED:
            assert telegram == Projection(bare(emoji))
        else:
            assert telegram.value is None or telegram.value in ALLOWED
            assert telegram.note is not None
            assert emoji in telegram.note

        slack = project(name, SLACK_NAMES)
        if bare(emoji) in SLACK:
            assert slack.value in SLACK[bare(emoji)]
            assert slack.note is None
        else:
            assert slack == Projection(None, f"Slack does not know {emoji} yet")


def test_every_emoji_of_the_package_is_known_in_every_form() -> None:
    """OD-71: qualified or not, with any skin tones, an emoji is resolved, and its names lead back to it."""
    forms = [form for form in package.EMOJI_DATA if form not in TONES]
    assert len(forms) > 5000
    for form in forms:
        emoji = resolve(form)
        assert emoji is not None
        assert resolve(emoji) == emoji
        assert project(form, ANY_EMOJI).value == emoji


def test_the_package_is_asked_for_aliases_first() -> None:
    """OD-70: where two emoji share a name, ours is the package's choice."""
    for name in every_name():
        theirs = package.emojize(f":{name}:", language="alias", variant="emoji_type")
        if package.is_emoji(theirs) and not set(theirs) & set(TONES):
            assert resolve(name) == resolve(theirs), name


@pytest.mark.parametrize(
    ("emoji", "nearest"),
    [(other, allowed) for allowed, others in NEAREST.items() for other in others.split()],
)
def test_telegram_takes_the_nearest(emoji: str, nearest: str) -> None:
    """OD-71: an emoji outside Telegram's set becomes its nearest, and a note says so."""
    assert emoji == resolve(emoji), "the table spells emoji fully qualified"
    assert bare(emoji) not in ALLOWED, "what Telegram has needs no row"
    assert nearest in ALLOWED
    assert project(emoji, TELEGRAM) == Projection(
        nearest, f"Telegram has no {emoji} among its reactions; {nearest} is the nearest"
    )


@pytest.mark.parametrize(
    ("emoji", "nearest"),
    [("✅", "👍"), ("😄", "😁"), ("🤦‍♀️", "🙈"), ("🙋‍♂️", "🤗"), ("💪🏾", "👍"), ("🦓", None), ("⚠️", None)],
)
def test_telegram_by_example(emoji: str, nearest: str | None) -> None:
    """OD-71: the examples of the contract; sex and skin do not matter; what is near to none is refused."""
    assert project(emoji, TELEGRAM).value == nearest


def test_the_slack_table_holds_exceptions_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """OD-71: a row that the rules would give as well fails here."""
    exceptions = slack_names.slack_exceptions()
    monkeypatch.setattr(slack_names, "slack_exceptions", dict)
    needless = [emoji for emoji in exceptions if project(emoji, SLACK_NAMES).value in SLACK[emoji]]
    assert needless == []


def test_slack_rules_by_example() -> None:
    """OD-71: the rules the exceptions are exceptions to."""
    assert slack_name("🎉", ("tada", "party_popper"), 0.6) == "tada"
    assert slack_name("🇩🇪", ("de", "Germany"), 0.6) == "flag-de"
    assert slack_name("👩‍🚀", ("woman_astronaut",), 4) == "female-astronaut"
    assert slack_name("👨‍👩‍👧", ("family_man_woman_girl",), 2) == "man-woman-girl"
    assert slack_name("🤷‍♀", ("woman_shrugging",), 4) == "woman-shrugging"
    assert slack_name("🧙‍♂", ("mage_man", "man_mage"), 5) == "male_mage"
    assert slack_name("🧍‍♀", ("standing_woman", "woman_standing"), 12) == "woman_standing"
    assert slack_name("🟢", ("green_circle",), 12) == "large_green_circle"
    assert slack_name("🪎", ("treasure_chest",), 17) is None


@pytest.mark.parametrize(
    ("word", "style", "value", "note"),
    [
        ("party_poper", ANY_EMOJI, None, "'party_poper' is not an emoji; did you mean party_popper?"),
        ("thumbup", TELEGRAM, None, "'thumbup' is not an emoji; did you mean thumbsup?"),
        ("qqqqqqqq", ANY_EMOJI, None, "'qqqqqqqq' is not an emoji"),
        (
            ":thumbup:",
            SLACK_NAMES,
            "thumbup",
            "':thumbup:' is not a standard emoji, taken for one of the workspace's own; did you mean thumbsup?",
        ),
        ("Acme Logo", SLACK_NAMES, None, "'Acme Logo' is not an emoji"),
        ("x" * 101, SLACK_NAMES, None, f"'{'x' * 40}…' is not an emoji"),
    ],
)
def test_what_is_no_emoji_gets_a_hint(word: str, style: ReactionNames, value: str | None, note: str) -> None:
    """OD-70: a custom name goes through where the platform decides by name, else the nearest is named."""
    assert project(word, style) == Projection(value, note)


@given(st.text(), st.sampled_from(STYLES))
def test_nothing_raises_and_nothing_is_refused_silently(word: str, style: ReactionNames) -> None:
    """OD-35: whatever an agent writes becomes a value, or a note that says why there is none."""
    projection = project(word, style)
    assert projection.value or projection.note


def test_a_reply_without_reactions_does_not_load_the_table() -> None:
    """The package is loaded with the first emoji, not with the module."""
    code = "import sys, rejoinder.rendering.emoji; sys.exit('emoji' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
