"""Plain words need no parser where the renderer would show them as they are; another renderer gets them too."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rejoinder.events import Rendering
from rejoinder.rendering import Renderer, RenderOptions, is_prose, render
from rejoinder.rendering import messages as rendered_messages
from tests.rendering.platforms import RENDERED, messages, renderer

WORDS = st.text(st.sampled_from("ab1.,:;!?'\"()-+=/%${}^ \n"), min_size=1, max_size=40)


@pytest.mark.parametrize("platform", [*RENDERED, "web"])
@settings(deadline=None)
@given(text=st.one_of(WORDS, st.text(min_size=1)))
def test_prose_is_rendered_as_it_is(platform, text):
    """DE-12: the short way and the long way lead to the same bytes."""
    assume(is_prose(text))
    by = renderer(platform)
    assert by.keeps_prose
    assert by.render(text, "code") == by.plain(text) == Rendering(text)


@pytest.mark.parametrize("text", ["Hello, Ann.", "One.\n\nTwo (three).", "1.5 is 3/2: fine!", "Grüße, 你好 👋"])
def test_what_people_say_is_prose(text):
    assert is_prose(text)


@pytest.mark.parametrize(
    "text",
    [
        "*b*",
        "a_b",
        "`c`",
        "# h",
        "- i",
        "+ i",
        "1. i",
        "> q",
        "a  \nb",
        " a",
        "a\n\n\nb",
        "|",
        "<i>",
        "@all",
        "a\tb",
        "",
    ],
)
def test_what_may_be_markup_is_not(text):
    assert not is_prose(text)


def test_prose_that_is_too_long_is_cut():
    """DE-10: the short way knows the limit too."""
    assert [message.source for message in messages("one two", "telegram", 4, "utf16")] == ["one", "two"]


def test_a_renderer_that_changes_plain_words_is_asked():
    """CH-1: a platform of another package may write even prose in another way, such as with a mark before each stop."""
    marked = Renderer(lambda source, tables: Rendering(source.replace(".", "\\.")))
    assert render("One. Two.", marked) == Rendering("One\\. Two\\.")
    assert [each.rendering.text for each in rendered_messages("One.", RenderOptions(marked))] == ["One\\."]
