"""The chat in the terminal as a person sees it: a real pseudo-terminal, read by an emulator."""

import signal

from tests.channels.terminal.emulator import chatting

NEVER = 3600.0


async def test_a_newcomer_says_hello_and_tries_what_is_offered():
    async with chatting() as terminal:
        terminal.keys("hello\r")
        await terminal.shows("or two at once")
        assert "m1 you  hello" in terminal.text()
        terminal.keys("reply to me\r")
        await terminal.shows("m4 tour ↩ m3 “reply to me”")
        terminal.keys("react with 🔥\r")
        await terminal.shows("🔥 on m5")
        terminal.keys("stay silent\r")
        await terminal.shows("tour chose to stay silent")
        terminal.keys("/quit\r")
        assert await terminal.ends() == 0


async def test_a_reply_is_drawn_with_the_line_it_answers():
    async with chatting(["The ", 0.1, "first."], "[[reply_to:m1]]\nSecond.", "Third.") as terminal:
        terminal.keys("one\r")
        await terminal.shows("The first.")
        terminal.keys("two\r")
        await terminal.shows("m4 bot ↩ m1 “one”")
        terminal.keys("/reply m2 thanks\r")
        await terminal.shows("m5 you ↩ m2 “The first.”  thanks")
        await terminal.shows("Third.")


async def test_a_reply_to_nothing_is_not_sent_and_leaves_the_prompt_free():
    """It stands above with the reason; what is typed next is a line of its own."""
    async with chatting("First.") as terminal:
        terminal.keys("/reply m7 hi\r")
        await terminal.shows("not sent: there is no message 'm7' to reply to\n   /reply m7 hi")
        assert "› /reply" not in terminal.text()
        terminal.keys("hello\r")
        await terminal.shows("m1 you  hello")
        await terminal.shows("First.")
        terminal.keys("/quit\r")
        assert await terminal.ends() == 0


async def test_a_reaction_on_an_older_message_names_it():
    async with chatting("First.", '<actions><react emoji="👀" message="m1"/></actions>') as terminal:
        terminal.keys("one\r")
        await terminal.shows("First.")
        terminal.keys("two\r")
        await terminal.shows("👀 on m1 “one”")


async def test_text_stands_there_while_it_is_written_and_ctrl_c_stops_it():
    """IN-70: nothing of the stopped answer comes later, and the next message is answered."""
    async with chatting(["Once upon", NEVER, " a time."], "Here.") as terminal:
        terminal.keys("tell\r")
        await terminal.shows("Once upon")
        terminal.keys("\x03")
        await terminal.shows("Agent was aborted.")
        terminal.keys("hello\r")
        await terminal.shows("Here.")
        assert "a time" not in terminal.text()


async def test_an_interrupt_from_outside_stops_the_answer_too():
    async with chatting(["Once upon", NEVER]) as terminal:
        terminal.keys("tell\r")
        await terminal.shows("Once upon")
        terminal.process.send_signal(signal.SIGINT)
        await terminal.shows("Agent was aborted.")


async def test_ctrl_c_clears_the_prompt_first():
    async with chatting("First.") as terminal:
        terminal.keys("half a thought")
        await terminal.shows("› half a thought")
        terminal.keys("\x03")
        await terminal.until(lambda: "half a thought" not in terminal.text())
        terminal.keys("\x04")
        assert await terminal.ends() == 0


async def test_leaving_in_the_middle_keeps_what_was_said():
    async with chatting(["Once upon", NEVER]) as terminal:
        terminal.keys("tell\r")
        await terminal.shows("Once upon")
        terminal.keys("\x04")
        assert await terminal.ends() == 0
        assert terminal.text().endswith("Once upon")


async def test_an_answer_that_ends_in_silence_is_taken_back():
    """OD-41: the draft is deleted; here it stood live above the prompt."""
    async with chatting(["I think that", 0.2, "\nNO_REPLY"]) as terminal:
        terminal.keys("hm\r")
        await terminal.shows("I think that")
        await terminal.shows("bot chose to stay silent")
        assert "I think that" not in terminal.text()


async def test_what_has_scrolled_away_is_said_to_be_taken_back():
    long = "".join(f"line {n}\n" for n in range(100))
    async with chatting([long, 0.3, "\nNO_REPLY"], rows=12) as terminal:
        terminal.keys("hm\r")
        await terminal.shows("bot deleted m2")


async def test_an_answer_longer_than_the_screen_is_all_there_in_order():
    long = [f"line {n:03} of many\n" for n in range(200)]
    async with chatting(long, rows=10) as terminal:
        terminal.keys("go\r")
        await terminal.shows("line 199")

        def seen() -> list[str]:
            return [line.strip() for line in terminal.text().splitlines() if "of many" in line]

        # The live rows can be drawn an instant before the rows above them are moved into the scrollback.
        await terminal.until(lambda: seen() == [line.strip() for line in long])


