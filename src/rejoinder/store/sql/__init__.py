"""Shared by all SQL engines: one function for each verb and each read, on a `Connection`.

connection  the connection on which they run, and what it remembers
perform     the function that carries out each verb
reader      the reads of the contract, and the store of a lease's holder
values      rows to values and back
The statements are written in SQLite's dialect; an engine with another dialect translates them.
"""
