"""The asyncio layer: carries out what the floors (`inbound`, `turns`, `outbound`) decide, and decides nothing itself.

Its packages, in the order in which a message passes through them; each calls only those below it:

gateway      the engines of this process: claims shards, hands them over and loses them
engine       one shard: accepts messages and builds everything else; channels deliver them by inlet and intake
place        decides each message of a chat and writes down what follows from the decision
session      what waits for its turn in a session, what runs, and the turns that no message triggers
answer       turns what an agent says into what a conversation shows
outbox       sends what is to be said, in order and once
ownership    leases: how long this process may act for a shard

listening    which channels listen, and what is wrong with them
cluster_member  one of several processes on a store: keeps its leases, finds what others have written
unprompted   recovery, open_turns, external_changes, upkeep
shared       services, settings, live, tasks, write_batch, hooks, hook_events, foreign_calls, toolbox, abilities,
             serving, profiles, folders, recent, entropy; account_pace and slot_pool, which the engines of a process
             share; account_notices, settings_agreement and restart_turns, which the processes on a store share
"""
