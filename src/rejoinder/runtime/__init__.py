"""The asyncio layer: carries out what the floors (`inbound`, `turns`, `outbound`) decide, and decides nothing itself.

Its packages, in the order in which a message passes through them:

engine       accepts messages and hands them on; builds everything else
deciding     decides each message and writes down what follows from the decision
lanes        what waits for its turn, and what runs
turn         one turn of one agent, and the turns that no message triggers
answer       turns what an agent says into what a conversation shows
sending      sends what is to be said, in order and once

unprompted   recovery, quarantine, backlogs, readmission, upkeep, foreign_changes
shared       runs, write_batch, settings, abilities, serving, profiles, prefixes, hooks, entropy, tables
"""
