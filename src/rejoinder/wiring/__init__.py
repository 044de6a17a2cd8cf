"""A configuration is wired: what it names is opened, and what the runtime obeys is made of it. `rejoinder.app` uses it.

This room, `app` and `programs` know every other room; of the others only the command line knows them.
"""
