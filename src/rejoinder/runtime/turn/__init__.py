"""One turn of one agent, and the turns that nobody asked for.

before it     briefing, fetching, reminding
while it runs work, attempts, relay, questions, thoughts, presence
unasked       chores, compaction, background, clockwork; completions are asked for without a chat
"""
