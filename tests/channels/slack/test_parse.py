"""What Slack's payloads mean, each from a file named for what happened."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from rejoinder.channels.slack.emoji import name_of, shown
from rejoinder.events import Attachment, Chat, Mention, NewThread, Quote, Sender
from tests.channels.slack.recorded import ME, NAMES, NOW, heard

NOBODY_SPEAKS = [
    "archived",
    "assistant_started",
    "channel_rename",
    "file_that_is_gone",
    "huddle",
    "joined",
    "left",
    "link_shared",
    "member_joined",
    "own_deleted",
    "own_draft_changed",
    "own_echo",
    "own_reaction",
    "reaction_removed",
    "reaction_to_a_file",
    "renamed",
    "replied_to",
    "topic_set",
    "unfurled",
    "unfurled_after_an_edit",
    "view_submitted",
]


def test_joins_renames_unfurls_and_own_echoes_are_no_messages():
    """CH-31, CH-8: no turn for what nobody said; every other payload is something somebody said or did."""
    assert [name for name in NAMES if heard(name) is None] == NOBODY_SPEAKS


def test_a_direct_message():
    """IN-1: where, who and what."""
    message = heard("direct_message")
    assert message is not None
    assert (message.chat, message.sender) == (Chat("D024BE91L", "direct"), Sender("U045VRZFT"))
    assert (message.text, message.message_id, message.thread) == ("hello there", "1760000010.000100", None)
    assert message.event_id == "D024BE91L:1760000010.000100"


def test_message_and_app_mention_are_one_event():
    """CH-31: the same id, whichever comes first, and the thread that the answer opens (CH-24)."""
    first, second = heard("mention_as_message"), heard("mention_as_app_mention")
    assert first is not None
    assert first == second
    assert first.mentions == (Mention("U0TESTBOT", token="<@U0TESTBOT>"),)
    assert first.opens == NewThread("1760000010.000100", "are you there?")


@pytest.mark.parametrize(
    ("threads", "name", "opens"),
    [
        ("off", "mention_as_message", False),
        ("auto", "mention_as_message", True),
        ("auto", "text_in_a_channel", False),
        ("always", "text_in_a_channel", True),
        ("always", "direct_message", False),
        ("always", "reply_in_a_thread", False),
    ],
)
def test_which_answers_open_a_thread(threads, name, opens):
    """CH-24, CH-32: by the setting, in channels only, and never inside a thread."""
    message = heard(name, replace(ME, threads=threads))
    assert message is not None
    assert (message.opens is not None) == opens


def test_threads_are_known_by_their_first_message():
    """CH-31: and a thread under a message of ours answers us."""
    other, ours = heard("reply_in_a_thread"), heard("reply_under_our_message")
    assert other is not None
    assert ours is not None
    assert (other.thread, other.reply_to) == ("1760000001.000100", None)
    assert ours.reply_to == Quote("1760000001.000100", "U0TESTBOT", "testbot")


def test_a_text_is_read_as_people_see_it():
    """IN-1: not as Slack writes it; mentions of people stay, so that an agent can point to them."""
    message = heard("escaped_and_linked")
    assert message is not None
    assert message.text == ("if a < b && c see the page (https://example.org/x?a=1&b=2) in #general, @here, a@b.org")
    named = heard("mentions_somebody_else")
    assert named is not None
    assert named.text == "<@U061F7AUR> and @devs, look"
    assert [(each.id, each.kind) for each in named.mentions] == [("U061F7AUR", "user"), ("S012", "role")]


def test_files_and_shared_messages():
    """CH-11: a file is named, not loaded; words somebody shared are nobody's own."""
    message, shared = heard("file_shared"), heard("shared_message")
    assert message is not None
    assert shared is not None
    address = "https://files.slack.com/files-pri/T-F/download/plan.pdf"
    assert message.attachments == (Attachment("F0S43PZDF", "plan.pdf", "application/pdf", 4096, address),)
    assert shared.text == "what do you think?"
    assert shared.untrusted_context == ("a shared message of Bob: ship it",)


def test_a_clip_is_a_voice_note():
    """ME-1: its words are its sender's own, unlike those in a file of sound."""
    message = heard("voice_clip")
    assert message is not None
    assert [(file.kind, file.seconds) for file in message.attachments] == [("voice", 2.4)]


