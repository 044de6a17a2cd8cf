"""Decides each message and writes down what follows from the decision.

the way in        inlet, debounce, precedence
inputs            facts, access, rights, tally
consequences      consequences, queueing, waiting, inheriting
commands          effects, gateway_commands, shell, restarting
"""
