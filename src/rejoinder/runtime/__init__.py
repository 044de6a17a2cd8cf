"""The asyncio: does what the floors decided, decides nothing itself.

Its rooms in the order in which a message meets them:

engine       accepts what comes and hands it on; it builds the rest
deciding     what came is decided, and what follows from it is written down
lanes        what waits for its turn, and what runs
turn         one turn of one agent, and the turns that nobody asked for
answer       what an agent says becomes what a conversation shows
sending      what is to be said goes out, in order and once

unasked      recovery, put_aside, upkeep, foreign_changes
for all      runs, unit, settings, abilities, profiles, hooks, entropy, tables
"""
