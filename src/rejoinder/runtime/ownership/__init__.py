"""Who owns which shard (SC-3 to SC-6): claim, renew, lose, hand over."""
