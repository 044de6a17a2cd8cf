"""The lane of each session: what waits for its turn, the turn that runs, and the turns that no message triggers.

waiting       lanes, lane, turn_inputs, slots
in the store  journal, sessions
before a turn briefing, fetching, thread_past, reminding
while it runs work, attempts, relay, fairness, questions, thoughts, presence
unprompted    chores, compaction, background, clockwork
without chat  completions
"""
