"""Floor 2, pure: when a turn runs, and with what.

the line     lane: the machine of one session; signals, modes, backlog; choose: between sessions; lease
the turn     prompt, context, fallback, compaction, status; suspicion: after a crash
the clock    job, schedule, expression, hours, heartbeat
for docs     tables
"""
