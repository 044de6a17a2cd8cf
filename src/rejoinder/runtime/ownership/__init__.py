"""Who owns which shard (SC-3 to SC-6): claim, renew, lose, hand over.

tenure    an engine's hold on its shard
process   the name by which a process holds leases
"""
