"""Floor 2, pure: when a turn runs, and with what.

the line     lane: the machine of one session, phases: its grids; signals, modes, backlog; run_state, run_timeout
             choose: between sessions
the turn     prompt, question, context, fallback, compaction, status; suspicion: after a crash
sub-agents   subagents: who may start one, and how many
the clock    job, schedule, expression, hours, heartbeat
processes    balance: which shards each claims; agreement: which settings have to be the same
             restarts: which of several processes restarts, and when
for docs     tables
"""
