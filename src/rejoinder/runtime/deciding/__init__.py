"""What came is decided, and what follows from it is written down.

the way in        inlet, debounce, precedence
to be known       facts, access, tally
what follows      consequences, queueing, waiting, inheriting
commands          effects, errands, shell, restarting
"""
