"""Floor 2, pure: when a turn runs, and with what.

the line     lane: the machine of one session; signals, modes, backlog; choose: between sessions; run_state, run_timeout
the turn     prompt, question, context, fallback, compaction, status; suspicion: after a crash
sub-agents   subagents: who may start one, and how many
the clock    job, schedule, expression, hours, heartbeat
for docs     tables
"""
