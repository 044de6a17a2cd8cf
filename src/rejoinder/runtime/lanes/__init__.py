"""What waits for its turn, and what runs: one lane for each session.

lanes, lane; turn_inputs goes into a turn, slots are how many may run at once, books keep it, sessions are whose it is
"""
