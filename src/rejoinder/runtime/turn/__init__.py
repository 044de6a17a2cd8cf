"""One turn of one agent, and the turns that no message triggers.

before it     briefing, fetching, thread_past, reminding
while it runs work, attempts, relay, fairness, questions, thoughts, presence
unprompted    chores, compaction, background, clockwork
without chat  completions
"""
