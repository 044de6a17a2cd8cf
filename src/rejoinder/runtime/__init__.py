"""The asyncio layer: carries out what the floors (`inbound`, `turns`, `outbound`) decide, and decides nothing itself.

Its packages, in the order in which a message passes through them:

engine       accepts messages and hands them on; builds everything else
place        decides each message of a chat and writes down what follows from the decision
session      what waits for its turn in a session, what runs, and the turns that no message triggers
answer       turns what an agent says into what a conversation shows
outbox       sends what is to be said, in order and once
ownership    which shards this process holds

the way in   inlet
unprompted   recovery, upkeep, foreign_changes
shared       services, runs, write_batch, settings, live, abilities, serving, profiles, hooks,
             entropy, tables, recent, folders
"""
