"""What a prompt is made of, in numbers."""

import pytest

from rejoinder.events import PromptImage, PromptText
from rejoinder.turns.context import ContextBudget, PastExchange, Size, context_report, measure, together
from rejoinder.turns.prompt import (
    ChatMetadata,
    SenderContext,
    SystemPart,
    TurnMessage,
    UserPart,
    system_text,
    user_parts,
)

ANN = SenderContext("1", "ann", "Ann", "web", "room")


def question(text: str, *images: PromptImage) -> PastExchange:
    return PastExchange(tuple(user_parts(UserPart((TurnMessage(text, ANN, images=images),)), "b0")), f"re: {text}")


WHERE = "where it is, and how to read a turn"
SYSTEM = {
    "system prompt": SystemPart(system_prompt="Be brief.\n"),
    WHERE: SystemPart(metadata=ChatMetadata("a", "web", "room", "direct")),
    "what it may ask for in its answers": SystemPart(abilities="You can react."),
    "notices": SystemPart(notices=("One.", "", "Two.")),
    "how to behave in a group": SystemPart(group_intro="You are in a group."),
    "extra system prompt": SystemPart(extra_system_prompt="Speak French."),
}


@pytest.mark.parametrize(("name", "system"), SYSTEM.items())
def test_each_part_of_the_system_has_its_row(name: str, system: SystemPart) -> None:
    """IN-61, TU-31: the same parts as the agent is told, each as long as it is told."""
    (size,) = measure(system, (), ())
    assert (size.part, size.characters) == (name, len(system_text(system)))


def test_what_was_said_is_told_apart_from_what_was_told_about_it() -> None:
    """IN-61: people's words, the agent's, and the gateway's blocks; what is not there has no row."""
    sizes = measure(SystemPart(), (question("hello"), question("and now?")), (PromptText("xxxx"),))
    assert [(size.part, size.characters) for size in sizes if size.part.startswith("said")] == [
        ("said so far by people", len("helloand now?")),
        ("said so far by the agent", len("re: hellore: and now?")),
    ]
    assert [size.part for size in sizes[2:]] == ["told so far about messages", "told with the next message"]
    assert sizes[-1] == Size("told with the next message", 4, 2)


def test_pictures_cost_tokens_and_no_characters() -> None:
    plain, seen = together([question("hi")]), together([question("hi", PromptImage("image/png", b"x" * 9999))])
    assert plain.characters == seen.characters
    assert seen.tokens - plain.tokens == 512
    (size, *_) = measure(SystemPart(), (question("hi", PromptImage("image/png", b"x")),), ())
    assert size.part == "said so far by people, 1 picture among it"


@pytest.mark.parametrize(
    ("budget", "last"),
    [
        (ContextBudget(), "| together | 3,000 | 900 |"),
        (ContextBudget(used=70), "The last turn took 70 tokens, by the agent's own count."),
        (ContextBudget(5000), "The conversation is shortened at 5,000 (agents.defaults.context_tokens)."),
        (
            ContextBudget(5000, 70),
            "The last turn took 70 tokens, by the agent's own count. "
            "The conversation is shortened at 5,000 (agents.defaults.context_tokens).",
        ),
    ],
)
def test_the_budget_is_told_where_there_is_one(budget: ContextBudget, last: str) -> None:
    shown = context_report("guide", [Size("one", 1000, 300), Size("two", 2000, 600)], budget)
    assert shown.startswith("What guide is told here. Tokens are estimated.\n\n| part | characters | tokens |")
    assert shown.splitlines()[-1] == last


def test_who_keeps_the_conversation_is_told() -> None:
    """What such an agent was told earlier is not sent again, so it is not counted with the rest."""
    shown = context_report("guide", [Size("one", 10, 3)], ContextBudget(), kept=together([question("hello")]))
    assert "guide keeps the conversation itself: " in shown
    assert "| together | 10 | 3 |" in shown