async def test_a_message_typed_meanwhile_waits_below_and_is_answered_next():
    """TU-1: first in, first out."""
    async with chatting(["One", 0.3, " done."], "Two done.") as terminal:
        terminal.keys("a\r")
        await terminal.shows("One")
        terminal.keys("b\r")
        await terminal.shows("Two done.")
        text = terminal.text()
        assert text.index("One done.") < text.index("m3 you  b") < text.index("m4 bot")


ATTACKS = (
    "\x1b]0;owned\x07",  # a window title
    "\x1b[2J\x1b[H",  # the screen wiped
    "\x1b]52;c;b3duZWQ=\x07",  # the clipboard written
    "\x9b2J\x9d0;owned\x9c",  # the same with one-byte introducers
    "\x1bP$q\x1b\\\x05",  # questions the terminal would answer for the keyboard
    "gone\rkept\x08\x7f\x00\x0e",
    "\u202eevil\u202c",
)


async def test_agent_text_cannot_steer_the_terminal():
    async with chatting([*(f"before {attack} after\n{attack}" for attack in ATTACKS), "end"], rows=40) as terminal:
        terminal.keys("hi\r")
        await terminal.shows("end")
        written = terminal.raw.decode()
        for harmful in (
            "\x1b]",
            "\x1b[2J",
            "\x1bP",
            "\x9b",
            "\x9d",
            "\x05",
            "\x07",
            "\x00",
            "\x0e",
            "\u202e",
        ):
            assert harmful not in written
        text = terminal.text()
        assert text.count("before") == text.count("after") == len(ATTACKS)
        assert "m1 you  hi" in text


async def test_wide_characters_and_joined_emoji_keep_their_lines():
    text = "日本語テキスト" * 12 + " 👨‍👩‍👧‍👦 ❤️ é ок"
    async with chatting(text, columns=40) as terminal:
        terminal.keys("日本 👍 ok\r")
        await terminal.shows("ок")
        assert terminal.text().replace("\n", "").replace(" ", "").count("日本語テキスト") == 12
        assert "m1 you  日本 👍 ok" in terminal.text()


async def test_a_paste_of_many_lines_is_one_message():
    async with chatting("Thanks.") as terminal:
        terminal.keys("\x1b[200~line one\r\rline two\r\tthree\x1b[201~")
        await terminal.shows("line two")
        terminal.keys("\r")
        await terminal.shows("Thanks.")
        assert "m1 you\n   line one\n\n   line two\n       three\nm2 bot" in terminal.text()


async def test_keys_that_are_no_text():
    async with chatting("Thanks.") as terminal:
        terminal.keys(b"\xff\xfe\x00 odd \xed\xa0\x80 \x1b[99~\x1b[1;5C end\r")
        await terminal.shows("Thanks.")
        assert "odd" in terminal.text()


async def test_a_huge_paste_is_folded_and_sent_whole():
    async with chatting() as terminal:
        terminal.keys("\x1b[200~react to this " + "x" * 3000 + "\x1b[201~")
        await terminal.shows("› [pasted 3,014 characters, no. 1]")
        terminal.keys("\r")
        await terminal.shows("👀 on m1")


async def test_a_narrow_terminal_that_changes_its_size():
    async with chatting("word " * 60, "Fine.", columns=40, rows=12) as terminal:
        terminal.keys("go\r")
        await terminal.shows("word word")
        terminal.resize(20, 8)
        terminal.process.send_signal(signal.SIGWINCH)
        terminal.keys("again\r")
        await terminal.shows("Fine.")


async def test_the_terminal_is_restored_when_it_is_told_to_end():
    async with chatting() as terminal:
        terminal.process.terminate()
        assert await terminal.ends() == 143
        assert b"\x1b[?2004l" in terminal.raw
        assert "Traceback" not in terminal.text()


async def test_what_the_gateway_answers_itself():
    """IN-54, IN-61, IN-64: levels, status and the reasons of the last decision, at the terminal."""
    async with chatting() as terminal:
        terminal.keys("/think high\r")
        await terminal.shows("Thinking: high.")
        await terminal.shows("m2 rejoinder")  # it is the gateway who answers a command
        terminal.keys("how hard do you think?\r")
        await terminal.shows("a model would think that hard.")
        terminal.keys("/why\r")
        await terminal.shows("finalise: continue")
        terminal.keys("/status\r")
        await terminal.shows("Session: tour:terminal:default:direct:you")


async def test_a_newer_message_interrupts_when_so_chosen():
    """TU-3: interrupt, with what was said so far left standing."""
    async with chatting(["Once upon", NEVER, " a time."], "Here.") as terminal:
        terminal.keys("/queue interrupt\r")
        await terminal.shows("Queue: interrupt.")
        terminal.keys("tell\r")
        await terminal.shows("Once upon")
        terminal.keys("no, wait\r")
        await terminal.shows("Here.")
        assert "a time" not in terminal.text()
