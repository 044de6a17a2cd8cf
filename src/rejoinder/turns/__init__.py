"""Floor 2, pure: when a turn runs, and with what."""
