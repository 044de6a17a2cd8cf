"""Floor 1, pure: an event becomes a turn, an answer, or nothing."""
