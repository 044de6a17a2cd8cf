"""Discord's events become messages: by recorded payloads."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.channels.discord.parse import parse_message, parse_said
from rejoinder.channels.discord.wire import Message, convert
from rejoinder.events import Forward, Mention
from tests.channels.discord.recorded import ME, NAMES, TEAM, event, parsed

NOBODY_SAID = {
    "member_joined",
    "own_message_with_nonce",
    "own_reaction",
    "pinned_note",
    "thread_created_note",
    "thread_starter",
    "unfurled",
    "unfurled_without_author",
}


@pytest.mark.parametrize("name", NAMES)
def test_what_nobody_said_is_no_message(name):
    """CH-25, CH-29: notes of the system, our own words and links that Discord shows are none."""
    assert (parsed(name) is None) == (name in NOBODY_SAID)


def test_where_and_who():
    """IN-1: the chat is the channel, a thread is a thread of it, and a direct chat is direct."""
    team, thread, direct = parsed("channel_message_with_nick"), parsed("in_a_thread"), parsed("direct_message")
    assert (team.chat.id, team.chat.kind, team.chat.title, team.thread) == (TEAM.id, "group", "team", None)
    assert (thread.chat.id, thread.chat.title, thread.thread) == (TEAM.id, "team", "1502606076451885136")
    assert (direct.chat.id, direct.chat.kind) == ("1450000000000000001", "direct")
    assert (team.sender.id, team.sender.name, team.sender.display_name) == ("80351110224678912", "ann", "Annie")
    assert direct.sender.display_name == "Ann"
    assert team.sent_at.isoformat() == "2026-05-09T08:15:30.123000+00:00"


MENTIONS = {
    "mention": (Mention(ME.id, token=f"<@{ME.id}>"),),
    "mention_of_the_bots_role": (Mention(ME.id, token="<@&1402345678901234000>"),),
    "mention_of_a_team_role": (Mention("1300000000000000055", "role", "<@&1300000000000000055>"),),
    "everyone": (Mention("everyone", "everyone", "@everyone"),),
    "reply_pings_without_words": (Mention(ME.id),),
}


@pytest.mark.parametrize("name", MENTIONS)
def test_whom_it_names(name):
    """IN-30, CH-25: a person, a role, the role that is the bot itself; a reply names its author without a word."""
    assert parsed(name).mentions == MENTIONS[name]


CONTEXT = {
    "sticker": ("sent a sticker: Wave",),
    "poll": ("sent a poll: Lunch? (Pizza / Soup)",),
    "other_bot_with_embed": ("sent an embed: Build 42\nfailed\nbranch: main\nci",),
    "link_with_preview": (),
}


@pytest.mark.parametrize("name", CONTEXT)
def test_what_is_neither_text_nor_file_is_told_in_words(name):
    """CH-27."""
    assert parsed(name).untrusted_context == CONTEXT[name]


def test_a_forwarded_message_is_another_persons_words():
    """CH-27, IN-6: its text is not the sender's, its files come along."""
    heard = parsed("forward")
    assert (heard.text, heard.forwarded) == ("", Forward("The release is out."))
    assert [file.name for file in heard.attachments] == ["log.txt"]


def test_webhooks_and_bots_are_not_people():
    """CH-25."""
    assert [parsed(name).sender.is_bot for name in ("webhook", "other_bot_with_embed", "mention")] == [
        True,
        True,
        False,
    ]


def test_a_quote():
    """IN-1: whose and what, or only which, if it is gone."""
    quote, gone = parsed("reply_pings_without_words").reply_to, parsed("reply_to_a_deleted_message").reply_to
    assert (quote.message_id, quote.author_id, quote.text) == ("1502606076451880000", ME.id, "Done.")
    assert (gone.message_id, gone.author_id) == ("1502606076451880001", None)


def test_a_file_can_be_found_again():
    """IN-9: by channel, message and its own id, since Discord's links expire."""
    (file,) = parsed("attachment").attachments
    assert file.id == "1491365150664560881/1502606076451885136/1502606076451885999"
    assert (file.name, file.mime, file.size, file.content) == ("notes.txt", "text/plain", 10, None)
    assert file.kind is None


def test_a_voice_message_is_one():
    """ME-1: its words are its sender's own, unlike those in a file of sound."""
    (note,) = parsed("voice_message").attachments
    assert (note.mime, note.kind, note.seconds) == ("audio/ogg", "voice", 2.1)


def test_an_edit_is_the_same_message_at_another_time():
    """CH-8: the same edit is one event, however often Discord tells of it."""
    edit = parsed("edited")
    assert (edit.entry, edit.text, edit.message_id) == ("edit", "hello, all", "1502606076451885136")
    assert edit.event_id == parsed("edited").event_id != edit.message_id


@pytest.mark.parametrize(("name", "shown"), [("reaction", "🔥"), ("custom_reaction", ":blobwave:")])
def test_a_reaction(name, shown):
    heard = parsed(name)
    assert (heard.entry, heard.text, heard.message_id) == ("reaction", shown, "1502606076451885136")


def test_an_earlier_message_is_told_as_everybody_sees_it():
    """TU-31."""
    said = parse_said(convert(event("other_bot_with_embed")[1], Message))
    assert (said.author_name, said.is_bot) == ("Otherbot", True)
    assert "Build 42" in said.text


anything = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.lists(st.none(), max_size=2))


@given(st.sampled_from([name for name in NAMES if event(name)[0] == "MESSAGE_CREATE"]), st.data())
def test_no_payload_breaks_it(name, data):
    """Whatever a field holds, or if it is not there, the message is read or passed over."""
    payload = copy.deepcopy(event(name)[1])
    field = data.draw(st.sampled_from(sorted(payload)))
    if data.draw(st.booleans()):
        del payload[field]
    else:
        payload[field] = data.draw(anything)
    message = convert(payload, Message)
    if message is not None:
        parse_message(message, TEAM, ME)
