"""How long a test waits for what ought to come."""

PATIENCE = 60.0
"""Seconds: whoever waits longer is stuck, not slow. No test depends on how fast a machine is, so it is one for all."""
