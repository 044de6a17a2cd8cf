"""Sends what is to be said, in order and once, and keeps what is known of each conversation.

conversations   conversations, messages, overhearing, owners, offers
calls           outbox, sender, delivery_attempt, performing
pace            pacing, yielding_calls, typing_calls, draft_rotation
outcome         delivery_results, part_results, delivery_failures
keys            part_keys: for what a part is sent
"""
