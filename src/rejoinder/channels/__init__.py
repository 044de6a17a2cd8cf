"""Edge: where messages come from and go to. A channel is one file; its name is its registration."""
