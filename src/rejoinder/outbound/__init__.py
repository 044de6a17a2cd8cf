"""Floor 3, pure: agent output becomes deliveries."""
