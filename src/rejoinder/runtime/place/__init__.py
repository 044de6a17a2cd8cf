"""Decides each message and writes what follows from the decision.

built in          room
the way in        decider, debounce, acceptance_order
inputs            understanding, facts, access, rights, turn_counts
consequences      decision, decision_recorder, consequences, turn_routing, transcript_inheritance,
                  message_edits, room_log
commands          effects, command_speech, gateway_commands, program_commands, subagent_commands, shell, restarting
"""