@pytest.mark.parametrize(
    ("name", "id", "called"), [("from_another_bot", "B0OTHER01", "CI"), ("from_another_app", "U0OTHERBOT", "Deployer")]
)
def test_bots_are_told_apart(name, id, called):
    """IN-21: a bot is one, by whichever way it writes."""
    message = heard(name)
    assert message is not None
    assert (message.sender.id, message.sender.display_name, message.sender.is_bot) == (id, called, True)


def test_an_edit_is_one_and_a_deletion_too():
    """CH-8: the same message, an event of its own, and what it said before."""
    edit, gone = heard("edited"), heard("deleted")
    assert edit is not None
    assert gone is not None
    assert (edit.entry, edit.message_id, edit.text, edit.former_text) == ("edit", "1760000010.000100", "hello", "helo")
    assert edit.event_id == "C024BE91L:1760000010.000100:1760000020.000000"
    assert (gone.entry, gone.message_id, gone.sender.id) == ("delete", "1760000010.000100", "U045VRZFT")


def test_the_deleted_root_of_a_thread():
    """CH-8: Slack leaves a tombstone where others stand under it; that is a deletion by who had written it."""
    gone = heard("root_of_a_thread_deleted")
    assert gone is not None
    assert (gone.entry, gone.message_id, gone.sender.id) == ("delete", "1760000010.000100", "U045VRZFT")


def test_slackbot_is_a_bot():
    """IN-21: though Slack's directory does not say so."""
    message = heard("from_slackbot")
    assert message is not None
    assert message.sender.is_bot


def test_nothing_is_lost_because_of_what_slack_leaves_empty():
    """IN-1: null is nothing, and words are read where an attachment cannot be."""
    empty, strange = heard("with_nulls"), heard("with_a_strange_attachment")
    assert empty is not None
    assert strange is not None
    assert (empty.text, empty.thread, empty.attachments[0].name) == ("null is nothing", None, "plan.pdf")
    assert (strange.text, strange.untrusted_context) == ("look at this", ())


def test_places_and_people_of_other_kinds():
    """IN-1: the app's home is a direct chat; ids of an enterprise begin with W; a file needs no words."""
    home, enterprise, file = map(heard, ("in_the_app_home", "of_an_enterprise_user", "file_without_a_word"))
    assert home is not None
    assert enterprise is not None
    assert file is not None
    assert home.chat.kind == "direct"
    assert enterprise.sender.id == "W012A3CDE"
    assert enterprise.text == "<@U0TESTBOT> ask <@W999>"
    assert [each.id for each in enterprise.mentions] == ["U0TESTBOT", "W999"]
    assert (file.text, [each.name for each in file.attachments]) == ("", ["photo.png"])


def test_reactions_are_shown_as_emoji():
    """CH-33: by short name with the whole reverse map and the skin tone; one of the workspace by its name."""
    thumb, parrot = heard("reaction_added"), heard("reaction_of_the_workspace")
    assert thumb is not None
    assert parrot is not None
    assert (thumb.entry, thumb.text, thumb.message_id) == ("reaction", "👍🏽", "1760000010.000100")
    assert parrot.text == ":party-parrot:"


@pytest.mark.parametrize("emoji", ["👍", "👍🏽", "🎉", "✅", "❤️", "🇩🇪", "👩‍💻"])
def test_names_of_emoji_lead_back(emoji):
    """CH-33: what is sent is what people see."""
    assert shown(name_of(emoji)).replace("\ufe0f", "") == emoji.replace("\ufe0f", "")
    assert name_of("party-parrot") == "party-parrot"


def test_a_slash_command_is_a_command():
    """CH-34, CH-3: `/rejoinder model x` says /model x, and keeps the way to answer it."""
    command, alone = heard("slash_command"), heard("slash_command_alone")
    assert command is not None
    assert alone is not None
    assert (command.entry, command.text, command.sender.id) == ("native", "/model gpt-x", "U045VRZFT")
    assert alone.text == "/help"
    context = command.reply_context
    assert context is not None
    assert context.private
    assert NOW < context.expires < NOW + timedelta(minutes=30)


def test_a_press_speaks_for_the_person():
    """CH-10: a button or an option says its value, under the message it belongs to."""
    pressed, chosen = heard("button_pressed"), heard("option_chosen")
    assert pressed is not None
    assert chosen is not None
    assert (pressed.entry, pressed.text, pressed.thread) == ("button", "allow", "1760000001.000100")
    assert pressed.reply_to == Quote("1760000030.000100", "U0TESTBOT", "testbot", "May I?")
    assert chosen.text == "7"
