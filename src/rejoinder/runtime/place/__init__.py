"""Decides each message and writes down what follows from the decision.

the way in        decider, debounce, precedence
inputs            understanding, facts, access, rights, turn_counts
consequences      consequences, inheriting, revising, room_log
commands          effects, spoken_ahead, gateway_commands, program_commands, subagent_commands, shell, restarting
"""
