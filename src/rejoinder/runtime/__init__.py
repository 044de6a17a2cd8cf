"""The asyncio: does what the floors decided, decides nothing itself.

Its files in the order in which a message meets them; the first of each line leads:

accepting    engine, inlet, debounce, precedence, and what a decision has to know: facts, access, tally
deciding     consequences, queueing, waiting, inheriting; commands: effects, errands, shell, restarting
in line      lanes, lane, asked, slots, books, sessions
a turn       work, briefing, fetching, reminding, attempts, relay, questions, thoughts, presence; chores, compaction
its answer   delivery, drafting, acting, outcomes, files, handoff, heartbeats
sending      conversations, outbox, sender, carrying, performing, verdict, fates; pacing, aside, writing;
             messages, recent, offers, notices, owners
unasked      recovery, put_aside, background, clockwork, upkeep, beside, completions
for all      runs, unit, settings, abilities, profiles, hooks, entropy, tables
"""
