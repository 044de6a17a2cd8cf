"""What waits for its turn, and what runs: one lane for each session.

lanes, lane   the lanes of all sessions, and one of them
turn_inputs   what goes into a turn
slots         how many turns may run at once
journal       records in the store what the lanes do
sessions      what each session remembers
"""
