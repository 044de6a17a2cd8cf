"""What every engine that speaks SQL says: one function for each verb and each read, on a `Connection`.

connection  what they are carried out on, and what it remembers
perform     which function carries out which verb
reader      the reads of the contract, and a store as the holder of a lease sees it
values      rows to values and back
The texts are written so that SQLite takes them as they are; an engine that says some words differently translates.
"""
