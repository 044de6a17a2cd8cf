"""How long a test waits for what ought to come."""

PATIENCE = 60.0
"""Seconds: a test that waits longer is stuck, not slow. No test depends on the speed of a machine, so all share one."""
