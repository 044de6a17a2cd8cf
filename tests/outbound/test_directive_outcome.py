"""What becomes of a directive on a platform, before anything is sent (OD-51, OD-72)."""

import pytest

from rejoinder import Directive
from rejoinder.channels.slack.emoji import REACTIONS as SLACK
from rejoinder.channels.telegram.emoji import REACTIONS as TELEGRAM
from rejoinder.outbound.directive_outcome import DirectiveOutcome, directive_outcome
from rejoinder.outbound.directives import default_registry, registry_with
from rejoinder.outbound.directives.declaration import Declaration, Tag
from rejoinder.outbound.directives.effects import AddReaction
from rejoinder.rendering.emoji import ANY_EMOJI, ReactionNames

EVERYTHING = frozenset(declared.ability for declared in default_registry().declarations if declared.ability)
GRANTED = frozenset(declared.name for declared in default_registry().declarations if declared.granted)
NO_GRANT = 'it needs a grant: [directives] allow = ["{}"]'
CANNOT = "this platform cannot do it; the text goes out without it"


def outcome_of(
    name: str,
    *,
    can: frozenset[str] = EVERYTHING,
    granted: frozenset[str] = frozenset(),
    reactions: ReactionNames = ANY_EMOJI,
    **args: object,
) -> DirectiveOutcome:
    return directive_outcome(Directive(name, args), default_registry(), can=can, reactions=reactions, granted=granted)


ACTING = [declared for declared in default_registry().declarations if declared.name not in ("react", "no_reply")]


@pytest.mark.parametrize("declared", ACTING, ids=lambda declared: declared.name)
def test_a_platform_that_can_does_it(declared) -> None:
    """With every ability and every grant all is done, and the note is the directive's own help line."""
    assert outcome_of(declared.name, granted=GRANTED) == DirectiveOutcome("done", declared.help)


@pytest.mark.parametrize("declared", [each for each in ACTING if each.ability], ids=lambda declared: declared.name)
def test_a_platform_that_cannot_skips_it(declared) -> None:
    """OD-63, OD-72: without the ability it is unsupported, and the text goes out."""
    without = EVERYTHING - {declared.ability}
    assert outcome_of(declared.name, can=without, granted=GRANTED) == DirectiveOutcome("unsupported", CANNOT)


@pytest.mark.parametrize("name", sorted(GRANTED))
@pytest.mark.parametrize("can", [EVERYTHING, frozenset()])
def test_a_grant_is_asked_for_first(name: str, can: frozenset[str]) -> None:
    """OD-52: without a grant it is denied, whatever the platform can, and the note says what to configure."""
    assert outcome_of(name, can=can) == DirectiveOutcome("denied", NO_GRANT.format(name))


def test_one_grant_is_not_another() -> None:
    """OD-52: each is granted by its own name."""
    assert outcome_of("voice", granted=frozenset({"send_file"})).outcome == "denied"
    assert outcome_of("voice", granted=frozenset({"voice"})).outcome == "done"


@pytest.mark.parametrize(
    ("emoji", "reactions", "expected"),
    [
        ("eyes", ANY_EMOJI, DirectiveOutcome("done", "sent as 👀")),
        ("eyes", SLACK, DirectiveOutcome("done", "sent as eyes")),
        ("thumbs_up", SLACK, DirectiveOutcome("done", "sent as thumbsup")),
        ("eyes", TELEGRAM, DirectiveOutcome("done", "sent as 👀")),
        (
            "✅",
            TELEGRAM,
            DirectiveOutcome("done", "sent as 👍 (Telegram has no ✅ among its reactions; 👍 is the nearest)"),
        ),
        (
            "warning",
            TELEGRAM,
            DirectiveOutcome("unsupported", "Telegram allows a fixed set of reactions, and none is near ⚠️"),
        ),
        ("thumbup", ANY_EMOJI, DirectiveOutcome("unsupported", "'thumbup' is not an emoji; did you mean thumbsup?")),
    ],
)
def test_a_reaction_is_what_the_platform_is_sent(
    emoji: str, reactions: ReactionNames, expected: DirectiveOutcome
) -> None:
    """OD-71: the emoji in the platform's own terms, and a word about it where it is another one."""
    assert outcome_of("react", emoji=emoji, reactions=reactions) == expected


def test_a_channel_without_reactions() -> None:
    """OD-72: it skips the reaction; the emoji does not matter."""
    assert outcome_of("react", emoji="nonsense", can=frozenset()) == DirectiveOutcome("unsupported", CANNOT)


def test_a_reaction_of_another_package_is_one() -> None:
    """OD-55, OD-62: by what it does, not by its name: Telegram has no such emoji for it either."""
    wave = Declaration("wave", "waves", tag=Tag("wave"), ability="react", effect=lambda *_: AddReaction("🐢"))
    known = registry_with((wave,))
    outcome = directive_outcome(Directive("wave", {}), known, can={"react"}, reactions=TELEGRAM, granted=frozenset())
    assert outcome.outcome == "unsupported"
