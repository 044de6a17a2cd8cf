"""Who owns which shard (SC-3 to SC-6): claim, renew, lose, hand over.

held_lease  an engine's hold on its shard
process     the name by which a process holds leases
lease_renewer  keeps the leases while the event loop moves
duties      leases by name: what one process does for all
database_clock  the time of the store, by which leases are granted
"""
