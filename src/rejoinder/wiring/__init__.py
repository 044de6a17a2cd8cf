"""Wires a configuration for `rejoinder.app`: opens what it names, and makes the settings that the runtime uses.

This room, `app` and `programs` know every other room; only the command line knows them.
"""
